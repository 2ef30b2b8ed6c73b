/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Registered memory, numbered from 0 since the last reset. */
#ifndef AGENT_MEM_H
#define AGENT_MEM_H

#include "agent_call.h"

#include <infiniband/verbs.h>

int cmd_mr(struct call *c);
int cmd_dereg(struct call *c);
int cmd_peek(struct call *c);
int cmd_poke(struct call *c);
int cmd_peek64(struct call *c);
int cmd_poke64(struct call *c);
int cmd_untouched(struct call *c);

/* Take the words MR AT LEN, or "-"; Return: the number of elements, 0 or 1. The range
 * may be wrong, for the device to refuse; with @inside it must lie in the MR. */
int arg_sge(struct call *c, struct ibv_sge *sge, int inside);

/* Take the words MR AT LEN ACCESS, the range of a window; it may be wrong, too. */
struct ibv_mw_bind_info arg_range(struct call *c);

void mem_reset(void);

#endif /* AGENT_MEM_H */
