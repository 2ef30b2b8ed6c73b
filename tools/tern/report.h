/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A sample as text and as JSON. */
#ifndef TERN_TOOL_REPORT_H
#define TERN_TOOL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

struct options;
struct sample;

/* how connections are sorted: the largest first, but for their number */
enum order { BY_BYTES, BY_MESSAGES, BY_RETRANSMITS, BY_RTT, BY_NR, ORDERS };

const char *order_name(enum order order);

/* Return: true if there is one of this name */
bool order_by_name(const char *name, enum order *order);

/* leaves @order as it is if no order has this key */
void order_by_key(char key, enum order *order);

/* @device: the one that was asked for, NULL for all */
void report_text(FILE *out, const struct sample *s, const char *device, enum order order);

/* one line on standard output */
void report_json(const struct options *opt, const struct sample *s, enum order order);

#endif /* TERN_TOOL_REPORT_H */
