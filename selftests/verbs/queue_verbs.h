/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The tables of queue_verbs, and functions that their tests share. */
#ifndef VERBS_QUEUE_VERBS_H
#define VERBS_QUEUE_VERBS_H

#include "pair.h"

/* a message of 8 bytes from a to b, sent and not yet polled at b */
void message(uint64_t id, int flags);
/* let @n signalled Writes of a complete, and leave their completions in its CQ */
void pile_up(uint64_t first, int n);
/* poll these completions */
void expect_pile(uint64_t first, int n);
/* check that the next async event of @e's device is @type, and return it */
struct ibv_async_event next_async(struct end *e, enum ibv_event_type type);
/* Return: no async event comes for a while */
bool no_async(struct end *e);
/* build an unconnected end of b's device, and an SRQ in its PD */
void base_up(struct end *base);
struct ibv_srq *srq_up(struct end *base, uint32_t max_wr);
void srq_post(struct ibv_srq *srq, const struct end *base, uint64_t id);
long long now_ns(int clock);
/* run a shell command; Return: its status */
int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Return: a line of the command's output has all of @words (NULL-terminated) */
bool says(const char *command, const char *const *words);

extern const struct tap_theme resize_theme, moderate_theme, cq_ex_theme;
extern const struct tap_theme wr_ex_theme, srq_theme, fork_theme, query_theme;
extern const struct tap_theme batching_theme, overflow_theme, room_theme, event_theme;

#endif /* VERBS_QUEUE_VERBS_H */
