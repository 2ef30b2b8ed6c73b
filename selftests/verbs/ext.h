/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Extensions in tests: atomics, immediate data, and what terndv.h adds to both. The
 * library's functions are those of TERN_1.1, looked up at run time.
 */
#ifndef VERBS_EXT_H
#define VERBS_EXT_H

#include "pair.h"
#include "terndv.h"
#include "window.h"

#define ATOMIC	IBV_ACCESS_REMOTE_ATOMIC

extern struct ext_library {
	typeof(terndv_wr_send_imm) *send_imm;
	typeof(terndv_wr_send_inv_imm) *send_inv_imm;
	typeof(terndv_wr_rdma_write_imm) *write_imm;
	typeof(terndv_wr_fetch_add) *fetch_add;
	typeof(terndv_wr_cmp_swap) *cmp_swap;
	typeof(terndv_wc_read_imm) *read_imm;
	typeof(terndv_wc_read_invalidated_rkey) *read_key;
} ext;

/* an end whose memory allows atomics and windows, and which may use each ibv_wr_*() */
extern const struct want extended;

/* both devices negotiate extensions, all of them; the tests begin so */
void set_extensions(void);
/* a and b, both of @extended */
void ext_pair(void);

/* word @n of an end's buffer, and its address */
uint64_t *word(const struct end *e, unsigned int n);
uint64_t word_at(const struct end *e, unsigned int n);

/**
 * struct atomic - an atomic on a word of the peer's memory
 * @op: IBV_WR_ATOMIC_FETCH_AND_ADD or IBV_WR_ATOMIC_CMP_AND_SWP
 * @id: wr_id
 * @result: word of our own buffer that takes the old value
 * @rkey: key of the word
 * @addr: its address
 * @compare_add: addend, or the value to compare with
 * @swap: the new value
 * @flags: besides IBV_SEND_SIGNALED
 */
struct atomic {
	enum ibv_wr_opcode op;
	uint64_t id;
	unsigned int result;
	uint32_t rkey;
	uint64_t addr;
	uint64_t compare_add;
	uint64_t swap;
	int flags;
};

int try_atomic(struct end *e, const struct atomic *at);
void post_atomic(struct end *e, const struct atomic *at);
/* of a, on a word of b's buffer; the result goes to a's word @result */
struct atomic fetch_add_of(unsigned int n, uint64_t add, unsigned int result);
struct atomic cmp_swap_of(unsigned int n, uint64_t compare, uint64_t swap,
			  unsigned int result);

/* begin a batch of ibv_wr_*(), or the next request of one */
struct ibv_qp_ex *batch(struct end *e, uint64_t id, unsigned int flags);
void next_of(struct ibv_qp_ex *qp, uint64_t id, unsigned int flags);

/* the next receive of @e: of @opcode, with immediate data, in host byte order */
void expect_imm(struct end *e, uint64_t id, enum ibv_wc_opcode opcode, uint32_t len,
		uint32_t imm);
/* the next completion of @e's requests is a success of this kind */
void expect_sent(struct end *e, uint64_t id, enum ibv_wc_opcode opcode);
/* check that the next one fails with this status and Terminate, which ends the stream */
void expect_refused(struct end *e, enum ibv_wc_status status, uint32_t term);

extern const struct tap_theme imm_theme, imm_dv_theme, gate_theme, atomic_theme,
	atomic_rights_theme, storm_theme;

#endif /* VERBS_EXT_H */
