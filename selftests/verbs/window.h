/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Memory windows of b, for the tests of mw.c and mw_rights.c. */
#ifndef VERBS_WINDOW_H
#define VERBS_WINDOW_H

#include "pair.h"

#define READ	IBV_ACCESS_REMOTE_READ
#define WRITE	IBV_ACCESS_REMOTE_WRITE
#define BOTH	(READ | WRITE)
#define BINDABLE (ALL_RIGHTS | IBV_ACCESS_MW_BIND)

/* offset and length of windows in b's buffer: neither is aligned */
#define OFF	5001
#define LEN	3000

/* b's memory allows windows */
extern const struct want bindable;

/* an address in b's buffer */
uint64_t at(size_t off);
/* bind_info for a range of b's buffer with these rights */
struct ibv_mw_bind_info range(size_t off, uint64_t len, int access);

struct ibv_mw *window(enum ibv_mw_type type);
void drop(struct ibv_mw *mw);

/* bind a type 2 window through @e's QP, with wr_id 20 */
void post_bind2(struct end *e, struct ibv_mw *mw, uint32_t key,
		struct ibv_mw_bind_info info);
/* bind with the window's next key, as programs do, and wait; Return: the key */
uint32_t bind2(struct end *e, struct ibv_mw *mw, struct ibv_mw_bind_info info);
/* bind a type 1 window, with wr_id 10; Return: 0 or an errno */
int post_bind1(struct end *e, struct ibv_mw *mw, struct ibv_mw_bind_info info);
uint32_t bind1(struct end *e, struct ibv_mw *mw, struct ibv_mw_bind_info info);
/* check that the next completion of @e is a successful @opcode */
void expect_done(struct end *e, enum ibv_wc_opcode opcode);

#endif /* VERBS_WINDOW_H */
