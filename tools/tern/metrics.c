// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * tern metrics: counters and connections in the text format of Prometheus, as the textfile
 * collector of node_exporter reads it, or in OpenMetrics.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <netlink/netlink.h>

#include "conn.h"
#include "dev.h"
#include "rdma.h"
#include "talk.h"
#include "tern.h"

/* more than the kernel has, see enum tern_stat and enum tern_cm_state */
#define COUNTERS	256
#define STATES		16

/**
 * struct gathered - of one device
 * @index: the RDMA core's number
 * @name: its name
 * @netdev: name of its netdev
 * @counters: how many are at @counter
 * @counter: in the kernel's order, the same for each device
 * @states: how many are at @state
 * @state: connections that are in a state
 */
struct gathered {
	uint32_t index;
	char name[DEV_NAME_MAX];
	char netdev[IFNAMSIZ];
	size_t counters;
	struct rdma_counter counter[COUNTERS];
	size_t states;
	struct {
		char name[16];
		unsigned int count;
	} state[STATES];
};

/**
 * struct page - what is printed
 * @out: where
 * @openmetrics: in this format, else in Prometheus's own
 * @loaded: the kernel module is
 * @dev: array of devices
 * @count: its elements
 */
struct page {
	FILE *out;
	bool openmetrics;
	bool loaded;
	struct gathered *dev;
	size_t count;
};

/* ---- gathering -------------------------------------------------------------------- */

/* @arg: struct page */
static void add_device(struct nlmsghdr *hdr, void *arg)
{
	struct page *page = arg;
	struct gathered *more;
	struct device dev;

	if (!dev_read(hdr, &dev))
		return;
	more = realloc(page->dev, (page->count + 1) * sizeof(*more));
	if (!more)
		return;
	page->dev = more;
	more += page->count++;
	memset(more, 0, sizeof(*more));
	more->index = dev.index;
	strcpy(more->name, dev.name);
	strcpy(more->netdev, dev.netdev);
	/* shown even if there is none */
	strcpy(more->state[more->states++].name, "OPEN");
}

/* @arg: struct gathered */
static void add_counter(const struct rdma_counter *counter, void *arg)
{
	struct gathered *dev = arg;

	if (dev->counters < COUNTERS)
		dev->counter[dev->counters++] = *counter;
}

static void count_state(struct gathered *dev, const char *name)
{
	size_t i;

	for (i = 0; i < dev->states; i++)
		if (!strcmp(dev->state[i].name, name))
			break;
	if (i == STATES)
		return;
	if (i == dev->states)
		snprintf(dev->state[dev->states++].name, sizeof(dev->state[0].name), "%s", name);
	dev->state[i].count++;
}

/* @arg: struct page */
static void add_connection(struct nlmsghdr *hdr, void *arg)
{
	struct page *page = arg;
	struct conn c;
	size_t i;

	if (!conn_read(hdr, &c) || c.tb[CONN][TERN_A_CONN_ENDED])
		return;
	for (i = 0; i < page->count; i++)
		if (page->dev[i].index == conn_number(&c, CONN, TERN_A_CONN_INDEX))
			count_state(&page->dev[i], nla_get_string(c.tb[CONN][TERN_A_CONN_STATE]));
}

static int dump(struct talk *t, int cmd, void (*each)(struct nlmsghdr *hdr, void *arg),
		struct page *page)
{
	struct nl_msg *msg = talk_new(t, cmd, NLM_F_DUMP);
	int ret = msg ? talk_ask(t, msg, each, page) : -ENOMEM;

	if (ret)
		talk_complain(t, NULL, ret);
	return ret;
}

/* without the module, there is no device; Return: true, or false after a message */
static bool gather(struct page *page)
{
	struct talk t;
	size_t i;
	int ret = talk_open(&t);

	if (ret)
		return ret == -ENOENT;
	page->loaded = true;
	ret = dump(&t, TERN_CMD_DEV_GET, add_device, page) ?:
	      dump(&t, TERN_CMD_CONN_GET, add_connection, page);
	talk_close(&t);
	/* a device that goes away before this has no counters */
	for (i = 0; !ret && i < page->count; i++)
		rdma_port_counters(page->dev[i].index, add_counter, &page->dev[i]);
	return !ret;
}

/* ---- printing --------------------------------------------------------------------- */

/* what a counter counts: the rows of observe/stats.h */
static const struct {
	const char *name;
	const char *event;
} events[] = {
#include "counters.inc"
};

static void print_event(FILE *out, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].name, name)) {
			fprintf(out, "Counts each %s.", events[i].event);
			return;
		}
	fprintf(out, "Counter %s of the driver.", name);
}

/* the value of a label: both formats escape these three */
static void print_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else
			fprintf(out, "%s%c", strchr("\\\"", *value) ? "\\" : "", *value);
	}
	putc('"', out);
}

static void print_family(const struct page *page, const char *name, const char *type,
			 const char *help)
{
	fprintf(page->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* OpenMetrics has the suffix in the sample alone, Prometheus in the family too */
static void print_counter(const struct page *page, const char *name)
{
	const char *suffix = page->openmetrics ? "" : "_total";
	size_t i, k;

	fprintf(page->out, "# HELP tern_%s%s ", name, suffix);
	print_event(page->out, name);
	fprintf(page->out, "\n# TYPE tern_%s%s counter\n", name, suffix);
	for (i = 0; i < page->count; i++)
		for (k = 0; k < page->dev[i].counters; k++) {
			const struct rdma_counter *c = &page->dev[i].counter[k];

			if (strcmp(c->name, name))
				continue;
			fprintf(page->out, "tern_%s_total{", name);
			print_label(page->out, "device", page->dev[i].name);
			fprintf(page->out, "} %llu\n", (unsigned long long)c->value);
		}
}

static void print_devices(const struct page *page)
{
	size_t i;

	print_family(page, "tern_device_info", "gauge", "A device and the netdev below it.");
	for (i = 0; i < page->count; i++) {
		fputs("tern_device_info{", page->out);
		print_label(page->out, "device", page->dev[i].name);
		putc(',', page->out);
		print_label(page->out, "netdev", page->dev[i].netdev);
		fputs("} 1\n", page->out);
	}
}

static void print_connections(const struct page *page)
{
	const struct gathered *dev;
	size_t i, k;

	print_family(page, "tern_connections", "gauge", "Connections by the endpoint's state.");
	for (i = 0; i < page->count; i++)
		for (dev = &page->dev[i], k = 0; k < dev->states; k++) {
			fputs("tern_connections{", page->out);
			print_label(page->out, "device", dev->name);
			putc(',', page->out);
			print_label(page->out, "state", dev->state[k].name);
			fprintf(page->out, "} %u\n", dev->state[k].count);
		}
}

static void print_page(const struct page *page)
{
	const struct gathered *first = NULL;
	size_t i;

	print_family(page, "tern_loaded", "gauge", "Whether the kernel module is loaded.");
	fprintf(page->out, "tern_loaded %d\n", page->loaded);
	print_devices(page);
	print_connections(page);
	for (i = 0; i < page->count && !first; i++)
		if (page->dev[i].counters)
			first = &page->dev[i];
	for (i = 0; first && i < first->counters; i++)
		print_counter(page, first->counter[i].name);
	if (page->openmetrics)
		fputs("# EOF\n", page->out);
}

/*
 * A device or a pipe has to stay what it is. A link is replaced, not followed: the folder may
 * belong to others, who would have the page on a disk. /dev/stdout is a link, too.
 */
static bool is_special(const char *file, bool follow)
{
	struct stat st;

	if (follow ? stat(file, &st) : lstat(file, &st))
		return false;
	return S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISFIFO(st.st_mode) ||
	       S_ISSOCK(st.st_mode);
}

static bool print_special(struct page *page, const char *file, bool follow)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));

	page->out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!page->out)
		return false;
	print_page(page);
	return !fclose(page->out);
}

/* a reader of the file sees the old page or the new one */
static bool print_file(struct page *page, const char *file)
{
	bool follow = !strncmp(file, "/dev/std", 8) || !strncmp(file, "/dev/fd/", 8);
	char temp[PATH_MAX];
	int fd;

	if (is_special(file, follow))
		return print_special(page, file, follow);
	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", file) >= (int)sizeof(temp)) {
		errno = ENAMETOOLONG;
		return false;
	}
	fd = mkstemp(temp);
	page->out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!page->out)
		return false;
	print_page(page);
	if (!fflush(page->out) && !ferror(page->out) && !fchmod(fd, 0644) && !rename(temp, file))
		return !fclose(page->out);
	fclose(page->out);
	unlink(temp);
	return false;
}

int metrics(const struct options *opt, int argc, char **argv)
{
	struct page page = { .out = stdout, .openmetrics = opt->openmetrics };
	int ret = DONE;

	if (argc > 1)
		return wrong_usage("'%s' is one word too many", argv[1]);
	if (!gather(&page)) {
		ret = FAILED;
	} else if (!argc) {
		print_page(&page);
	} else if (!print_file(&page, argv[0])) {
		complain("%s: %s", argv[0], strerror(errno));
		ret = FAILED;
	}
	free(page.dev);
	return ret;
}
