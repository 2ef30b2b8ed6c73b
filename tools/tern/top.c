// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* tern top: what devices and connections move, again and again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "report.h"
#include "sample.h"
#include "screen.h"
#include "talk.h"
#include "tern.h"

/* seconds */
#define MIN_DELAY	0.1
#define MAX_DELAY	86400

/**
 * struct top - what is wanted, and the last sample
 * @opt: options
 * @device: only this one, NULL for all
 * @delay: seconds between samples
 * @reports: how many are still to be printed, 0 for no end
 * @order: of connections
 * @last: last sample
 * @page: the text of the report, made again for each
 */
struct top {
	const struct options *opt;
	const char *device;
	double delay;
	unsigned long reports;
	enum order order;
	struct sample last;
	char *page;
};

/* ---- sampling --------------------------------------------------------------------- */

/* Return: 0, or a negative errno after which there is no more to ask */
static int sample(struct talk *t, struct top *top)
{
	struct sample old = top->last;
	int ret = sample_take(t, top->device, &top->last);

	if (!ret && old.done)
		sample_compare(&top->last, &old);
	sample_free(&old);
	return ret;
}

/* Return: the exit status */
static int failed(const struct talk *t, int error)
{
	/* the latter: it is being unloaded, so that no dump can start */
	if (error == -ENOENT || error == -EPROTONOSUPPORT)
		complain("the module was unloaded");
	else
		talk_complain(t, NULL, error);
	return FAILED;
}

static void sleep_until(double until)
{
	struct timespec ts = { .tv_sec = until, .tv_nsec = (until - (time_t)until) * 1e9 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* report after report, until the last one or until they cannot be written */
static int batch(struct talk *t, struct top *top)
{
	bool counted = top->reports;
	int ret;

	do {
		sleep_until(top->last.began + top->delay);
		ret = sample(t, top);
		if (ret)
			return failed(t, ret);
		if (top->opt->json)
			report_json(top->opt, &top->last, top->order);
		else
			report_text(stdout, &top->last, top->device, top->order);
		if (!counted || top->reports > 1) {
			if (!top->opt->json)
				putchar('\n');
			if (fflush(stdout))
				return FAILED;
		}
	} while (!counted || --top->reports);
	return DONE;
}

/* ---- on a screen ------------------------------------------------------------------ */

static void draw(struct top *top)
{
	size_t size;
	FILE *out = open_memstream(&top->page, &size);

	if (!out)
		return;
	report_text(out, &top->last, top->device, top->order);
	fputs("\nKeys: q quits; b, m, r, t, n: by bytes, messages, retransmits, RTT, number\n",
	      out);
	fclose(out);
	screen_draw(top->page);
	free(top->page);
}

/* Return: false to quit */
static bool on_key(struct top *top, char key)
{
	order_by_key(key, &top->order);
	return key != 'q' && key != 'Q';
}

/* Return: false to quit */
static bool until_next(struct top *top, struct screen *screen)
{
	enum screen_event event;
	char key;

	do {
		draw(top);
		event = screen_wait(screen, top->last.began + top->delay, &key);
		if (event == SCREEN_END || (event == SCREEN_KEY && !on_key(top, key)))
			return false;
	} while (event != SCREEN_TIME);
	return true;
}

static int live(struct talk *t, struct top *top)
{
	bool counted = top->reports;
	struct screen screen;
	int ret = 0;

	if (!screen_open(&screen))
		return FAILED;
	while (until_next(top, &screen)) {
		if (counted && !top->reports--)
			break;
		ret = sample(t, top);
		if (ret)
			break;
	}
	screen_close(&screen);
	return ret ? failed(t, ret) : DONE;
}

/* ---- the command ------------------------------------------------------------------ */

/* Return: DONE, or USAGE after a message */
static int read_options(const struct options *opt, struct top *top)
{
	char *end;

	top->delay = 1;
	if (opt->delay) {
		top->delay = strtod(opt->delay, &end);
		if (end == opt->delay || *end || !(top->delay >= MIN_DELAY) ||
		    top->delay > MAX_DELAY)
			return wrong_usage("'%s' is no number of seconds from %g to %d", opt->delay,
					   MIN_DELAY, MAX_DELAY);
	}
	if (opt->count) {
		errno = 0;
		top->reports = strtoul(opt->count, &end, 10);
		if (errno || opt->count[0] < '0' || opt->count[0] > '9' || *end || !top->reports)
			return wrong_usage("'%s' is no number of reports", opt->count);
	}
	if (opt->sort && !order_by_name(opt->sort, &top->order))
		return wrong_usage("'%s' is no order of connections", opt->sort);
	return DONE;
}

void top_help(FILE *to)
{
	int i;

	fputs("\nOrders:\n   ", to);
	for (i = 0; i < ORDERS; i++)
		fprintf(to, " %s", order_name(i));
	putc('\n', to);
}

/* a device that goes later may come back; one that is not there is a mistake */
static int run(struct talk *t, struct top *top)
{
	int ret = sample(t, top);

	if (ret)
		return failed(t, ret);
	if (top->device && !top->last.devs) {
		talk_complain(t, top->device, -ENODEV);
		return FAILED;
	}
	return top->opt->batch || top->opt->json || !screen_is_there() ? batch(t, top) :
									  live(t, top);
}

int top(const struct options *opt, int argc, char **argv)
{
	struct top top = { .opt = opt, .device = take_device(&argc, &argv) };
	struct talk t;
	int ret = read_options(opt, &top);

	if (ret)
		return ret;
	if (argc)
		return wrong_usage("'%s' is one word too many", argv[0]);
	if (talk_open_tern(&t))
		return FAILED;
	ret = run(&t, &top);
	sample_free(&top.last);
	talk_close(&t);
	return ret;
}
