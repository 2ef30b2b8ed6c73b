/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Memory windows: one command creates and binds one, reset frees all. */
#ifndef AGENT_MW_H
#define AGENT_MW_H

#include "agent_call.h"

int cmd_bind(struct call *c);

/* call this before mem_reset(): windows are bound to that memory */
void mw_reset(void);

#endif /* AGENT_MW_H */
