/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The themes of queue_verbs, and words that they share. */
#ifndef VERBS_QUEUE_VERBS_H
#define VERBS_QUEUE_VERBS_H

#include "pair.h"

/* a message of 8 octets from a to b, sent and not yet polled at b */
void message(uint64_t id, int flags);
/* @n signalled Writes of a's complete, and wait in its CQ, unpolled */
void pile_up(uint64_t first, int n);
/* poll them */
void expect_pile(uint64_t first, int n);
/* the next async event of @e's device is @type */
struct ibv_async_event next_async(struct end *e, enum ibv_event_type type);
/* none comes for a while */
bool no_async(struct end *e);
/* an end of b's device with PD and buffer, and an SRQ of that */
void base_up(struct end *base);
struct ibv_srq *srq_up(struct end *base, uint32_t max_wr);
void srq_post(struct ibv_srq *srq, const struct end *base, uint64_t id);
long long now_ns(int clock);
/* run by a shell; its status */
int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* a line of the command's output holds all of @words (ended by NULL) */
bool says(const char *command, const char *const *words);

extern const struct tap_test resize_tests[], moderate_tests[], cq_ex_tests[];
extern const struct tap_test wr_ex_tests[], srq_tests[], fork_tests[];
extern const struct tap_test truth_tests[], event_tests[], stream_tests[];
extern const unsigned int resize_count, moderate_count, cq_ex_count;
extern const unsigned int wr_ex_count, srq_count, fork_count;
extern const unsigned int truth_count, event_count, stream_count;

#endif /* VERBS_QUEUE_VERBS_H */
