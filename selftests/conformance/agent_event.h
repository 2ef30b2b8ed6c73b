/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What rdma_cm and the device tell of their own accord, in the order it came. */
#ifndef AGENT_EVENT_H
#define AGENT_EVENT_H

#include "agent_call.h"

#include <rdma/rdma_cma.h>

int cmd_event(struct call *c);
int cmd_async(struct call *c);

/* Wait for @type, or what comes in its place, on @id, which only its resolving can
 * be the reason of; what others get meanwhile is kept for cmd_event(). Return: 0 or
 * an errno. */
int event_await(const struct rdma_cm_id *id, enum rdma_cm_event_type type, int ms);

/* @conn is about to go: nobody wants to hear of it any more */
void event_forget(int conn);
void event_reset(void);

#endif /* AGENT_EVENT_H */
