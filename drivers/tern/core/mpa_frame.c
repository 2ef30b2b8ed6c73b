// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* MPA's Request and Reply frames (RFC 5044 7.1.1, RFC 6581 6). */
#include "mpa_frame.h"

static const char keys[][TERN_MPA_KEY_LEN + 1] = {
	[TERN_MPA_REQUEST] = TERN_MPA_KEY_REQ,
	[TERN_MPA_REPLY] = TERN_MPA_KEY_REP,
};

enum tern_mpa_parse tern_mpa_parse(enum tern_mpa_kind kind, const u8 *buf,
				   u32 len, u32 *need,
				   struct tern_mpa_msg *msg)
{
	const struct tern_mpa_frame *frame = (const void *)buf;
	const u32 head = sizeof(*frame);
	u32 pd_len;

	if (memcmp(buf, keys[kind], min_t(u32, len, TERN_MPA_KEY_LEN)))
		return TERN_MPA_BAD;
	*need = head;
	if (len < head)
		return TERN_MPA_MORE;
	pd_len = be16_to_cpu(frame->pd_len);
	if (pd_len > TERN_MPA_MAX_PD)
		return TERN_MPA_BAD;

	/* bit 0x10 is S under revision 2 only (Q2) */
	*msg = (struct tern_mpa_msg) {
		.rev = frame->rev,
		.flags = frame->flags,
		.enhanced = frame->rev == 2 &&
			    (frame->flags & TERN_MPA_F_ENHANCED),
	};
	if (msg->enhanced && pd_len < sizeof(struct tern_mpa_enhanced))
		return TERN_MPA_BAD;
	*need = head + pd_len;
	if (len < *need)
		return TERN_MPA_MORE;
	msg->pd = buf + head;
	if (msg->enhanced) {
		msg->ird = get_unaligned_be16(msg->pd);
		msg->ord = get_unaligned_be16(msg->pd + 2);
		msg->pd += sizeof(struct tern_mpa_enhanced);
		pd_len -= (u32)sizeof(struct tern_mpa_enhanced);
	}
	msg->pd_len = (u16)pd_len;
	return TERN_MPA_WHOLE;
}

u32 tern_mpa_build(enum tern_mpa_kind kind, const struct tern_mpa_msg *msg,
		   u8 *out)
{
	u32 extra = msg->enhanced ? sizeof(struct tern_mpa_enhanced) : 0;
	struct tern_mpa_frame *frame = (void *)out;
	u8 *pd = out + sizeof(*frame);

	if (msg->pd_len + extra > TERN_MPA_MAX_PD)
		return 0;
	memcpy(frame->key, keys[kind], TERN_MPA_KEY_LEN);
	frame->flags = msg->flags;
	frame->rev = msg->rev;
	frame->pd_len = cpu_to_be16((u16)(msg->pd_len + extra));
	if (msg->enhanced) {
		put_unaligned_be16(msg->ird, pd);
		put_unaligned_be16(msg->ord, pd + 2);
	}
	if (msg->pd_len)
		memcpy(pd + extra, msg->pd, msg->pd_len);
	return (u32)sizeof(*frame) + extra + msg->pd_len;
}
