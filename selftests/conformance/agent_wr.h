/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Work requests, and their completions from the one CQ. */
#ifndef AGENT_WR_H
#define AGENT_WR_H

#include "agent_call.h"

int cmd_recv(struct call *c);
int cmd_post(struct call *c);
int cmd_poll(struct call *c);
int cmd_arm(struct call *c);
int cmd_cq_event(struct call *c);

/* the flags of a request as enum ibv_send_flags */
unsigned int arg_wr_flags(struct call *c);

#endif /* AGENT_WR_H */
