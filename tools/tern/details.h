/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Details of a connection: times, program, what has moved, and the path. */
#ifndef TERN_TOOL_DETAILS_H
#define TERN_TOOL_DETAILS_H

struct conn;
struct json_object;

/* a line, indented, below that of the connection */
void details_print(const struct conn *c);

/* add their keys to @o */
void details_json(const struct conn *c, struct json_object *o);

#endif /* TERN_TOOL_DETAILS_H */
