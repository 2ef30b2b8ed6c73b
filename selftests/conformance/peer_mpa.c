// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The frames of the MPA startup, sent and received by the scripted peer. */
#include <string.h>

#include "conform.h"
#include "peer.h"

static void remember(struct peer *p, const struct mpa_frame *f)
{
	if (!memcmp(f->key, mpa_reply_key, sizeof(f->key)))
		p->reply = *f;
	else
		p->request = *f;
}

void peer_send_frame(struct peer *p, const struct mpa_frame *f)
{
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];

	remember(p, f);
	peer_send(p, out, mpa_encode(f, out));
}

bool peer_recv_frame(struct peer *p, bool reply, struct mpa_frame *f, int ms)
{
	const char *key = reply ? mpa_reply_key : mpa_request_key;
	uint64_t end = now_ms() + ms;
	const uint8_t *at;
	uint64_t now;

	if (peer_look(p, MPA_FRAME_HDR, ms, &at) < MPA_FRAME_HDR)
		return false;
	must(!memcmp(at, key, sizeof(f->key)), "the key is not that of a %s",
	     reply ? "Reply" : "Request");
	memset(f, 0, sizeof(*f));
	memcpy(f->key, at, sizeof(f->key));
	f->flags = at[16];
	f->rev = at[17];
	f->pd_len = get16(at + 18);
	must(f->pd_len <= MPA_PD_MAX, "PD_Length is %u", f->pd_len);
	now = now_ms();
	if (peer_look(p, MPA_FRAME_HDR + f->pd_len, now < end ? end - now : 0, &at) <
	    (size_t)MPA_FRAME_HDR + f->pd_len)
		return false;
	memcpy(f->pd, at + MPA_FRAME_HDR, f->pd_len);
	peer_take(p, MPA_FRAME_HDR + f->pd_len);
	remember(p, f);
	return true;
}

void peer_agree(struct peer *p, bool initiator)
{
	const struct mpa_frame *ours = initiator ? &p->request : &p->reply;
	const struct mpa_frame *theirs = initiator ? &p->reply : &p->request;
	bool rdmac = !ours->rev || !theirs->rev;
	unsigned int qn;

	/* an RDMAC stack always uses CRC, and markers both ways: RFC 5044 appendix C */
	p->version = rdmac ? 0 : 1;
	p->crc = rdmac || ((ours->flags | theirs->flags) & MPA_C);
	p->tx_markers = rdmac || theirs->flags & MPA_M;
	p->rx_markers = rdmac || ours->flags & MPA_M;
	p->tx_pos = 0;
	p->rx_pos = 0;
	for (qn = 0; qn < 4; qn++)
		p->tx_msn[qn] = 1;
	memcpy(p->rx_msn, p->tx_msn, sizeof(p->rx_msn));
}
