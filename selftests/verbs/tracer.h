/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VERBS_TRACER_H
#define VERBS_TRACER_H

/*
 * A child traces this process, and counts its system calls in memory of both, so
 * that to look at the count is none. 0, or -1 if it cannot.
 */
int tracer_start(void);

/* who is traced cannot be waited for by its parent as it ends: call it before */
void tracer_stop(void);

/* system calls of this process so far */
long syscalls(void);

#endif /* VERBS_TRACER_H */
