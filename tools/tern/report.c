// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#define _GNU_SOURCE
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "dev.h"
#include "out.h"
#include "sample.h"
#include "tern.h"

/* the key chooses one on the screen */
static const struct {
	const char *name;
	char key;
} orders[ORDERS] = {
	[BY_BYTES] = { "bytes", 'b' },
	[BY_MESSAGES] = { "messages", 'm' },
	[BY_RETRANSMITS] = { "retransmits", 'r' },
	[BY_RTT] = { "rtt", 't' },
	[BY_NR] = { "nr", 'n' },
};

/* ---- order ------------------------------------------------------------------------ */

const char *order_name(enum order order)
{
	return orders[order].name;
}

bool order_by_name(const char *name, enum order *order)
{
	int i;

	for (i = 0; i < ORDERS; i++)
		if (!strcmp(orders[i].name, name)) {
			*order = i;
			return true;
		}
	return false;
}

void order_by_key(char key, enum order *order)
{
	int i;

	for (i = 0; i < ORDERS; i++)
		if (orders[i].key == key)
			*order = i;
}

static double weight(const struct conn_sample *c, enum order order)
{
	switch (order) {
	case BY_MESSAGES:
		return c->rate[TX_MESSAGES] + c->rate[RX_MESSAGES];
	case BY_RETRANSMITS:
		return c->rate[RETRANSMITS];
	case BY_RTT:
		return c->rtt_us;
	case BY_NR:
		return 0;
	default:
		return c->rate[TX_BYTES] + c->rate[RX_BYTES];
	}
}

/* the heaviest first; of equal ones, as the sample has them: by device and number */
static int compare(const void *a, const void *b, void *order)
{
	const struct conn_sample *x = *(struct conn_sample *const *)a;
	const struct conn_sample *y = *(struct conn_sample *const *)b;
	double wx = weight(x, *(enum order *)order), wy = weight(y, *(enum order *)order);

	if (wx != wy)
		return wx > wy ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* the connections to show, NULL-terminated, to be freed; NULL without memory */
static const struct conn_sample **in_order(const struct sample *s, enum order order)
{
	const struct conn_sample **list = calloc(s->conns + 1, sizeof(*list));
	size_t i, n = 0;

	if (!list)
		return NULL;
	for (i = 0; i < s->conns; i++)
		if (s->conn[i].shown)
			list[n++] = &s->conn[i];
	qsort_r(list, n, sizeof(*list), compare, &order);
	return list;
}

/* ---- text ------------------------------------------------------------------------- */

/* three digits at least, and a unit of 10^3, 10^6, ...: 999, 1.23k, 12.3k, 123k */
static const char *amount(double value, char buf[16])
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;

	while (value >= 999.5 && unit + 2 < sizeof(units)) {
		value /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(buf, 16, "%.0f", value);
	else
		snprintf(buf, 16, "%.*f%c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value,
			 units[unit]);
	return buf;
}

static void print_rates(FILE *out, const struct sample *s, const double *rate)
{
	char buf[16];
	int i;

	for (i = TX_BYTES; i <= RX_MESSAGES; i++)
		fprintf(out, " %7s", s->seconds > 0 ? amount(rate[i], buf) : "-");
}

static void print_devices(FILE *out, const struct sample *s)
{
	const struct dev_sample *dev;
	char name[DEV_NAME_MAX];

	fprintf(out, "%-10s %-10s %5s %7s %7s %7s %7s\n", "Device", "Netdev", "Conns", "TX-B/s",
		"RX-B/s", "TX-m/s", "RX-m/s");
	for (dev = s->dev; dev < s->dev + s->devs; dev++) {
		fprintf(out, "%-10s %-10s %5u", dev_printable(dev->name, name),
			*dev->netdev ? dev->netdev : "-", dev->conns);
		print_rates(out, s, dev->rate);
		putc('\n', out);
	}
}

static void print_conn(FILE *out, const struct sample *s, const struct conn_sample *c)
{
	bool v6 = strchr(c->remote, ':');
	char buf[16], name[DEV_NAME_MAX];

	fprintf(out, "%-10s %5u", dev_printable(c->device, name), c->nr);
	print_rates(out, s, c->rate);
	fprintf(out, " %6s", s->seconds > 0 ? amount(c->rate[RETRANSMITS], buf) : "-");
	fprintf(out, " %6s", c->rtt_us ? amount(c->rtt_us, buf) : "-");
	fprintf(out, " %-12s %s%s%s:%u%s\n", *c->program.name ? c->program.name : "-",
		v6 ? "[" : "", c->remote, v6 ? "]" : "", c->remote_port,
		c->ended ? " (ended)" : "");
}

void report_text(FILE *out, const struct sample *s, const char *device, enum order order)
{
	const struct conn_sample **list = in_order(s, order);
	char time[64];
	size_t i;

	fprintf(out, "tern top: %.19s, %.1f s, connections by %s\n",
		out_time(0, time, sizeof(time)), s->seconds, orders[order].name);
	if (device && !s->devs)
		fprintf(out, "%s is gone\n", device);
	putc('\n', out);
	print_devices(out, s);
	fprintf(out, "\n%-10s %5s %7s %7s %7s %7s %6s %6s %-12s %s\n", "Device", "Nr", "TX-B/s",
		"RX-B/s", "TX-m/s", "RX-m/s", "Retr/s", "RTT-us", "Program", "Remote:Port");
	for (i = 0; list && list[i]; i++)
		print_conn(out, s, list[i]);
	free(list);
}

/* ---- JSON ------------------------------------------------------------------------- */

static void add(struct json_object *o, const char *key, struct json_object *value)
{
	json_object_object_add(o, key, value);
}

static struct json_object *decimal(double value, const char *format)
{
	struct json_object *o = json_object_new_double(value);

	json_object_set_serializer(o, json_object_double_to_json_string, (void *)format, NULL);
	return o;
}

static void add_rates(struct json_object *o, const double *rate)
{
	static const char *const names[FLOWS] = {
		[TX_BYTES] = "tx_bytes_per_s",
		[RX_BYTES] = "rx_bytes_per_s",
		[TX_MESSAGES] = "tx_messages_per_s",
		[RX_MESSAGES] = "rx_messages_per_s",
		[RETRANSMITS] = "retransmits_per_s",
	};
	int i;

	for (i = 0; i < FLOWS; i++)
		add(o, names[i], decimal(rate[i], "%.1f"));
}

static struct json_object *dev_json(const struct dev_sample *dev)
{
	struct json_object *o = json_object_new_object();

	add(o, "name", json_object_new_string(dev->name));
	add(o, "netdev", json_object_new_string(dev->netdev));
	add(o, "connections", json_object_new_int64(dev->conns));
	add_rates(o, dev->rate);
	return o;
}

static struct json_object *conn_sample_json(const struct conn_sample *c)
{
	struct json_object *o = json_object_new_object();

	add(o, "nr", json_object_new_int64(c->nr));
	add(o, "device", json_object_new_string(c->device));
	add(o, "qp", c->qpn ? json_object_new_int64(c->qpn) : NULL);
	add(o, "state", json_object_new_string(c->state));
	add(o, "ended", json_object_new_boolean(c->ended));
	add(o, "local", json_object_new_string(c->local));
	add(o, "local_port", json_object_new_int64(c->local_port));
	add(o, "remote", json_object_new_string(c->remote));
	add(o, "remote_port", json_object_new_int64(c->remote_port));
	add(o, "program", out_string(*c->program.name ? c->program.name : NULL));
	add(o, "pid", c->program.pid ? json_object_new_int64(c->program.pid) : NULL);
	add_rates(o, c->rate);
	add(o, "rtt_us", c->rtt_us ? json_object_new_int64(c->rtt_us) : NULL);
	return o;
}

void report_json(const struct options *opt, const struct sample *s, enum order order)
{
	struct json_object *o = json_object_new_object(), *list;
	const struct conn_sample **conns = in_order(s, order);
	char time[64];
	size_t i;

	add(o, "time", json_object_new_string(out_time(0, time, sizeof(time))));
	add(o, "seconds", decimal(s->seconds, "%.3f"));
	list = json_object_new_array();
	for (i = 0; i < s->devs; i++)
		json_object_array_add(list, dev_json(&s->dev[i]));
	add(o, "devices", list);
	list = json_object_new_array();
	for (i = 0; conns && conns[i]; i++)
		json_object_array_add(list, conn_sample_json(conns[i]));
	add(o, "connections", list);
	free(conns);
	out_json(opt, o);
}
