// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* tern diagnose: what a newcomer gets wrong, and what to do about it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netlink/netlink.h>

#include "dev.h"
#include "finding.h"
#include "module.h"
#include "out.h"
#include "talk.h"
#include "tern.h"

/* where rping -s listens */
#define RPING_PORT	"7174"

/* ---- findings ---------------------------------------------------------------------- */

static void print_json(struct findings *f, const char *check, const char *result,
		       const char *text, const char *todo)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "check", json_object_new_string(check));
	json_object_object_add(o, "result", json_object_new_string(result));
	json_object_object_add(o, "text", json_object_new_string(text));
	json_object_object_add(o, "todo", out_string(todo));
	json_object_array_add(f->list, o);
}

void found(struct findings *f, const char *check, enum result result, const char *todo,
	   const char *format, ...)
{
	static const char *const names[] = { "ok", "warn", "fail" };
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	f->failed |= result == FAIL;
	if (f->list) {
		print_json(f, check, names[result], text, todo);
		return;
	}
	out_printable(text);
	printf("%-5s %-9s %s\n", names[result], check, text);
	if (todo)
		printf("                => %s\n", todo);
	/* the next check may take long */
	fflush(stdout);
}

/* ---- devices ----------------------------------------------------------------------- */

/**
 * struct devices - of this network namespace
 * @dev: array
 * @count: its elements
 */
struct devices {
	struct device *dev;
	size_t count;
};

/* @arg: struct devices */
static void add_device(struct nlmsghdr *hdr, void *arg)
{
	struct devices *d = arg;
	struct device dev, *more;

	if (!dev_read(hdr, &dev))
		return;
	more = realloc(d->dev, (d->count + 1) * sizeof(*more));
	if (!more)
		return;
	d->dev = more;
	d->dev[d->count++] = dev;
}

static void list_devices(struct findings *f, struct talk *t, struct devices *d)
{
	struct nl_msg *msg = talk_new(t, TERN_CMD_DEV_GET, NLM_F_DUMP);
	int ret = msg ? talk_ask(t, msg, add_device, d) : -ENOMEM;

	if (ret)
		found(f, "link", FAIL, "report this", "the kernel does not list devices: %s",
		      strerror(-ret));
	else if (!d->count)
		found(f, "link", FAIL, "rdma link add tern0 type tern netdev NETDEV",
		      "no link in this network namespace");
}

/* Return: true if the module answers */
static bool check_module(struct findings *f, struct talk *t)
{
	int ret = talk_open(t);

	if (!ret) {
		found(f, "module", OK, NULL, "it is loaded");
		return true;
	}
	if (ret == -ENOENT && !module_is_installed())
		found(f, "module", FAIL,
		      "install its headers, and DKMS builds the module: see install.rst",
		      "kernel %s has no module tern", module_kernel());
	else if (ret == -ENOENT)
		found(f, "module", FAIL,
		      "modprobe tern; if that fails, dmesg says why: see install.rst",
		      "the kernel module tern is not loaded");
	else
		found(f, "module", FAIL, "ask the administrator of the machine or container",
		      "there is no generic netlink here");
	return false;
}

static void check_all(struct findings *f)
{
	struct devices d = {};
	struct talk t;
	size_t i;

	if (check_module(f, &t)) {
		list_devices(f, &t, &d);
		talk_close(&t);
	}
	for (i = 0; i < d.count; i++) {
		check_netdev(f, &d.dev[i]);
		check_provider(f, &d.dev[i]);
	}
	check_rdma_cm(f);
	check_memlock(f);
	check_firewall(f);
	free(d.dev);
}

int diagnose(const struct options *opt, int argc, char **argv)
{
	struct findings f = { .opt = opt };

	if (argc > 2)
		return wrong_usage("'%s' is one word too many", argv[2]);
	if (opt->json)
		f.list = json_object_new_array();
	check_all(&f);
	if (argc && f.failed)
		found(&f, "peer", WARN, "mend what failed, and try again",
		      "no test connection was made");
	else if (argc)
		check_peer(&f, argv[0], argc > 1 ? argv[1] : RPING_PORT);
	if (f.list)
		out_json(opt, f.list);
	return f.failed ? FAILED : DONE;
}
