/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two ends back to back. Each has a sending core, a shell around a receiving
 * one, a pipe towards the other end that hands bytes over in random chunks,
 * and for each of its regions a shadow: what memory must hold, kept FPDU by
 * FPDU from what the sender meant.
 */
#ifndef TERN_MODEL_WORLD_H
#define TERN_MODEL_WORLD_H

#include "shell.h"

#define WORLD_ORD	4

/* the regions of each end */
enum region_kind {
	R_BIG,			/* all rights */
	R_TOP,			/* all rights, ends at 2^64 */
	R_READ_ONLY,
	R_WRITE_ONLY,
	R_FOREIGN,		/* another PD's */
	R_INVALIDATABLE,	/* remote write, until a Send takes it away */
	R_SINK,			/* local write only */
	R_COUNT,
};

/**
 * struct msg - a message on its way
 * @tx: for fpdu_tx
 * @opcode: what it is
 * @payload: its own copy
 * @target: tagged: the peer's region
 * @target_off: and offset in it
 * @inv_stag: Send with Invalidate
 * @next: in its lane
 */
struct msg {
	struct tern_tx_msg tx;
	u8 opcode;
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
 * @lane: messages to send; segments of the two models may interleave
 * @sends: Sends in the order sent, for comparison at delivery
 * @pipe: bytes to the peer: @pipe_len written, @visible arrived, @used taken
 * @rec: one per FPDU in the pipe; @applied of them are in the shadow
 * @inv_out: a Send that takes the peer's R_INVALIDATABLE away is on its way
 * @inv_writes: Writes into that region that are not in the pipe yet
 */
struct host {
	struct world *world;
	struct host *peer;
	struct shell sh;
	struct tern_fpdu_tx tx;
	u8 version;
	u8 *shadow[R_COUNT];
	struct msg *lane[LANES];
	struct msg *all[4000];
	u32 all_count;
	struct msg *sends[4000];
	u32 sends_count, sends_seen;
	u32 send_msn, read_msn;
	u8 *pipe;
	u32 pipe_len, visible, used;
	struct record rec[40000];
	u32 rec_count, applied;
	bool inv_out;
	u32 inv_writes;
};

struct world {
	struct rng r;
	struct host end[2];
	const char *failed;
	u32 failed_line;
};

#define WORLD_PIPE	(8u << 20)

/* the first failure of a run is kept; the run then stops */
#define MUST(w, cond) do {						\
	if (!(cond) && !(w)->failed) {					\
		(w)->failed = #cond;					\
		(w)->failed_line = __LINE__;				\
	}								\
} while (0)

/**
 * struct setup - how the two directions are framed
 * @crc: for both
 * @markers: from end 0 to 1, from 1 to 0
 * @version: DDP and RDMAP version
 * @late_msn: counters start short of their wrap
 */
struct setup {
	bool crc;
	bool markers[2];
	u8 version;
	bool late_msn;
};

struct world *world_new(u64 seed, const struct setup *how);
void world_free(struct world *w);

void host_new_message(struct host *h);
void host_queue(struct host *h, struct msg *m);
struct msg *host_new_msg(struct host *h, u8 opcode, u32 len);
void host_emit(struct host *h);
void host_push(struct host *h, const u8 *octets, u32 len);
void host_arrive(struct host *from);

/* random traffic for @steps steps */
void world_run(struct world *w, u32 steps);
/* no new messages; what is there arrives */
void world_drain(struct world *w);
/* everything arrived and memory is as meant */
void world_check_done(struct world *w);
void world_check_memory(struct world *w);

#endif /* TERN_MODEL_WORLD_H */
