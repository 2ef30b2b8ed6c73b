// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Entries with extensions that no provider writes: the kernel checks a copy of each field. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

#define WORD_RIGHTS (ALL_RIGHTS | IBV_ACCESS_REMOTE_ATOMIC)

/* the target: the second page of w's buffer, between others that must not change */
#define TARGET	4096
#define LEN	4096

static struct ibv_mr *mr;
static uint64_t *target;

static void target_up(void)
{
	vandal_up();
	mr = ibv_reg_mr(w.pd, w.buf + TARGET, LEN, WORD_RIGHTS);
	must(mr);
	memset(w.buf, 0x5a, 3 * 4096);
	target = (uint64_t *)(w.buf + TARGET);
	memset(target, 0, LEN);
}

static void target_gone(void)
{
	expect(all_are(w.buf, 4096, 0x5a));
	expect(all_are(w.buf + 8192, 4096, 0x5a));
	expect_eq(ibv_dereg_mr(mr), 0);
}

static struct tern_atomic_args *args_of(struct tern_sqe *sqe)
{
	return (struct tern_atomic_args *)&sqe->sge[1];
}

/* a FetchAdd of 1; its result goes to the start of v's buffer */
static void put_good(struct tern_sqe *sqe)
{
	memset(sqe, 0, sq_stride);
	sqe->opcode = TERN_WR_FETCH_ADD;
	sqe->num_sge = 1;
	sqe->flags = TERN_WR_SIGNALED;
	sqe->wr_id = 77;
	sqe->remote_addr = (uintptr_t)target;
	sqe->rkey = mr->rkey;
	sqe->sge[0] = (struct tern_sge){ (uintptr_t)v.buf, 8, v.mr->lkey };
	*args_of(sqe) = (struct tern_atomic_args){ .data = 1, .compare_mask = -1 };
}

/* ---- atomics ---------------- */

/* what the provider does not write, and the kernel takes */
static void unaligned_result(struct tern_sqe *sqe)
{
	sqe->sge[0].addr += 3;
}

static void longer(struct tern_sqe *sqe)
{
	sqe->sge[0].length = 4096;
}

static void longest(struct tern_sqe *sqe)
{
	sqe->sge[0].length = -1;
}

static void solicited(struct tern_sqe *sqe)
{
	sqe->flags |= TERN_WR_SOLICITED | TERN_WR_FENCE;
}

static void as_it_is(struct tern_sqe *sqe)
{
	(void)sqe;
}

/* the result has 8 bytes, wherever they are and however long the element is */
void atomic_good(void)
{
	static void (*const change[])(struct tern_sqe *sqe) = {
		as_it_is, unaligned_result, longer, longest, solicited,
	};
	uint64_t old;
	size_t at;
	uint32_t i;

	target_up();
	for (i = 0; i < ARRAY_LEN(change); i++) {
		struct tern_sqe *sqe = sqe_at(sq->prod);

		memset(v.buf, 0xee, 4096);
		put_good(sqe);
		change[i](sqe);
		at = sqe->sge[0].addr - (uintptr_t)v.buf;
		publish(sq, sq->prod + 1);
		expect_wc(v.scq, 77, IBV_WC_SUCCESS);
		memcpy(&old, v.buf + at, 8);
		expect_eq(old, i);
		expect(!at || all_are(v.buf, at, 0xee));
		expect(all_are(v.buf + at + 8, 4096 - 8 - at, 0xee));
	}
	expect_eq(*target, ARRAY_LEN(change));
	target_gone();
	vandal_down();
}

static void no_element(struct tern_sqe *sqe)
{
	sqe->num_sge = 0;
}

static void two_elements(struct tern_sqe *sqe)
{
	sqe->num_sge = 2;
}

static void all_elements(struct tern_sqe *sqe)
{
	sqe->num_sge = TERN_MAX_SGE;
}

static void too_many_elements(struct tern_sqe *sqe)
{
	sqe->num_sge = 255;
}

static void of_seven_bytes(struct tern_sqe *sqe)
{
	sqe->sge[0].length = 7;
}

static void of_no_bytes(struct tern_sqe *sqe)
{
	sqe->sge[0].length = 0;
}

static void inline_result(struct tern_sqe *sqe)
{
	sqe->flags |= TERN_WR_INLINE;
	sqe->num_sge = 0;
	sqe->inline_len = 8;
}

static void inline_element(struct tern_sqe *sqe)
{
	sqe->flags |= TERN_WR_INLINE;
}

static void unknown_flag(struct tern_sqe *sqe)
{
	sqe->flags |= 1 << 4;
}

static void all_flags(struct tern_sqe *sqe)
{
	sqe->flags = -1;
}

static void unaligned_word(struct tern_sqe *sqe)
{
	sqe->remote_addr += 4;
}

static void unaligned_byte(struct tern_sqe *sqe)
{
	sqe->opcode = TERN_WR_CMP_SWAP;
	sqe->remote_addr += 1;
}

static void opcode_after_the_last(struct tern_sqe *sqe)
{
	sqe->opcode = TERN_WR_CMP_SWAP + 1;
}

static void opcode_before_the_receives(struct tern_sqe *sqe)
{
	sqe->opcode = TERN_WR_RECV - 1;
}

static void opcode_of_a_receive(struct tern_sqe *sqe)
{
	sqe->opcode = TERN_WR_RECV_IMM;
}

/* an entry that @spoil changed fails with @status; the target keeps its bytes */
static void expect_bad(void (*spoil)(struct tern_sqe *sqe), enum ibv_wc_status status)
{
	struct tern_sqe *sqe;

	target_up();
	sqe = sqe_at(sq->prod);
	put_good(sqe);
	spoil(sqe);
	publish(sq, sq->prod + 1);
	expect_wc(v.scq, 77, status);
	expect_error_state(&v);
	expect(all_are((uint8_t *)target, LEN, 0));
	target_gone();
	expect_caught();
}

void atomic_bad_fields(void)
{
	static void (*const spoil[])(struct tern_sqe *sqe) = {
		no_element, two_elements, all_elements, too_many_elements, of_seven_bytes,
		of_no_bytes, inline_result, inline_element, unknown_flag, all_flags,
		unaligned_word, unaligned_byte, opcode_after_the_last,
		opcode_before_the_receives, opcode_of_a_receive,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(spoil); i++)
		expect_bad(spoil[i], IBV_WC_LOC_QP_OP_ERR);
}

static void no_key(struct tern_sqe *sqe)
{
	sqe->sge[0].lkey = 0;
}

static void key_of_the_peer(struct tern_sqe *sqe)
{
	sqe->sge[0].lkey = mr->rkey;
}

static void end_of_memory(struct tern_sqe *sqe)
{
	sqe->sge[0].addr = (uintptr_t)v.buf + v.buf_len - 7;
}

static void wrapping(struct tern_sqe *sqe)
{
	sqe->sge[0].addr = -4;
}

/* results where v may not write */
void atomic_bad_places(void)
{
	static void (*const spoil[])(struct tern_sqe *sqe) = {
		no_key, key_of_the_peer, end_of_memory, wrapping,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(spoil); i++)
		expect_bad(spoil[i], IBV_WC_LOC_PROT_ERR);
}

/* ---- entries that change ---------------- */

/* publish entries until @n are done or v is in ERROR; Return: how many succeeded */
static uint32_t publish_many(uint32_t n)
{
	struct ibv_wc wc[16];
	uint32_t i = 0, done = 0, good = 0;
	int got, k, idle = 0;

	while (done < n && idle < 2000) {
		for (; i < n && i - done < ENTRIES; i++)
			publish(sq, sq->prod + 1);
		got = ibv_poll_cq(v.scq, 16, wc);
		for (k = 0; k < got; k++)
			good += wc[k].status == IBV_WC_SUCCESS;
		done += got;
		idle = got ? 0 : idle + 1;
		if (!got)
			usleep(500);
	}
	return good;
}

/* a process that changes all entries until it is killed */
static pid_t changing(void (*change)(struct tern_sqe *sqe, uint32_t i))
{
	pid_t child = fork();
	uint32_t i;

	must(child >= 0);
	for (i = 0; !child; i++)
		change(sqe_at(i), i / ENTRIES);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	must(waitpid(child, NULL, 0) == child);
}

/*
 * Each variant is valid, and adds 1 to one of two words; they differ in single bytes, which
 * are never half changed.
 */
static void vary(struct tern_sqe *sqe, uint32_t i)
{
	*(volatile uint8_t *)&sqe->remote_addr = (uintptr_t)target + (i & 1) * 8;
	*(volatile uint8_t *)&args_of(sqe)->compare = i;
	*(volatile uint8_t *)&sqe->flags = TERN_WR_SIGNALED | (i & TERN_WR_FENCE);
	*(volatile uint8_t *)&sqe->sge[0].addr = i & 0x38;
}

#define MANY	2000

/* the kernel does what its copy says: no operation is lost, or done in two places */
void atomic_varied(void)
{
	uint32_t i, good;
	pid_t child;

	target_up();
	for (i = 0; i < ENTRIES; i++)
		put_good(sqe_at(i));
	child = changing(vary);
	good = publish_many(MANY);
	end(child);
	expect_eq(good, MANY);
	expect_eq(target[0] + target[1], MANY);
	expect(all_are((uint8_t *)(target + 2), LEN - 16, 0));
	target_gone();
	vandal_down();
}

/* fields and operands that are mostly wrong, and change all the time */
static void spoil_all(struct tern_sqe *sqe, uint32_t i)
{
	static uint32_t noise = 99;
	volatile struct tern_atomic_args *args = args_of(sqe);

	noise = noise * 1664525 + 1013904223 + i;
	sqe->opcode = noise >> 24 & 1 ? TERN_WR_FETCH_ADD : TERN_WR_CMP_SWAP - (noise >> 25) % 6;
	sqe->num_sge = noise >> 8 & 3 ? 1 : noise >> 10;
	sqe->remote_addr = (uintptr_t)target + (int32_t)(noise % 16384 - 4096);
	sqe->sge[0].length = noise >> 12 & 7 ? 8 : noise;
	sqe->imm[noise % 8] = noise;
	args->data = (uint64_t)noise << 32 | noise;
	args->data_mask = noise & 1 ? UINT64_MAX : noise;
	args->compare_mask = noise & 2 ? 0 : noise;
}

void atomic_spoilt(void)
{
	uint32_t round, i;
	pid_t child;

	for (round = 0; round < 8; round++) {
		target_up();
		for (i = 0; i < ENTRIES; i++)
			put_good(sqe_at(i));
		child = changing(spoil_all);
		usleep(1000 * round);
		publish_many(MANY / 8);
		end(child);
		target_gone();
		vandal_down();
	}
}

/* ---- immediate data ---------------- */

/* a Send, or Write, with 8 bytes of immediate data and 16 of payload */
static void put_imm(struct tern_sqe *sqe, uint8_t opcode)
{
	put_good(sqe);
	sqe->opcode = opcode;
	sqe->sge[0].length = 16;
	memcpy(sqe->imm, "\1\2\3\4\5\6\7\10", 8);
}

void imm_good(void)
{
	static const uint8_t opcodes[] = { TERN_WR_SEND_WITH_IMM, TERN_WR_WRITE_WITH_IMM };
	struct ibv_wc wc;
	unsigned int i;

	target_up();
	for (i = 0; i < ARRAY_LEN(opcodes); i++) {
		post_recv(&w, i, 16384, 16);
		put_imm(sqe_at(sq->prod), opcodes[i]);
		publish(sq, sq->prod + 1);
		expect_wc(v.scq, 77, IBV_WC_SUCCESS);
		wc = next_wc(w.rcq);
		expect_eq(wc.status, IBV_WC_SUCCESS);
		expect_eq(wc.wc_flags, IBV_WC_WITH_IMM);
		expect_eq(wc.byte_len, 16);
		expect_bytes(&wc.imm_data, "\1\2\3\4", 4);
	}
	target_gone();
	vandal_down();
}

/* with its immediate data a Send has 2^32 bytes or more, which is too long (RFC 5041 5.2) */
static void send_of_4_gib(struct tern_sqe *sqe)
{
	put_imm(sqe, TERN_WR_SEND_WITH_IMM);
	sqe->sge[0].length = -8;
}

static void send_inv_of_4_gib(struct tern_sqe *sqe)
{
	put_imm(sqe, TERN_WR_SEND_WITH_INV_IMM);
	sqe->num_sge = 2;
	sqe->sge[0].length = -1;
	sqe->sge[1] = sqe->sge[0];
}

static void write_of_8_gib(struct tern_sqe *sqe)
{
	put_imm(sqe, TERN_WR_WRITE_WITH_IMM);
	sqe->num_sge = 2;
	sqe->sge[0].length = -1;
	sqe->sge[1] = sqe->sge[0];
}

static void send_of_17_elements(struct tern_sqe *sqe)
{
	put_imm(sqe, TERN_WR_SEND_WITH_IMM);
	sqe->num_sge = 17;
}

static void inline_with_elements(struct tern_sqe *sqe)
{
	put_imm(sqe, TERN_WR_WRITE_WITH_IMM);
	sqe->flags |= TERN_WR_INLINE;
	sqe->inline_len = 8;
}

static void inline_too_long(struct tern_sqe *sqe)
{
	put_imm(sqe, TERN_WR_SEND_WITH_IMM);
	sqe->num_sge = 0;
	sqe->flags |= TERN_WR_INLINE;
	sqe->inline_len = TERN_MAX_INLINE + 1;
}

static void write_with_unknown_flag(struct tern_sqe *sqe)
{
	put_imm(sqe, TERN_WR_WRITE_WITH_IMM);
	sqe->flags |= 1u << 31;
}

void imm_bad_fields(void)
{
	static void (*const spoil[])(struct tern_sqe *sqe) = {
		send_of_4_gib, send_inv_of_4_gib, write_of_8_gib, send_of_17_elements,
		inline_with_elements, inline_too_long, write_with_unknown_flag,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(spoil); i++)
		expect_bad(spoil[i], IBV_WC_LOC_QP_OP_ERR);
}
