// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* agent_request.h as lines of text to tern-conform-agent: see tern-conform-agent(8). */
#include "agent_request.h"
#include "agent_line.h"
#include "conform.h"

#include <errno.h>
#include <stdio.h>

#define VERBS_IMM_LEN	4

static unsigned long long longest(uint64_t v)
{
	return v;
}

/* memory as three words, or "-" for none */
static const char *place(const struct agent_mr *mr, size_t at, size_t len)
{
	static char text[64];

	if (!mr)
		return "-";
	snprintf(text, sizeof(text), "%d %zu %zu", mr->id, at, len);
	return text;
}

int agent_try_post_imm(int conn, uint64_t wr_id, const struct agent_imm *r)
{
	static const char *const names[] = { "send-imm", "send-inv-imm", "write-imm" };
	enum line_verdict v;

	v = line_try(0, "post-imm %d %llu %s %u %s %u %llu %s", conn, longest(wr_id),
		     names[r->op], r->flags, place(r->mr, r->at, r->len), r->rkey,
		     longest(r->raddr), line_hex(r->imm, r->imm_len));
	if (v == LINE_NO && line_errno == EOPNOTSUPP && r->imm_len > VERBS_IMM_LEN)
		skip("the agent cannot post 8 bytes of immediate data");
	return v == LINE_NO ? line_errno : 0;
}

void agent_post_imm(int conn, uint64_t wr_id, const struct agent_imm *r)
{
	if (agent_try_post_imm(conn, wr_id, r))
		line_refused();
}

int agent_try_post_atomic(int conn, uint64_t wr_id, unsigned int flags,
			  const struct agent_mr *mr, size_t at,
			  const struct atomic_req *a, bool masked)
{
	enum line_verdict v;
	char masks[64] = "";

	if (masked)
		snprintf(masks, sizeof(masks), " %llu %llu", longest(a->mask),
			 longest(a->compare_mask));
	v = line_try(0, "atomic %d %llu %s %u %s %u %llu %llu %llu%s", conn,
		     longest(wr_id), a->op == FETCH_ADD ? "add" : "swap", flags,
		     place(mr, at, sizeof(uint64_t)), a->stag, longest(a->to),
		     longest(a->data), longest(a->compare), masks);
	if (v == LINE_NO && line_errno == EOPNOTSUPP && masked)
		skip("the agent cannot post atomics with masks");
	return v == LINE_NO ? line_errno : 0;
}

void agent_post_atomic(int conn, uint64_t wr_id, unsigned int flags,
		       const struct agent_mr *mr, size_t at, const struct atomic_req *a,
		       bool masked)
{
	if (agent_try_post_atomic(conn, wr_id, flags, mr, at, a, masked))
		line_refused();
}

uint64_t agent_peek64(const struct agent_mr *mr, size_t at)
{
	line_ask(0, "peek64 %d %zu", mr->id, at);
	return line_number();
}

void agent_poke64(const struct agent_mr *mr, size_t at, uint64_t v)
{
	line_ask(0, "poke64 %d %zu %llu", mr->id, at, longest(v));
}
