/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A shell around the receiving core, for the model and the fuzz targets: it has memory,
 * receive buffers, Read slots and outstanding Reads, and calls the core in the order
 * that fpdu_rx.h and ddp.h require. Each region is a heap block of its own, so ASan
 * detects a byte placed outside it.
 */
#ifndef TERN_MODEL_SHELL_H
#define TERN_MODEL_SHELL_H

#include "util.h"

#define SHELL_REGIONS	8
#define SHELL_QUEUE	64

struct region {
	struct tern_mem_view view;
	u32 stag;
	u8 *data;
};

struct recv_buf {
	u32 len;
	u8 *data;
};

/* a request of the peer; @kind is what our Response has to be */
struct read_slot {
	enum tern_open_kind kind;
	struct tern_atomic atomic;
	u32 sink_stag;
	u64 sink_to;
	u32 size;
	u32 src_stag;
	u64 src_to;
};

struct open_read {
	struct tern_read_open open;
	u8 *sink;
};

/* a delivered Send or Immediate Data */
struct delivery {
	u8 opcode;
	u8 imm[TERN_IMM_LEN];
	u32 inv_stag;
	u32 len;
	struct recv_buf buf;
};

/**
 * struct shell - one end's receive half
 * @seg: the last segment
 * @ird: number of the peer's Reads and Atomics it has room for
 * @term: why the stream ended, or TERN_TERM_NONE
 * @bad_hdr: headers of the offending segment
 * @bad_hdr_len: their length; 0 when the FPDU itself was bad
 * @bad_len: ULPDU_Length of that segment
 * @accepted: FPDUs that passed all checks
 * @placed: payload bytes written
 * @on_deliver: called when a Send is complete; takes ownership of its buffer
 */
struct shell {
	struct tern_fpdu_rx rx;
	struct tern_ddp_rx ddp;
	struct tern_seg seg;
	struct region region[SHELL_REGIONS];
	struct recv_buf recv[SHELL_QUEUE];
	u32 recv_head, recv_tail;
	struct read_slot slot[SHELL_QUEUE];
	u32 slot_head, slot_tail;
	u32 ird;
	struct open_read read[SHELL_QUEUE];
	u32 read_head, read_tail;
	int term;
	u8 bad_hdr[TERN_HDR_MAX];
	u32 bad_hdr_len;
	u32 bad_len;
	bool got_term;
	struct tern_term_info peer_term;
	u32 accepted;
	u32 placed;
	void (*on_deliver)(void *ctx, const struct delivery *d);
	void *ctx;
};

void shell_init(struct shell *s, bool crc, bool markers, u8 version);
void shell_exit(struct shell *s);
void shell_add_region(struct shell *s, u32 at, u32 stag, u32 access, u64 base,
		      u32 len);
struct region *shell_find(struct shell *s, u32 stag);
void shell_post_recv(struct shell *s, u32 len);
/* @open->got is 0; an Atomic's old value is placed at @sink in CPU order */
void shell_open_request(struct shell *s, const struct tern_read_open *open,
			u8 *sink);
void shell_open_read(struct shell *s, u32 stag, u64 to, u32 len, u8 *sink);

/* the offending segment, for a Terminate */
struct tern_term_seg shell_bad_segment(const struct shell *s);

/**
 * shell_input() - process the whole FPDUs at the head of the stream
 * @s: shell
 * @buf: received bytes that are not consumed yet
 * @len: their number
 * @r: splits the input of verify() at random; NULL: one chunk
 *
 * Return: bytes consumed.
 */
u32 shell_input(struct shell *s, const u8 *buf, u32 len, struct rng *r);

#endif /* TERN_MODEL_SHELL_H */
