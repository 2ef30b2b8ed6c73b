// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * DDP and RDMAP receive rules: RFC 5041 4, 5 and 7, RFC 5040 4 to 7, RFC 7306 4 to
 * 8, RDMAP version 2. S2 to S20 are the checks in their order; the first failure is
 * reported (RFC 5040 7.1).
 */
#include "ddp.h"

void tern_ddp_rx_init(struct tern_ddp_rx *rx, u8 version)
{
	u32 i;

	memset(rx, 0, sizeof(*rx));
	rx->dv = version;
	rx->rv = version;
	rx->sets = TERN_OPS_BASE;
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

/* the opcode is unknown, or not taken now: no name, no set */
static const struct tern_op_row not_taken;

static const struct tern_op_row *find_row(const struct tern_ddp_rx *rx,
					  u8 rdmap_ctrl, u8 *opcode)
{
	const struct tern_op_row *row = tern_rdmap_opcode(rdmap_ctrl, rx->rv,
							  opcode);

	return row->set & rx->sets ? row : &not_taken;
}

/* S2: the segment holds its DDP header */
static bool parse_hdr(const struct tern_ddp_rx *rx, const u8 *hdr, u32 hdr_len,
		      u32 ulpdu_len, struct tern_seg *seg)
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
	seg->ctrl[0] = hdr[0] & (u8)~TERN_DDP_LAST;
	seg->ctrl[1] = hdr[1];
	seg->row = find_row(rx, hdr[1], &seg->opcode);
	seg->len = ulpdu_len - seg->hdr_len;
	if (seg->tagged)
		parse_tagged(hdr, seg);
	else
		parse_untagged(hdr, seg);
	return true;
}

/* queue 3 has the Responses of RFC 7306 and RDMAP version 2 */
static bool has_queue(const struct tern_ddp_rx *rx, u32 qn)
{
	return qn < TERN_QN_RESPONSE ||
	       (qn == TERN_QN_RESPONSE && rx->sets != TERN_OPS_BASE);
}

int tern_ddp_segment(const struct tern_ddp_rx *rx, const u8 *hdr, u32 hdr_len,
		     u32 ulpdu_len, struct tern_seg *seg)
{
	/* S2: no code fits a short header, so 0/2/07 (Q10) */
	if (!parse_hdr(rx, hdr, hdr_len, ulpdu_len, seg))
		return TERN_TERM_RO_STREAM;
	/* S3: the DDP version is the connection's */
	if (seg->version != rx->dv)
		return seg->tagged ? TERN_TERM_DT_VERSION :
				     TERN_TERM_DU_VERSION;
	if (seg->tagged)
		return TERN_TERM_NONE;
	/* S4 */
	if (!has_queue(rx, seg->qn))
		return TERN_TERM_DU_QN;
	seg->first = !rx->q[seg->qn].open;
	/* S5: TCP keeps the order, so only one MSN can be next */
	if (seg->msn != rx->q[seg->qn].msn)
		return TERN_TERM_DU_MSN_RANGE;
	return TERN_TERM_NONE;
}

/* a series: what was found out of one segment holds for the next */
static bool has_series(const struct tern_ddp_rx *rx, const struct tern_seg *seg)
{
	return seg->row && seg->row->payload && !seg->row->imm &&
	       seg->rv == rx->rv && seg->row->set & rx->sets;
}

/* S5, S7 and S10 of an untagged segment like the one before */
static bool is_next(const struct tern_ddp_rx *rx, struct tern_seg *seg)
{
	const struct tern_ddp_queue *q = &rx->q[seg->row->qn];

	if (seg->qn != seg->row->qn || seg->msn != q->msn || seg->mo != q->mo)
		return false;
	seg->first = !q->open;
	return seg->first || !seg->row->has_inv || seg->inv_stag == q->inv_stag;
}

bool tern_ddp_repeats(const struct tern_ddp_rx *rx, const u8 *hdr, u32 hdr_len,
		      u32 ulpdu_len, struct tern_seg *seg)
{
	if (hdr_len < sizeof(struct tern_ddp_untagged) || !has_series(rx, seg) ||
	    (hdr[0] & (u8)~TERN_DDP_LAST) != seg->ctrl[0] || hdr[1] != seg->ctrl[1])
		return false;
	seg->last = hdr[0] & TERN_DDP_LAST;
	seg->len = ulpdu_len - seg->hdr_len;
	if (seg->tagged) {
		parse_tagged(hdr, seg);
		return true;
	}
	parse_untagged(hdr, seg);
	return is_next(rx, seg);
}

/*
 * A request's body. What is no request here has the longest slot, so that S10 refuses it
 * by its opcode: the peer may try an atomic to find out (RFC 7306 1.1).
 */
static u32 request_len(const struct tern_seg *seg)
{
	return seg->row->qn == TERN_QN_READ_REQ ? seg->row->hdr_len :
						  sizeof(struct tern_atomic_req);
}

enum tern_slot tern_ddp_slot(const struct tern_seg *seg, u64 *len)
{
	*len = 0;
	switch (seg->qn) {
	case TERN_QN_SEND:
		return TERN_SLOT_RECV;
	case TERN_QN_READ_REQ:
		*len = request_len(seg);
		return seg->row->name && seg->opcode == TERN_OP_ATOMIC_REQ ?
		       TERN_SLOT_ATOMIC : TERN_SLOT_READ;
	case TERN_QN_TERMINATE:
		*len = TERN_TERMINATE_MAX;
		return TERN_SLOT_TERMINATE;
	default:
		return TERN_SLOT_RESPONSE;
	}
}

/* is it immediate data: not for the buffer, but for the completion? */
static bool is_immediate(const struct tern_seg *seg)
{
	return seg->qn == TERN_QN_SEND && seg->row->imm &&
	       (seg->last || !seg->row->payload);
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
	if ((end > buf_len && !is_immediate(seg)) || end > ~(u32)0)
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

/* S16: the draft's 5.3: the segment with L has the immediate data, and only that */
static int parse_imm(const u8 *body, u32 room, struct tern_seg *seg)
{
	if (seg->len != TERN_IMM_LEN || room < TERN_IMM_LEN)
		return TERN_TERM_RO_STREAM;
	memcpy(seg->imm, body, TERN_IMM_LEN);
	seg->hdr_len += TERN_IMM_LEN;
	seg->len = 0;
	return TERN_TERM_NONE;
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

static void parse_read_req_v2(const u8 *body, struct tern_seg *seg)
{
	seg->rreq.size = get_unaligned_be32(body +
				offsetof(struct tern_read_req_v2, size));
	seg->rreq.src_stag = get_unaligned_be32(body +
				offsetof(struct tern_read_req_v2, src_stag));
	seg->rreq.src_to = get_unaligned_be64(body +
				offsetof(struct tern_read_req_v2, src_to));
}

static u64 atomic_operand(const u8 *body, u32 off)
{
	return get_unaligned_be64(body + off);
}

/* S19: code 1, a Swap, is reserved (RFC 7306 figure 5) */
static int parse_atomic_req(const u8 *body, struct tern_seg *seg)
{
	struct tern_atomic *a = &seg->atomic;

	a->op = get_unaligned_be32(body + offsetof(struct tern_atomic_req, op)) &
		TERN_ATOMIC_OP_MASK;
	a->id = get_unaligned_be32(body + offsetof(struct tern_atomic_req, id));
	a->stag = get_unaligned_be32(body +
				     offsetof(struct tern_atomic_req, stag));
	a->to = atomic_operand(body, offsetof(struct tern_atomic_req, to));
	a->data = atomic_operand(body, offsetof(struct tern_atomic_req, data));
	a->data_mask = atomic_operand(body, offsetof(struct tern_atomic_req,
						     data_mask));
	a->compare = atomic_operand(body, offsetof(struct tern_atomic_req,
						   compare));
	a->compare_mask = atomic_operand(body, offsetof(struct tern_atomic_req,
							compare_mask));
	return a->op == TERN_ATOMIC_FETCH_ADD || a->op == TERN_ATOMIC_CMP_SWAP ?
	       TERN_TERM_NONE : TERN_TERM_RO_OPCODE;
}

static void parse_atomic_resp(const u8 *body, struct tern_seg *seg)
{
	seg->aresp.id = get_unaligned_be32(body +
				offsetof(struct tern_atomic_resp, id));
	seg->aresp.old = get_unaligned_be64(body +
				offsetof(struct tern_atomic_resp, old));
}

/* Return: TERN_TERM_NONE or, for an Atomic Request, the answer of S19 */
static int parse_control(const u8 *body, struct tern_seg *seg)
{
	switch (seg->opcode) {
	case TERN_OP_READ_REQ:
		parse_read_req(body, seg);
		break;
	case TERN_OP_READ_REQ_V2:
		parse_read_req_v2(body, seg);
		break;
	case TERN_OP_ATOMIC_REQ:
		return parse_atomic_req(body, seg);
	case TERN_OP_ATOMIC_RESP:
		parse_atomic_resp(body, seg);
		break;
	}
	return TERN_TERM_NONE;
}

int tern_rdmap_segment(const struct tern_ddp_rx *rx, const u8 *hdr,
		       u32 hdr_len, struct tern_seg *seg)
{
	const u8 *body = hdr + seg->hdr_len;
	u32 room = hdr_len - seg->hdr_len;

	/* S9: RV is the one in force: of the connection, or raised by a hello */
	if (seg->rv != rx->rv)
		return TERN_TERM_RO_VERSION;
	if (!opcode_fits(rx, seg))
		return TERN_TERM_RO_OPCODE;
	if (seg->row->payload && !is_immediate(seg))
		return TERN_TERM_NONE;
	if (!seg->row->payload && !control_fits(seg))
		return TERN_TERM_RO_STREAM;
	if (seg->row->imm)
		return parse_imm(body, room, seg);
	if (room < seg->row->hdr_len)
		return TERN_TERM_RO_STREAM;
	seg->hdr_len += seg->row->hdr_len;
	return parse_control(body, seg);
}
