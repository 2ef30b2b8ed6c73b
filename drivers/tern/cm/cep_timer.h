/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The endpoint's only timer: how long each state may take. Context: process,
 * the endpoint's lock is held, except in tern_cep_timer_init().
 */
#ifndef TERN_CEP_TIMER_H
#define TERN_CEP_TIMER_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/cm_clock.h"
#include "core/cm_fsm.h"

struct pid;
struct tern_cep;

/**
 * struct tern_cep_timer - the timer of an endpoint
 * @work: acts when the time of @clock is up; holds a reference while it is armed
 * @clock: when that is, in jiffies; a timer that runs early or late is ignored
 * @program: the process that uses the endpoint's id, with a reference; NULL for a
 *	kernel user
 * @kernel: the QP is, or was, a kernel user's
 */
struct tern_cep_timer {
	struct delayed_work work;
	struct tern_cm_clock clock;
	struct pid *program;
	bool kernel;
};

void tern_cep_timer_init(struct tern_cep *cep);

/* set, stop or keep the timer, as a step of the state machine says */
void tern_cep_set_timer(struct tern_cep *cep, enum tern_cm_timer timer);

/*
 * True if @event is a timer event that has to be ignored: the timer was stopped
 * or set again since, or it ran only to check the conditions that end a state
 * early. Arms the timer again in these cases, unless it is stopped.
 */
bool tern_cep_too_early(struct tern_cep *cep, enum tern_cm_event event);

/* count a close that is cut off: CM_CLOSE_LOST, CM_CLOSE_SLOW */
void tern_cep_count_close(struct tern_cep *cep);

/*
 * Note who uses @cep->id: the current program or the kernel. If the program
 * dies, the timer is due: iw_cm keeps an id until its connect or accept
 * is decided, so a killed program would hang in the close of its rdma_cm file
 * until the peer's time is up.
 */
void tern_cep_watch_program(struct tern_cep *cep);
void tern_cep_unwatch_program(struct tern_cep *cep);

#endif /* TERN_CEP_TIMER_H */
