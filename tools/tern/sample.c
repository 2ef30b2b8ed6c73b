// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "conn.h"
#include "talk.h"
#include "tern.h"

static const int flow_attrs[FLOWS] = {
	[TX_BYTES] = TERN_A_FLOW_TX_BYTES,
	[RX_BYTES] = TERN_A_FLOW_RX_BYTES,
	[TX_MESSAGES] = TERN_A_FLOW_TX_MESSAGES,
	[RX_MESSAGES] = TERN_A_FLOW_RX_MESSAGES,
	[RETRANSMITS] = TERN_A_FLOW_RETRANSMITS,
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* ---- asking ----------------------------------------------------------------------- */

/**
 * struct taking - what the callbacks need
 * @s: result
 * @device: only this one, NULL for all
 */
struct taking {
	struct sample *s;
	const char *device;
};

/* @arg: struct taking */
static void add_device(struct nlmsghdr *hdr, void *arg)
{
	struct taking *taking = arg;
	struct sample *s = taking->s;
	struct dev_sample *more;
	struct device dev;

	if (!dev_read(hdr, &dev) || (taking->device && strcmp(dev.name, taking->device)))
		return;
	more = realloc(s->dev, (s->devs + 1) * sizeof(*more));
	if (!more)
		return;
	s->dev = more;
	more += s->devs++;
	*more = (struct dev_sample) { .index = dev.index };
	strcpy(more->name, dev.name);
	strcpy(more->netdev, dev.netdev);
}

static void read_conn(const struct conn *c, struct conn_sample *sample)
{
	struct nlattr *const *tb = c->tb[CONN];
	int i;

	*sample = (struct conn_sample) {
		.index = conn_number(c, CONN, TERN_A_CONN_INDEX),
		.nr = conn_number(c, CONN, TERN_A_CONN_NR),
		.qpn = conn_number(c, CONN, TERN_A_CONN_QPN),
		.ended = tb[TERN_A_CONN_ENDED],
		.shown = !tb[TERN_A_CONN_ENDED],
		.local_port = conn_number(c, CONN, TERN_A_CONN_LOCAL_PORT),
		.remote_port = conn_number(c, CONN, TERN_A_CONN_REMOTE_PORT),
		.age_ms = conn_count(c, CONN, TERN_A_CONN_BEGAN_MS),
		.rtt_us = conn_number(c, FLOW, TERN_A_FLOW_RTT_US),
	};
	nla_strlcpy(sample->device, tb[TERN_A_CONN_DEVICE], sizeof(sample->device));
	nla_strlcpy(sample->state, tb[TERN_A_CONN_STATE], sizeof(sample->state));
	conn_address(tb[TERN_A_CONN_LOCAL], sample->local);
	conn_address(tb[TERN_A_CONN_REMOTE], sample->remote);
	for (i = 0; i < FLOWS; i++)
		sample->total[i] = conn_count(c, FLOW, flow_attrs[i]);
	/* an ended connection has no QP any more: its number may be another's */
	if (!sample->ended && sample->qpn)
		sample->program = program_of(sample->index, sample->qpn);
}

static struct dev_sample *device_of(struct sample *s, uint32_t index)
{
	size_t i;

	for (i = 0; i < s->devs; i++)
		if (s->dev[i].index == index)
			return &s->dev[i];
	return NULL;
}

/* @arg: struct taking */
static void add_conn(struct nlmsghdr *hdr, void *arg)
{
	struct taking *taking = arg;
	struct sample *s = taking->s;
	struct conn_sample *more;
	struct dev_sample *dev;
	struct conn c;

	if (!conn_read(hdr, &c))
		return;
	more = realloc(s->conn, (s->conns + 1) * sizeof(*more));
	if (!more)
		return;
	s->conn = more;
	more += s->conns++;
	read_conn(&c, more);
	dev = device_of(s, more->index);
	if (dev)
		dev->conns += !more->ended;
}

static int ask(struct talk *t, int cmd, const char *device,
	       void (*each)(struct nlmsghdr *hdr, void *arg), struct taking *taking)
{
	struct nl_msg *msg = talk_new(t, cmd, NLM_F_DUMP);

	if (!msg)
		return -ENOMEM;
	if (device && nla_put_string(msg, TERN_A_CONN_DEVICE, device) < 0) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	return talk_ask(t, msg, each, taking);
}

static int by_number(const void *a, const void *b)
{
	const struct conn_sample *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

int sample_take(struct talk *t, const char *device, struct sample *s)
{
	struct taking taking = { s, device };
	int ret;

	memset(s, 0, sizeof(*s));
	program_forget();
	s->began = now();
	ret = ask(t, TERN_CMD_DEV_GET, NULL, add_device, &taking) ?:
	      ask(t, TERN_CMD_CONN_GET, device, add_conn, &taking);
	s->done = now();
	if (ret) {
		sample_free(s);
		return ret == -ENODEV ? 0 : ret;
	}
	if (s->conns)
		qsort(s->conn, s->conns, sizeof(*s->conn), by_number);
	return 0;
}

/* ---- comparing -------------------------------------------------------------------- */

static const struct conn_sample *earlier(const struct sample *old, const struct conn_sample *c)
{
	return old->conns ? bsearch(c, old->conn, old->conns, sizeof(*c), by_number) : NULL;
}

/* Return: it began after @old was begun, so that all it moved was since then */
static bool is_new(const struct sample *s, const struct sample *old, const struct conn_sample *c)
{
	return c->age_ms <= (s->done - old->began) * 1000 + 1;
}

static void set_rates(const struct sample *s, const struct sample *old, struct conn_sample *c)
{
	const struct conn_sample *was = earlier(old, c);
	uint64_t base;
	int i;

	c->shown = !c->ended || (was ? !was->ended : is_new(s, old, c));
	if (was && c->ended)
		c->program = was->program;
	for (i = 0; i < FLOWS; i++) {
		/* one that was somewhere else before, as in another netns, begins to count */
		base = was ? was->total[i] : is_new(s, old, c) ? 0 : c->total[i];
		c->rate[i] = c->total[i] > base ? (c->total[i] - base) / s->seconds : 0;
	}
}

void sample_compare(struct sample *s, const struct sample *old)
{
	struct dev_sample *dev;
	struct conn_sample *c;
	int i;

	s->seconds = s->began - old->began;
	for (c = s->conn; c < s->conn + s->conns; c++) {
		set_rates(s, old, c);
		dev = device_of(s, c->index);
		if (!dev)
			continue;
		for (i = 0; i < FLOWS; i++)
			dev->rate[i] += c->rate[i];
	}
}

void sample_free(struct sample *s)
{
	free(s->dev);
	free(s->conn);
	s->dev = NULL;
	s->conn = NULL;
	s->devs = 0;
	s->conns = 0;
}
