/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Commands of this host for what verbs do not offer: settings, raw values of a
 * connection, counters. They are run with an argv, never by a shell.
 */
#ifndef AGENT_HOOK_H
#define AGENT_HOOK_H

#include "agent_call.h"

/* the --set and --state commands, split at blanks before use, or NULL */
extern const char *hook_set, *hook_state;

int cmd_set(struct call *c);
int cmd_state(struct call *c);
int cmd_counter(struct call *c);

/* restore the device's own settings if any was changed; Return: 0 or an errno */
int hook_reset(void);

#endif /* AGENT_HOOK_H */
