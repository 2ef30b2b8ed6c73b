/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * More verbs of the device under test, as agent.h: requests of RFC 7306 and of RDMAP
 * version 2, words of memory in the byte order of the device's host.
 */
#ifndef AGENT_REQUEST_H
#define AGENT_REQUEST_H

#include "agent.h"
#include "wire_ext.h"

enum agent_imm_op { AG_SEND_IMM, AG_SEND_INV_IMM, AG_WRITE_IMM };

/**
 * struct agent_imm - a request with immediate data
 * @op: what it is
 * @flags: AG_SIGNALED and others
 * @mr, @at, @len: its memory
 * @rkey, @raddr: of the Write; @rkey: the STag of AG_SEND_INV_IMM
 * @imm, @imm_len: 4 bytes as verbs have them; 8 need tern's library on the device's
 *	host, without which the test is skipped
 */
struct agent_imm {
	enum agent_imm_op op;
	unsigned int flags;
	const struct agent_mr *mr;
	size_t at;
	size_t len;
	uint32_t rkey;
	uint64_t raddr;
	const void *imm;
	size_t imm_len;
};

void agent_post_imm(int conn, uint64_t wr_id, const struct agent_imm *r);
/* Return: 0, or the errno of the call */
int agent_try_post_imm(int conn, uint64_t wr_id, const struct agent_imm *r);

/* Post @a, whose op, stag, to and operands count; the old value goes to @at of @mr. With
 * @masked its masks count, too, which needs tern's library; else they are the plain ones
 * of verbs. */
void agent_post_atomic(int conn, uint64_t wr_id, unsigned int flags,
		       const struct agent_mr *mr, size_t at, const struct atomic_req *a,
		       bool masked);
int agent_try_post_atomic(int conn, uint64_t wr_id, unsigned int flags,
			  const struct agent_mr *mr, size_t at,
			  const struct atomic_req *a, bool masked);

uint64_t agent_peek64(const struct agent_mr *mr, size_t at);
void agent_poke64(const struct agent_mr *mr, size_t at, uint64_t v);

#endif /* AGENT_REQUEST_H */
