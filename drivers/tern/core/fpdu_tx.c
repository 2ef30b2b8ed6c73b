// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * FPDU sender: RFC 5044 4, RFC 5041 5.2. A marker is written as soon as its
 * place is reached, because the FPDU always goes on after it, at least with its
 * CRC field. A marker due right after the CRC field belongs to the next FPDU
 * (RFC 5044 4.3).
 */
#include "fpdu_tx.h"

static void write_marker(u8 *out, u32 fpduptr)
{
	put_unaligned_be16(0, out);
	put_unaligned_be16((u16)fpduptr, out + 2);
}

static u32 put_marker(struct tern_fpdu_tx *tx, u8 *out)
{
	if (!tx->markers || tx->pos)
		return 0;
	write_marker(out, tx->fpdu_off);
	tern_fpdu_tx_move_on(tx, TERN_MARKER_SIZE);
	return TERN_MARKER_SIZE;
}

u32 tern_fpdu_mulpdu(u32 emss, bool markers)
{
	u32 frame = TERN_FPDU_LEN_SIZE + TERN_FPDU_CRC_SIZE + emss % 4;

	if (markers)
		frame += TERN_MARKER_SIZE *
			 DIV_ROUND_UP(emss, TERN_MARKER_SPACING);
	if (emss < frame + TERN_MULPDU_MIN)
		return TERN_MULPDU_MIN;
	return min_t(u32, emss - frame, TERN_ULPDU_MAX);
}

void tern_fpdu_tx_init(struct tern_fpdu_tx *tx, bool crc, bool markers,
		       u32 emss)
{
	memset(tx, 0, sizeof(*tx));
	tx->crc = crc;
	tx->markers = markers;
	tx->mulpdu = tern_fpdu_mulpdu(emss, markers);
}

/* does the next segment, with @payload bytes, complete the message? */
static bool completes(const struct tern_tx_msg *msg, u32 payload)
{
	return msg->tail_len ? tern_tx_msg_at_tail(msg) : msg->sent + payload == msg->len;
}

/*
 * Most headers are a tagged or an untagged one alone: the compiler copies a constant length
 * by itself. The CRC field will take the 4 bytes that are too much for a tagged one.
 */
static __always_inline void copy_hdr(const struct tern_tx_msg *msg, bool plain, u8 *hdr)
{
	static_assert(sizeof(struct tern_ddp_untagged) <=
		      sizeof(struct tern_ddp_tagged) + TERN_FPDU_CRC_SIZE);

	if (plain)
		memcpy(hdr, msg->hdr, sizeof(struct tern_ddp_untagged));
	else
		memcpy(hdr, msg->hdr, msg->hdr_len);
}

/* set what differs between segments: L, TO or MO (RFC 5041 5.2), and the tail */
static __always_inline u32 write_hdr(const struct tern_tx_msg *msg, bool plain, u8 *hdr)
{
	copy_hdr(msg, plain, hdr);
	if (msg->last_begun)
		hdr[0] |= TERN_DDP_LAST;
	if (hdr[0] & TERN_DDP_TAGGED) {
		u8 *to = hdr + offsetof(struct tern_ddp_tagged, to);

		put_unaligned_be64(get_unaligned_be64(to) + msg->sent, to);
	} else {
		put_unaligned_be32(msg->sent,
				   hdr + offsetof(struct tern_ddp_untagged, mo));
	}
	if (plain || !tern_tx_msg_at_tail(msg))
		return msg->hdr_len;
	memcpy(hdr + msg->hdr_len, msg->tail, msg->tail_len);
	return msg->hdr_len + msg->tail_len;
}

/* insert the one marker that may be due within @len or right after it */
static u32 split_head(const struct tern_fpdu_tx *tx, u8 *head, u32 len)
{
	u32 at = TERN_MARKER_SPACING - tx->pos;

	if (len < at)
		return len;
	memmove(head + at + TERN_MARKER_SIZE, head + at, len - at);
	write_marker(head + at, at);
	return len + TERN_MARKER_SIZE;
}

/* ULPDU_Length and headers; Return: their bytes */
static __always_inline u32 write_head(const struct tern_fpdu_tx *tx,
				      const struct tern_tx_msg *msg, bool plain, u8 *out)
{
	put_unaligned_be16((u16)tx->ulpdu_len, out);
	return TERN_FPDU_LEN_SIZE + write_hdr(msg, plain, out + TERN_FPDU_LEN_SIZE);
}

static u32 write_marked_head(struct tern_fpdu_tx *tx, const struct tern_tx_msg *msg, u8 *out)
{
	u32 front, len;

	tx->fpdu_off = 0;
	front = put_marker(tx, out);
	tx->fpdu_off = 0;
	len = split_head(tx, out + front, write_head(tx, msg, false, out + front));
	tern_fpdu_tx_move_on(tx, len);
	return front + len;
}

static noinline u32 begin_other(struct tern_fpdu_tx *tx, struct tern_tx_msg *msg, u8 *out)
{
	u32 len = tx->markers ? write_marked_head(tx, msg, out) :
				write_head(tx, msg, false, out);

	msg->sent += tx->left;
	return len;
}

/* most FPDUs: no marker, no RDMAP header, no tail */
static bool is_plain(const struct tern_fpdu_tx *tx, const struct tern_tx_msg *msg)
{
	return !tx->markers && !msg->tail_len &&
	       msg->hdr_len <= sizeof(struct tern_ddp_untagged);
}

u32 tern_fpdu_tx_begin(struct tern_fpdu_tx *tx, struct tern_tx_msg *msg,
		       u8 *out)
{
	u32 len;

	tx->crc_state = ~0U;
	msg->last_begun = completes(msg, tx->left);
	if (!is_plain(tx, msg))
		return begin_other(tx, msg, out);
	len = write_head(tx, msg, true, out);
	msg->sent += tx->left;
	return len;
}

u32 tern_fpdu_tx_marked(struct tern_fpdu_tx *tx, u32 len, u8 *out)
{
	tern_fpdu_tx_move_on(tx, len);
	return put_marker(tx, out);
}

u32 tern_fpdu_tx_pad(struct tern_fpdu_tx *tx, u8 *out)
{
	u32 n = tern_fpdu_pad(tx->ulpdu_len);

	if (!n)
		return 0;
	memset(out, 0, n);
	tern_fpdu_tx_move_on(tx, n);
	return n + put_marker(tx, out + n);
}
