/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
#ifndef VERBS_TRACER_H
#define VERBS_TRACER_H

/*
 * Start a child that traces this process and counts its system calls in shared memory,
 * so that reading the count takes no system call. Return: 0, or -1 if it cannot.
 */
int tracer_start(void);

/* Call this before the process exits: its parent cannot wait for a traced process. */
void tracer_stop(void);

/* system calls of this process so far */
long syscalls(void);

#endif /* VERBS_TRACER_H */
