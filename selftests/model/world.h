/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Two ends back to back. Each has a sending core, a shell around a receiving core, a
 * pipe to the other end that delivers bytes in random chunks, and for each of its
 * regions a shadow: the expected memory, updated for each accepted FPDU from the
 * sender's message.
 */
#ifndef TERN_MODEL_WORLD_H
#define TERN_MODEL_WORLD_H

#include "../test.h"
#include "shell.h"

#define WORLD_ORD	4

/* the regions of each end */
enum region_kind {
	R_BIG,			/* all rights */
	R_TOP,			/* all rights, ends at 2^64 */
	R_READ_ONLY,
	R_WRITE_ONLY,
	R_FOREIGN,		/* another PD's */
	R_INVALIDATABLE,	/* remote write, until a Send invalidates it */
	R_SINK,			/* local write only */
	R_COUNT,
};

/**
 * struct msg - a message being sent
 * @tx: state of the sending core
 * @opcode: RDMAP opcode
 * @payload: copy of the data
 * @target: the peer's region, if tagged
 * @target_off: offset in @target
 * @inv_stag: STag of a Send with Invalidate
 * @imm: immediate data
 * @next: next message of the lane
 */
struct msg {
	struct tern_tx_msg tx;
	u8 opcode;
	u8 imm[TERN_IMM_LEN];
	u8 *payload;
	struct region *target;
	u32 target_off;
	u32 inv_stag;
	struct msg *next;
};

/* an FPDU in the pipe: payload bytes @off to @off + @len of @msg */
struct record {
	u32 end;
	struct msg *msg;
	u32 off;
	u32 len;
};

enum lane { LANE_UNTAGGED, LANE_TAGGED, LANES };

/**
 * struct host - one end
 * @lane: messages to send, tagged and untagged; their segments may interleave
 * @sends: Sends in the order sent, for comparison at delivery
 * @pipe: bytes to the peer: @pipe_len written, @visible arrived, @used consumed
 * @rec: one for each FPDU in the pipe; @applied of them are in the shadow
 * @inv_out: a Send that invalidates the peer's R_INVALIDATABLE is outstanding
 * @inv_writes: Writes into that region that are not in the pipe yet
 * @responses: number of Responses to the peer's requests so far
 * @last_response: the latest of them, or NULL
 */
struct host {
	struct world *world;
	struct host *peer;
	struct shell sh;
	struct tern_fpdu_tx tx;
	struct tern_rdmap_version version;
	u8 sets;
	u8 *shadow[R_COUNT];
	struct msg *lane[LANES];
	struct msg *all[4000];
	u32 all_count;
	struct msg *sends[4000];
	u32 sends_count, sends_seen;
	u32 send_msn, read_msn, response_msn;
	u8 *pipe;
	u32 pipe_len, visible, used;
	struct record rec[40000];
	u32 rec_count, applied;
	bool inv_out;
	u32 inv_writes;
	u32 responses;
	struct msg *last_response;
};

struct world {
	struct rng r;
	struct host end[2];
};

#define WORLD_PIPE	(8u << 20)

/**
 * struct setup - framing and opcodes of the two directions
 * @crc: for both directions
 * @markers: from end 0 to 1, from 1 to 0
 * @version: DDP and RDMAP version of the connection
 * @sets: enum tern_op_set: what is used beside the base; RV is 2 with TERN_OPS_V2
 * @late_msn: message sequence numbers start shortly before they wrap
 */
struct setup {
	bool crc;
	bool markers[2];
	u8 version;
	u8 sets;
	bool late_msn;
};

struct world *world_new(u64 seed, const struct setup *how);
void world_free(struct world *w);

void host_new_message(struct host *h);
void host_queue(struct host *h, struct msg *m);
struct msg *host_new_msg(struct host *h, u8 opcode, u32 len);
void host_emit(struct host *h);
void host_push(struct host *h, const u8 *bytes, u32 len);
void host_arrive(struct host *from);

/* random traffic for @steps steps, or until a check fails */
void world_run(struct world *w, u32 steps);
/* send and deliver all messages, without new ones */
void world_drain(struct world *w);
/* check that everything arrived and memory matches the shadow */
void world_check_done(struct world *w);
void world_check_memory(struct world *w);

#endif /* TERN_MODEL_WORLD_H */
