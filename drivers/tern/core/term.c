// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Build, parse and name Terminates: RFC 5040 4.8 and 7. */
#include "term.h"

#define SEG_LEN_OFF	sizeof(struct tern_terminate)
#define DDP_OFF		(SEG_LEN_OFF + 2)
#define RREQ_OFF	(DDP_OFF + sizeof(struct tern_ddp_untagged))
#define RREQ_SEG_LEN	(sizeof(struct tern_ddp_untagged) + \
			 sizeof(struct tern_read_req))

static_assert(RREQ_OFF + sizeof(struct tern_read_req) == TERN_TERMINATE_MAX);

static u32 ddp_hdr_len(u8 ddp_ctrl)
{
	return ddp_ctrl & TERN_DDP_TAGGED ? sizeof(struct tern_ddp_tagged) :
					    sizeof(struct tern_ddp_untagged);
}

/* RFC 5040 figure 10: EType 0, local catastrophic or of MPA, copies nothing */
static bool copies_ddp(int code, const struct tern_term_seg *seg)
{
	return TERN_TERM_ETYPE(code) && seg && seg->hdr_len &&
	       seg->hdr_len >= ddp_hdr_len(seg->hdr[0]);
}

/* only RDMAP's errors copy it, and only from a whole Read Request (Q30) */
static bool copies_rreq(int code, const struct tern_term_seg *seg)
{
	u8 opcode;

	tern_rdmap_opcode(seg->hdr[1], seg->rv, &opcode);
	return TERN_TERM_LAYER(code) == 0 &&
	       !(seg->hdr[0] & TERN_DDP_TAGGED) &&
	       opcode == TERN_OP_READ_REQ &&
	       seg->hdr_len >= RREQ_SEG_LEN && seg->len == RREQ_SEG_LEN;
}

u32 tern_term_build(u8 *out, int code, const struct tern_term_seg *seg)
{
	struct tern_terminate t = {
		.layer_etype = (u8)(TERN_TERM_LAYER(code) << 4 |
				    TERN_TERM_ETYPE(code)),
		.ecode = (u8)TERN_TERM_ECODE(code),
	};
	u32 copy = 0;

	if (copies_ddp(code, seg)) {
		t.hdrct = TERN_TERM_HDR_LEN | TERN_TERM_HDR_DDP;
		copy = ddp_hdr_len(seg->hdr[0]);
		if (copies_rreq(code, seg)) {
			t.hdrct |= TERN_TERM_HDR_RDMAP;
			copy = RREQ_SEG_LEN;
		}
	}
	memcpy(out, &t, sizeof(t));
	if (!copy)
		return sizeof(t);
	put_unaligned_be16((u16)seg->len, out + SEG_LEN_OFF);
	memcpy(out + DDP_OFF, seg->hdr, copy);
	return DDP_OFF + copy;
}

static void parse_copies(const u8 *body, u32 len, u8 hdrct,
			 struct tern_term_info *info)
{
	u32 n;

	if (!(hdrct & TERN_TERM_HDR_DDP) || len <= DDP_OFF)
		return;
	n = ddp_hdr_len(body[DDP_OFF]);
	if (len < DDP_OFF + n)
		return;
	memcpy(info->ddp, body + DDP_OFF, n);
	info->has_ddp = true;

	/* only after an untagged header: a Read Request is untagged */
	if (!(hdrct & TERN_TERM_HDR_RDMAP) || n != RREQ_OFF - DDP_OFF ||
	    len < TERN_TERMINATE_MAX)
		return;
	memcpy(&info->rreq, body + RREQ_OFF, sizeof(info->rreq));
	info->has_rreq = true;
}

int tern_term_parse(const u8 *body, u32 len, struct tern_term_info *info)
{
	struct tern_terminate t;

	if (len < sizeof(t))
		return -EINVAL;
	memcpy(&t, body, sizeof(t));
	memset(info, 0, sizeof(*info));
	info->code = TERN_TERM(t.layer_etype >> 4, t.layer_etype & 0xf,
			       t.ecode);
	if (t.hdrct & TERN_TERM_HDR_LEN && len >= DDP_OFF) {
		info->seg_len = get_unaligned_be16(body + SEG_LEN_OFF);
		info->has_len = true;
	}
	parse_copies(body, len, t.hdrct, info);
	return 0;
}

/* errors of untagged messages: the others have a tagged header, or none */
static bool is_of_untagged(int code)
{
	int kind = code & ~0xff;

	return kind == TERN_TERM(0, 1, 0) || kind == TERN_TERM(0, 2, 0) ||
	       kind == TERN_TERM(1, 2, 0);
}

bool tern_term_names_read(const struct tern_term_info *info, u32 *msn)
{
	const struct tern_ddp_untagged *ddp = (const void *)info->ddp;

	if (!info->has_ddp || !is_of_untagged(info->code) ||
	    ddp->ddp_ctrl & TERN_DDP_TAGGED ||
	    be32_to_cpu(ddp->qn) != TERN_QN_READ_REQ)
		return false;
	*msn = be32_to_cpu(ddp->msn);
	return true;
}

static const struct {
	int code;
	const char *name;
} names[] = {
	{ TERN_TERM_RP_INV_STAG, "RDMAP: invalid STag" },
	{ TERN_TERM_RP_BOUNDS, "RDMAP: base or bounds violation" },
	{ TERN_TERM_RP_ACCESS, "RDMAP: access rights violation" },
	{ TERN_TERM_RP_NOT_ASSOC, "RDMAP: STag not of this stream" },
	{ TERN_TERM_RP_WRAP, "RDMAP: TO wrap" },
	{ TERN_TERM_RP_CANT_INV, "RDMAP: STag cannot be invalidated" },
	{ TERN_TERM_RP_UNSPEC, "RDMAP: unspecified protection error" },
	{ TERN_TERM_RO_VERSION, "RDMAP: invalid version" },
	{ TERN_TERM_RO_OPCODE, "RDMAP: unexpected opcode" },
	{ TERN_TERM_RO_STREAM, "RDMAP: catastrophic, this stream" },
	{ TERN_TERM_RO_GLOBAL, "RDMAP: catastrophic, global" },
	{ TERN_TERM_RO_CANT_INV, "RDMAP: STag cannot be invalidated" },
	{ TERN_TERM_RO_UNSPEC, "RDMAP: unspecified operation error" },
	{ TERN_TERM_DDP_LOCAL, "DDP: local catastrophic" },
	{ TERN_TERM_DT_INV_STAG, "DDP: invalid STag" },
	{ TERN_TERM_DT_BOUNDS, "DDP: base or bounds violation" },
	{ TERN_TERM_DT_NOT_ASSOC, "DDP: STag not of this stream" },
	{ TERN_TERM_DT_WRAP, "DDP: TO wrap" },
	{ TERN_TERM_DT_VERSION, "DDP: invalid version, tagged" },
	{ TERN_TERM_DU_QN, "DDP: invalid queue number" },
	{ TERN_TERM_DU_NO_BUFFER, "DDP: no buffer for this MSN" },
	{ TERN_TERM_DU_MSN_RANGE, "DDP: MSN out of range" },
	{ TERN_TERM_DU_MO, "DDP: invalid message offset" },
	{ TERN_TERM_DU_TOO_LONG, "DDP: message too long for the buffer" },
	{ TERN_TERM_DU_VERSION, "DDP: invalid version, untagged" },
	{ TERN_TERM_MPA_CLOSED, "MPA: TCP connection closed or lost" },
	{ TERN_TERM_MPA_CRC, "MPA: CRC mismatch" },
	{ TERN_TERM_MPA_MARKER, "MPA: marker and ULPDU length disagree" },
	{ TERN_TERM_MPA_FRAME, "MPA: invalid request or reply frame" },
	{ TERN_TERM_MPA_LOCAL, "MPA: local catastrophic" },
	{ TERN_TERM_MPA_IRD, "MPA: insufficient IRD" },
	{ TERN_TERM_MPA_RTR, "MPA: no matching RTR option" },
};

const char *tern_term_name(int code)
{
	u32 i;

	/* this EType defines no codes */
	if ((code & ~0xff) == TERN_TERM_LOCAL)
		return "RDMAP: local catastrophic";
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].code == code)
			return names[i].name;
	return "unknown";
}
