/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The receive engine: takes FPDUs out of the TCP receive queue. */
#ifndef TERN_RX_H
#define TERN_RX_H

#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include "core/ddp.h"
#include "core/fpdu_rx.h"
#include "core/series.h"
#include "mem/sgl.h"
#include "mem/slot.h"
#include "skb_cursor.h"

struct tern_stream;

/**
 * struct tern_rx - receive engine of one stream; guarded by the socket lock
 * @fpdu: framing
 * @ddp: MSN, MO and message state
 * @at: where the engine reads in the receive queue: the first byte of the next FPDU.
 *	It has a position only inside tern_rx_run()
 * @cur: the current FPDU; on the stack it would be zeroed each time
 * @seg: its segment; the same
 * @series: the FPDU that may follow
 * @sink: where its payload goes, NULL: it is a Write's
 * @whole: first byte of @cur if it is one piece, without markers; else NULL
 * @payload: if @whole is NULL: follows @at through @cur: where placement reads
 * @write_len: bytes of the Write message that the last segments were of, else 0
 * @skip: bytes of a handled FPDU still to be consumed from the queue
 * @want: bytes of the FPDU at the head of the queue that have to be there to go on
 * @budget: what this run may still take, see tern_rx_charge()
 * @more: the last run ended by its budget; another one is queued
 * @fence: responder: no valid FPDU came yet
 * @rtr_accept: see struct tern_mpa_params
 * @rtr: the RTR that opened the fence, or TERN_MPA_RTR_NONE
 * @sgl: where the next byte of the Send under reassembly goes
 * @slot: the STag that payload was last placed in
 * @eof: the peer's FIN was handled
 * @messages: RDMAP messages that were delivered
 * @reply: the send engine has something to do: a Response or an answer, or Reads that waited
 */
struct tern_rx {
	struct tern_fpdu_rx fpdu;
	struct tern_ddp_rx ddp;
	struct tern_skb_cursor at;
	struct tern_fpdu cur;
	struct tern_seg seg;
	struct tern_series series;
	struct tern_sgl *sink;
	const u8 *whole;
	struct tern_skb_cursor payload;
	u32 write_len;
	u32 skip;
	u32 want;
	u32 budget;
	bool more;
	bool fence;
	u8 rtr_accept;
	u8 rtr;
	struct tern_sgl sgl;
	struct tern_mem_slot slot;
	u64 messages;
	bool eof;
	bool reply;
};

void tern_rx_init(struct tern_stream *s);

/*
 * What one run takes: a peer that fills a hole in TCP's sequence hands over a whole window at
 * once. In bytes; a short FPDU costs as much as one of TERN_RX_LEAST, so that a run has some
 * 100,000 instructions. A buffer has its cost, too, however few bytes it has.
 */
#define TERN_RX_BUDGET	SZ_256K
#define TERN_RX_LEAST	2048
#define TERN_RX_SKB	256

/* FPDUs that cost so much in all were taken */
static inline void tern_rx_charge(struct tern_rx *rx, u32 cost)
{
	rx->budget -= min(rx->budget, cost);
}

/**
 * tern_rx_run() - process the whole FPDUs in the receive queue
 * @s: attached
 *
 * What is left after TERN_RX_BUDGET is taken in another run, which this one queues. Sets
 * @s->rx.reply when the send engine has something new to do. Context: the
 * socket lock is held, BH are off; does not sleep.
 */
void tern_rx_run(struct tern_stream *s);

#endif /* TERN_RX_H */
