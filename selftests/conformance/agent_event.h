/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Events that rdma_cm and the device report, in the order in which they came. */
#ifndef AGENT_EVENT_H
#define AGENT_EVENT_H

#include "agent_call.h"

#include <rdma/rdma_cma.h>

int cmd_event(struct call *c);
int cmd_async(struct call *c);

/* Wait for @type on @id, which is being resolved: any other event of @id is an error.
 * Events of other ids are queued for cmd_event(). Return: 0 or an errno. */
int event_await(const struct rdma_cm_id *id, enum rdma_cm_event_type type, int ms);

/* drop the queued events of @conn, which is about to be destroyed */
void event_forget(int conn);
void event_reset(void);

#endif /* AGENT_EVENT_H */
