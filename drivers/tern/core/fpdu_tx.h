/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * FPDU sender: RFC 5044 4, RFC 5041 5.2. Cuts a message into FPDUs no larger
 * than MULPDU and writes what surrounds the payload. For each FPDU:
 *
 *	size = tern_fpdu_tx_next()	bytes on the wire
 *	n = tern_fpdu_tx_begin()	marker, length, headers
 *	while ((run = tern_fpdu_tx_run()))
 *		the caller appends @run bytes of payload
 *		n = tern_fpdu_tx_payload()	the next marker, if due
 *	n = tern_fpdu_tx_pad()		pad, and the next marker, if due
 *	tern_fpdu_tx_sum()		all of these bytes, if @crc is on
 *	n = tern_fpdu_tx_end()		the CRC field
 *
 * One call to sum an FPDU costs less than one for each part. The owner's lock guards
 * the state.
 */
#ifndef TERN_CORE_FPDU_TX_H
#define TERN_CORE_FPDU_TX_H

#include "wire.h"

/* most bytes that begin() writes: two markers, length, headers */
#define TERN_FPDU_TX_HEAD	(TERN_FPDU_LEN_SIZE + TERN_HDR_MAX + 2 * TERN_MARKER_SIZE)
/* most bytes that pad() and end() write: pad, marker, CRC */
#define TERN_FPDU_TX_TAIL	(3 + TERN_MARKER_SIZE + TERN_FPDU_CRC_SIZE)

/**
 * struct tern_fpdu_tx - one direction's send framing
 * @crc: CRC is on; else the field is sent as 0 (Q28)
 * @markers: the peer wants markers
 * @mulpdu: largest ULPDU now, TERN_MULPDU_MIN..TERN_ULPDU_MAX; may change
 *	between two FPDUs
 * @pos: with markers: stream position modulo 512 of the next byte, markers included
 * @fpdu_off: with markers: bytes from ULPDU_Length to the next byte, markers included
 * @left: payload bytes of the current FPDU, or the next one, still to come
 * @ulpdu_len: of that FPDU
 * @crc_state: running CRC of the current FPDU
 */
struct tern_fpdu_tx {
	bool crc;
	bool markers;
	u32 mulpdu;
	u32 pos;
	u32 fpdu_off;
	u32 left;
	u32 ulpdu_len;
	u32 crc_state;
};

/**
 * struct tern_tx_msg - an RDMAP message to send
 * @hdr: DDP and RDMAP headers of the first segment, as
 *	tern_rdmap_build_*() wrote them; L bit, TO and MO are set per segment
 * @hdr_len: bytes at @hdr; 14, 18 or more
 * @len: payload bytes in all, 0..2^32-1
 * @sent: payload bytes in FPDUs that were begun
 * @last_begun: the FPDU that carries the L bit was begun
 * @tail_len: bytes at @tail, 0 or TERN_IMM_LEN. With a tail @hdr_len is 18, and @len
 *	at most 2^32-9
 * @tail: immediate data of a Send: the segment with L, after the payload's
 *
 * The message is finished when the FPDU that carries its L bit is ended; a
 * message with an RDMAP header (Read Request, Terminate) has no payload. Segments
 * of payload have no L when a tail follows: the draft's section 5.3, "The immediate
 * data MUST be the only data allowed in the ULPDU with the L bit set to 1".
 */
struct tern_tx_msg {
	u8 hdr[TERN_HDR_MAX + 2];
	u32 hdr_len;
	u32 len;
	u32 sent;
	bool last_begun;
	u8 tail_len;
	u8 tail[TERN_IMM_LEN];
};

/**
 * tern_fpdu_mulpdu() - MULPDU from the effective MSS
 * @emss: TCP's current MSS, in bytes
 * @markers: markers are generated
 *
 * RFC 5044 4.5; clamped to TERN_MULPDU_MIN..TERN_ULPDU_MAX (MPA-006, MPA-051,
 * MPA-052, MPA-056).
 */
u32 tern_fpdu_mulpdu(u32 emss, bool markers);

/**
 * tern_fpdu_mulpdu_long() - MULPDU where both ends agreed on long FPDUs
 * @emss: TCP's current MSS, in bytes
 * @markers: markers are generated
 * @payload: bytes of a Send that an FPDU may have, at most TERN_ULPDU_MAX with their headers
 *
 * What fits into one segment is sent in one FPDU, however small @payload is: shorter FPDUs
 * would be placed no sooner.
 */
static inline u32 tern_fpdu_mulpdu_long(u32 emss, bool markers, u32 payload)
{
	u32 mulpdu = payload + (u32)sizeof(struct tern_ddp_untagged);

	/* tern_fpdu_mulpdu() is at most @emss, or TERN_MULPDU_MIN */
	if (mulpdu >= max_t(u32, emss, TERN_MULPDU_MIN))
		return mulpdu;
	return max(mulpdu, tern_fpdu_mulpdu(emss, markers));
}

/* start of Full Operation */
void tern_fpdu_tx_init(struct tern_fpdu_tx *tx, bool crc, bool markers,
		       u32 emss);

/**
 * tern_fpdu_tx_begin() - start the next FPDU of a message
 * @tx: state after tern_fpdu_tx_next()
 * @msg: the message; @msg->sent moves by the payload of this FPDU
 * @out: room for TERN_FPDU_TX_HEAD bytes
 *
 * Return: bytes written to @out.
 */
u32 tern_fpdu_tx_begin(struct tern_fpdu_tx *tx, struct tern_tx_msg *msg,
		       u8 *out);

/**
 * tern_fpdu_tx_run() - payload bytes up to the next marker
 * @tx: state
 *
 * Return: 0 when the payload is complete, else the bytes up to the next
 * marker or the end.
 */
static inline u32 tern_fpdu_tx_run(const struct tern_fpdu_tx *tx)
{
	if (!tx->markers)
		return tx->left;
	return min(tx->left, TERN_MARKER_SPACING - tx->pos);
}

/* @len bytes were written; only markers depend on where the next byte is */
static inline void tern_fpdu_tx_move_on(struct tern_fpdu_tx *tx, u32 len)
{
	if (!tx->markers)
		return;
	tx->pos = (tx->pos + len) & (TERN_MARKER_SPACING - 1);
	tx->fpdu_off += len;
}

/* for tern_fpdu_tx_payload() */
u32 tern_fpdu_tx_marked(struct tern_fpdu_tx *tx, u32 len, u8 *out);

/**
 * tern_fpdu_tx_payload() - move over payload that was copied
 * @tx: state
 * @len: 1..tern_fpdu_tx_run()
 * @out: room for TERN_MARKER_SIZE bytes right after it
 *
 * Return: bytes written to @out: 0 or TERN_MARKER_SIZE.
 */
static inline u32 tern_fpdu_tx_payload(struct tern_fpdu_tx *tx, u32 len, u8 *out)
{
	tx->left -= len;
	return tx->markers ? tern_fpdu_tx_marked(tx, len, out) : 0;
}

/**
 * tern_fpdu_tx_pad() - finish what the CRC covers
 * @tx: state; tern_fpdu_tx_run() is 0
 * @out: room for 3 + TERN_MARKER_SIZE bytes
 *
 * Return: bytes written to @out.
 */
u32 tern_fpdu_tx_pad(struct tern_fpdu_tx *tx, u8 *out);

/**
 * tern_fpdu_tx_sum() - add bytes of the FPDU to its CRC
 * @tx: state; @tx->crc is set
 * @data: the next bytes as sent, from begin()'s first to pad()'s last
 * @len: bytes
 */
static inline void tern_fpdu_tx_sum(struct tern_fpdu_tx *tx, const u8 *data, u32 len)
{
	tx->crc_state = crc32c(tx->crc_state, data, len);
}

/**
 * tern_fpdu_tx_end() - write the CRC field
 * @tx: state; all bytes were summed, or @tx->crc is not set
 * @out: room for TERN_FPDU_CRC_SIZE bytes
 *
 * Return: TERN_FPDU_CRC_SIZE.
 */
static inline u32 tern_fpdu_tx_end(struct tern_fpdu_tx *tx, u8 *out)
{
	put_unaligned_le32(tx->crc ? ~tx->crc_state : 0, out);
	tern_fpdu_tx_move_on(tx, TERN_FPDU_CRC_SIZE);
	return TERN_FPDU_CRC_SIZE;
}

/**
 * tern_fpdu_tx_finish() - pad(), sum() and end() of an FPDU in contiguous memory
 * @tx: state; tern_fpdu_tx_run() is 0
 * @fpdu: its first byte; room for TERN_FPDU_TX_TAIL more
 * @len: bytes of it so far
 *
 * Return: bytes of the FPDU.
 */
static inline u32 tern_fpdu_tx_finish(struct tern_fpdu_tx *tx, u8 *fpdu, u32 len)
{
	if (tern_fpdu_pad(tx->ulpdu_len))
		len += tern_fpdu_tx_pad(tx, fpdu + len);
	if (tx->crc)
		tern_fpdu_tx_sum(tx, fpdu, len);
	return len + tern_fpdu_tx_end(tx, fpdu + len);
}

/* is the next segment the tail? It follows the payload, or is the only one */
static inline bool tern_tx_msg_at_tail(const struct tern_tx_msg *msg)
{
	return msg->tail_len && msg->sent == msg->len;
}

/* bytes of the next segment, without its payload */
static inline u32 tern_tx_msg_head(const struct tern_tx_msg *msg)
{
	return msg->hdr_len + (tern_tx_msg_at_tail(msg) ? msg->tail_len : 0);
}

/* payload bytes of the next segment: as many as MULPDU allows (RFC 5044 4.5) */
static inline u32 tern_tx_msg_next(const struct tern_fpdu_tx *tx,
				   const struct tern_tx_msg *msg)
{
	return min(msg->len - msg->sent, tx->mulpdu - msg->hdr_len);
}

/**
 * tern_fpdu_tx_next() - decide on the next FPDU of @msg
 * @tx: state between two FPDUs; may be asked again before tern_fpdu_tx_begin()
 * @msg: the message
 *
 * Return: bytes that it takes on the wire.
 */
static inline u32 tern_fpdu_tx_next(struct tern_fpdu_tx *tx, const struct tern_tx_msg *msg)
{
	tx->left = tern_tx_msg_next(tx, msg);
	tx->ulpdu_len = tern_tx_msg_head(msg) + tx->left;
	return tern_fpdu_wire_len(tx->pos, tx->markers, tx->ulpdu_len);
}

/* all segments of @msg were begun */
static inline bool tern_tx_msg_done(const struct tern_tx_msg *msg)
{
	return msg->last_begun;
}

/* forget the one segment of @msg that was begun */
static inline void tern_tx_msg_rewind(struct tern_tx_msg *msg)
{
	msg->sent = 0;
	msg->last_begun = false;
}

#endif /* TERN_CORE_FPDU_TX_H */
