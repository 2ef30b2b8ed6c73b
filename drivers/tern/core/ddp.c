// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * DDP and RDMAP receive rules: RFC 5041 4, 5 and 7, RFC 5040 4 to 7. S2 to S18
 * are the checks in their order; the first failure is reported (RFC 5040 7.1).
 */
#include "ddp.h"

void tern_ddp_rx_init(struct tern_ddp_rx *rx, u8 version)
{
	u32 i;

	memset(rx, 0, sizeof(*rx));
	rx->version = version;
	for (i = 0; i < TERN_QN_COUNT; i++)
		rx->q[i].msn = 1;
}

static void parse_tagged(const u8 *hdr, struct tern_seg *seg)
{
	seg->stag = get_unaligned_be32(hdr +
				       offsetof(struct tern_ddp_tagged, stag));
	seg->to = get_unaligned_be64(hdr +
				     offsetof(struct tern_ddp_tagged, to));
}

static void parse_untagged(const u8 *hdr, struct tern_seg *seg)
{
	seg->inv_stag = get_unaligned_be32(hdr +
				offsetof(struct tern_ddp_untagged, inv_stag));
	seg->qn = get_unaligned_be32(hdr +
				     offsetof(struct tern_ddp_untagged, qn));
	seg->msn = get_unaligned_be32(hdr +
				      offsetof(struct tern_ddp_untagged, msn));
	seg->mo = get_unaligned_be32(hdr +
				     offsetof(struct tern_ddp_untagged, mo));
}

/* S2: the segment holds its DDP header */
static bool parse_hdr(const u8 *hdr, u32 hdr_len, u32 ulpdu_len,
		      struct tern_seg *seg)
{
	memset(seg, 0, sizeof(*seg));
	if (!hdr_len)
		return false;
	seg->tagged = hdr[0] & TERN_DDP_TAGGED;
	seg->last = hdr[0] & TERN_DDP_LAST;
	seg->version = hdr[0] & TERN_DDP_VERSION_MASK;
	seg->hdr_len = seg->tagged ? sizeof(struct tern_ddp_tagged) :
				     sizeof(struct tern_ddp_untagged);
	if (hdr_len < seg->hdr_len)
		return false;
	seg->rv = hdr[1] >> TERN_RDMAP_VERSION_SHIFT;
	seg->opcode = hdr[1] & TERN_RDMAP_OPCODE_MASK;
	seg->len = ulpdu_len - seg->hdr_len;
	if (seg->tagged)
		parse_tagged(hdr, seg);
	else
		parse_untagged(hdr, seg);
	return true;
}

int tern_ddp_segment(const struct tern_ddp_rx *rx, const u8 *hdr, u32 hdr_len,
		     u32 ulpdu_len, struct tern_seg *seg)
{
	/* S2: no code fits a short header, so 0/2/07 (Q10) */
	if (!parse_hdr(hdr, hdr_len, ulpdu_len, seg))
		return TERN_TERM_RO_STREAM;
	/* S3: the DDP version is the connection's */
	if (seg->version != rx->version)
		return seg->tagged ? TERN_TERM_DT_VERSION :
				     TERN_TERM_DU_VERSION;
	if (seg->tagged)
		return TERN_TERM_NONE;
	/* S4: queue 3 belongs to RFC 7306 */
	if (seg->qn >= TERN_QN_RESPONSE)
		return TERN_TERM_DU_QN;
	seg->first = !rx->q[seg->qn].open;
	/* S5: TCP keeps the order, so only one MSN can be next */
	if (seg->msn != rx->q[seg->qn].msn)
		return TERN_TERM_DU_MSN_RANGE;
	return TERN_TERM_NONE;
}

int tern_ddp_untagged(const struct tern_ddp_rx *rx, const struct tern_seg *seg,
		      bool have_buffer, u64 buf_len)
{
	u64 end = (u64)seg->mo + seg->len;

	/* S6: there is a buffer */
	if (!have_buffer)
		return TERN_TERM_DU_NO_BUFFER;
	/*
	 * S7, for empty segments too (Q9): a skipped MO would expose the
	 * buffer's old bytes as data.
	 */
	if (seg->mo != rx->q[seg->qn].mo)
		return TERN_TERM_DU_MO;
	/* S8; DDP-045: a message has less than 2^32 bytes */
	if (end > buf_len || end > ~(u32)0)
		return TERN_TERM_DU_TOO_LONG;
	return TERN_TERM_NONE;
}

/*
 * All segments of a message have the same opcode and STag to invalidate (Q10).
 * Opcodes that invalidate nothing ignore that field (RDMAP-017).
 */
static bool same_message(const struct tern_ddp_rx *rx,
			 const struct tern_seg *seg)
{
	const struct tern_ddp_queue *q = &rx->q[seg->qn];

	if (seg->tagged)
		return !rx->tagged_open || seg->opcode == rx->tagged_opcode;
	if (!q->open)
		return true;
	return seg->opcode == q->opcode &&
	       (!seg->row->has_inv || seg->inv_stag == q->inv_stag);
}

/* S10: the opcode is known, fits tagged or queue, and stays in a message */
static bool opcode_fits(const struct tern_ddp_rx *rx,
			const struct tern_seg *seg)
{
	if (!seg->row->name || seg->row->tagged != seg->tagged)
		return false;
	if (!seg->tagged && seg->row->qn != seg->qn)
		return false;
	return same_message(rx, seg);
}

/* S16: a control message is one segment of a fixed size */
static bool control_fits(const struct tern_seg *seg)
{
	if (!seg->last || seg->mo)
		return false;
	if (seg->opcode == TERN_OP_TERMINATE)
		return seg->len >= sizeof(struct tern_terminate) &&
		       seg->len <= TERN_TERMINATE_MAX;
	return seg->len == seg->row->hdr_len;
}

static void parse_read_req(const u8 *body, struct tern_seg *seg)
{
	seg->rreq.sink_stag = get_unaligned_be32(body +
				offsetof(struct tern_read_req, sink_stag));
	seg->rreq.sink_to = get_unaligned_be64(body +
				offsetof(struct tern_read_req, sink_to));
	seg->rreq.size = get_unaligned_be32(body +
				offsetof(struct tern_read_req, size));
	seg->rreq.src_stag = get_unaligned_be32(body +
				offsetof(struct tern_read_req, src_stag));
	seg->rreq.src_to = get_unaligned_be64(body +
				offsetof(struct tern_read_req, src_to));
}

int tern_rdmap_segment(const struct tern_ddp_rx *rx, const u8 *hdr,
		       u32 hdr_len, struct tern_seg *seg)
{
	seg->row = &tern_op_table[seg->opcode];
	/* S9: RV is the connection's version, like DV */
	if (seg->rv != rx->version)
		return TERN_TERM_RO_VERSION;
	if (!opcode_fits(rx, seg))
		return TERN_TERM_RO_OPCODE;
	if (seg->row->payload)
		return TERN_TERM_NONE;
	if (!control_fits(seg) || hdr_len < seg->hdr_len + seg->row->hdr_len)
		return TERN_TERM_RO_STREAM;
	if (seg->opcode == TERN_OP_READ_REQ)
		parse_read_req(hdr + seg->hdr_len, seg);
	seg->hdr_len += seg->row->hdr_len;
	return TERN_TERM_NONE;
}

void tern_ddp_advance(struct tern_ddp_rx *rx, const struct tern_seg *seg)
{
	struct tern_ddp_queue *q = &rx->q[seg->qn];

	if (seg->tagged) {
		rx->tagged_open = !seg->last;
		rx->tagged_opcode = seg->opcode;
		return;
	}
	q->open = !seg->last;
	if (seg->last) {
		/* DDP-040: 0xFFFFFFFF is followed by 0 */
		q->msn++;
		q->mo = 0;
		return;
	}
	q->mo += seg->len;
	q->opcode = seg->opcode;
	q->inv_stag = seg->inv_stag;
}
