/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Print what the kernel reports of a connection, as a line of text or as JSON. */
#ifndef TERN_TOOL_CONN_H
#define TERN_TOOL_CONN_H

#include <stdbool.h>

struct nlmsghdr;

/* the names of the columns of conn_print_text() */
void conn_print_head(void);

/**
 * conn_print() - one connection
 * @hdr: message of the kernel: TERN_CMD_CONN_GET or TERN_CMD_CONN_NTF
 * @all: those that ended, too
 * @before: printed before it
 * @json: as a JSON object, without a newline after it
 *
 * Return: true when it was printed.
 */
bool conn_print(struct nlmsghdr *hdr, bool all, const char *before, bool json);

#endif /* TERN_TOOL_CONN_H */
