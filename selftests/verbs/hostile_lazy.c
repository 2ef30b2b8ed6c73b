// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Doorbells with TERN_DOORBELL_MORE of a program that writes anything into its send queue. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

/*
 * A program that says MORE and then rings no more, and writes each value into the flags:
 * it delays its own posts, which the next doorbell sends.
 */
void doorbell_lies(void)
{
	uint32_t i, from;

	vandal_up();
	from = sq->prod;
	for (i = 0; i < 200; i++) {
		put_rdma(from + i, TERN_WR_RDMA_WRITE, TERN_WR_SIGNALED);
		__atomic_store_n(&sq->prod, from + i + 1, __ATOMIC_SEQ_CST);
		sq->flags = i % 8;
		if (i % 3 == 0)
			must(!ring(v.qp->qp_num | TERN_DOORBELL_MORE));
		sq->flags = i % 5;
		if (i % 3 == 2) {
			must(!ring(v.qp->qp_num));
			expect_wc(v.scq, 100 + from + i - 2, IBV_WC_SUCCESS);
			expect_wc(v.scq, 100 + from + i - 1, IBV_WC_SUCCESS);
			expect_wc(v.scq, 100 + from + i, IBV_WC_SUCCESS);
		}
		if (i % 50 == 0)
			expect_unharmed();
	}
	expect_eq(state_of(&v), IBV_QPS_RTS);
	vandal_down();
}

/* it never ends; @wild: with indices that end the QP, else it posts and does not ring */
static void write_flags_and_index(bool wild)
{
	uint32_t i;

	for (i = 0;; i++) {
		sq->flags = i % 8;
		if (wild && i > 1000)
			sq->prod = draw();
		else if (sq->cons == sq->prod)
			__atomic_store_n(&sq->prod, sq->prod + i % 8, __ATOMIC_SEQ_CST);
	}
}

/*
 * While a child writes flags and index without end, the backstop looks at them, the QP ends
 * and its memory is freed: no timer is left (DEBUG_OBJECTS in the checked kernel).
 */
void backstop_race(void)
{
	uint32_t round, i;
	pid_t child;

	for (round = 0; round < 10; round++) {
		vandal_up();
		for (i = 0; i < ENTRIES; i++)
			put_rdma(i, TERN_WR_RDMA_WRITE, 0);
		child = fork();
		must(child >= 0);
		if (!child)
			write_flags_and_index(round & 1);
		for (i = 0; i < 200; i++)
			ring(v.qp->qp_num | TERN_DOORBELL_MORE);
		vandal_down();
		kill(child, SIGKILL);
		must(waitpid(child, NULL, 0) == child);
	}
}
