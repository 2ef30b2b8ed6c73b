// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * As rdma-resource(8) does, ask the RDMA core for the PID in the caller's namespace, and
 * /proc for the name. A program chooses its name, so it is escaped.
 */
#include "program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdma.h"
#include "tern.h"

/**
 * struct owners - of the QPs of one device, as they were when it was first asked for
 * @index: number of the device
 * @owner: array
 * @count: its elements
 */
struct owners {
	uint32_t index;
	struct rdma_owner *owner;
	size_t count;
};

static void add_owner(const struct rdma_owner *owner, void *arg)
{
	struct owners *o = arg;
	void *more = realloc(o->owner, (o->count + 1) * sizeof(*owner));

	if (!more)
		return;
	o->owner = more;
	o->owner[o->count++] = *owner;
}

static struct owners *known;
static size_t count;

void program_forget(void)
{
	while (count)
		free(known[--count].owner);
}

static const struct owners *owners_of(uint32_t index)
{
	struct owners *more;
	size_t i;

	for (i = 0; i < count; i++)
		if (known[i].index == index)
			return &known[i];
	more = realloc(known, (count + 1) * sizeof(*known));
	if (!more)
		return NULL;
	known = more;
	known[count] = (struct owners) { .index = index };
	rdma_qp_owners(index, add_owner, &known[count]);
	return &known[count++];
}

/* one byte as it is, or four; @out has room for PROGRAM_NAME */
static void escape(const char *text, size_t len, char *out)
{
	const char *end = out + PROGRAM_NAME;
	size_t i;

	*out = '\0';
	for (i = 0; i < len && end - out > 4; i++) {
		unsigned char c = text[i];

		out += sprintf(out, isgraph(c) && c < 0x80 && c != '\\' ? "%c" : "\\x%02x", c);
	}
}

/* /proc has the name and a newline */
static void read_name(uint32_t pid, char *out)
{
	char path[32], name[64];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return;
	len = fread(name, 1, sizeof(name), file);
	fclose(file);
	if (len && name[len - 1] == '\n')
		len--;
	escape(name, len, out);
}

struct program program_of(uint32_t index, uint32_t qpn)
{
	const struct owners *o = owners_of(index);
	struct program program = {};
	size_t i;

	for (i = 0; o && i < o->count; i++) {
		if (o->owner[i].qpn != qpn)
			continue;
		program.pid = o->owner[i].pid;
		if (program.pid)
			read_name(program.pid, program.name);
		else
			escape(o->owner[i].user, strlen(o->owner[i].user), program.name);
		break;
	}
	return program;
}
