// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Requests that only some peers take (RFC 7306, RDMAP version 2): whether this peer
 * does, and the wait until that is known.
 */
#include "agree.h"

#include <linux/jiffies.h>

#include "core/fpdu_tx.h"
#include "core/wire.h"
#include "queue/sq.h"
#include "sock.h"
#include "stream.h"

void tern_agree_init(struct tern_stream *s, const struct tern_agree_options *opt)
{
	const struct tern_mpa_params *p = &s->params;
	struct tern_hello_options hello = {
		.extensions = opt->extensions,
		.features = opt->features,
		.version = p->version,
		.initiator = p->initiator,
		.rtr = p->rtr,
	};

	tern_hello_init(&s->agree.hello, &hello);
	WRITE_ONCE(s->sq.extended, tern_hello_rx_sets(&s->agree.hello) != TERN_OPS_BASE);
	s->agree.max_fpdu = opt->max_fpdu;
	s->agree.wait_ms = opt->wait_ms;
	s->agree.probed = !opt->may_probe;
}

/* true: time is left, and the engine runs again when it is over */
static bool keep_waiting(struct tern_stream *s)
{
	struct tern_agree *a = &s->agree;

	if (!a->waiting) {
		a->waiting = true;
		a->deadline = jiffies + msecs_to_jiffies(a->wait_ms);
	}
	if (time_after_eq(jiffies, a->deadline))
		return false;
	tern_tx_sched_at(s, a->deadline);
	return true;
}

enum tern_hello_verdict tern_agree_may_send(struct tern_stream *s,
					    const struct tern_wqe *wqe)
{
	struct tern_hello *hello = &s->agree.hello;
	enum tern_hello_verdict verdict = tern_hello_may_send(hello, wqe->row->set);

	if (verdict != TERN_HELLO_UNKNOWN || keep_waiting(s))
		return verdict;
	tern_hello_timeout(hello);
	return tern_hello_may_send(hello, wqe->row->set);
}

/* it takes one of the peer's slots for Reads, of which there may be only one */
bool tern_agree_wants_probe(const struct tern_stream *s)
{
	return s->agree.waiting && !s->agree.probed && !s->rx.eof && s->readq.ord &&
	       !s->readq.out_count && tern_hello_wants_probe(&s->agree.hello);
}

u32 tern_agree_mulpdu(const struct tern_stream *s)
{
	u32 emss = tern_sock_mss(s->sock);
	bool markers = s->params.tx_markers;

	return tern_hello_may_send_long(&s->agree.hello) ?
		       tern_fpdu_mulpdu_long(emss, markers, s->agree.max_fpdu) :
		       tern_fpdu_mulpdu(emss, markers);
}
