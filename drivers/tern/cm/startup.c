// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * MPA startup on a socket (RFC 5044 7.1, RFC 6581): what is received and sent
 * until the stream takes over, and after it, reading until both FINs are done.
 * Nothing here waits.
 */
#include "startup.h"

#include "core/fpdu_rx.h"
#include "core/fpdu_tx.h"
#include "core/mpa.h"
#include "core/mpa_frame.h"
#include "core/rdmap.h"
#include "device/device.h"
#include "device/options.h"
#include "observe/trace.h"
#include "stream/charge.h"
#include "stream/setup.h"
#include "stream/stream.h"
#include "cep.h"
#include "event.h"
#include "peer.h"

/* the longest FPDU that holds a Terminate: markers, pad and CRC around it */
#define TERMINATE_FPDU	(TERN_FPDU_TX_HEAD + TERN_FPDU_TX_TAIL)

/* ---- what users can read ------------------------------------------------ */

struct tern_mpa_side tern_startup_side(const struct tern_mpa_msg *msg)
{
	if (!msg)
		return (struct tern_mpa_side) {};
	return (struct tern_mpa_side) {
		.there = 1,
		.rev = msg->rev,
		.flags = msg->flags,
		.enhanced = msg->enhanced,
		.ird = msg->ird,
		.ord = msg->ord,
		.pd_len = msg->pd_len,
	};
}

static void note_frames(struct tern_cep *cep, const struct tern_mpa_msg *own,
			const struct tern_mpa_msg *peer)
{
	struct tern_startup s = {
		.own = tern_startup_side(own),
		.peer = tern_startup_side(peer),
		.initiator = own == &cep->request,
		.retried = cep->retried,
		.terms = TERN_NO_TERMS,
	};

	tern_stream_report(cep->stream, &s);
}

/* no stream is attached yet that could report them */
static void set_terms(struct tern_cep *cep,
		      const struct tern_stream_terms *terms)
{
	spin_lock_bh(&cep->event_lock);
	cep->terms = *terms;
	spin_unlock_bh(&cep->event_lock);
	tern_stream_report_terms(cep->stream, terms);
}

/* ---- bytes that come too early (K7 to K9) ------------------------------- */

static bool bytes_wait(struct tern_cep *cep)
{
	u32 pending;

	tern_sock_lock(cep->sock);
	pending = tern_sock_pending_locked(cep->sock);
	tern_sock_unlock(cep->sock);
	return pending;
}

static bool is_terminate(const struct tern_fpdu *f)
{
	const struct tern_ddp_untagged *ddp = (const void *)f->hdr;

	return f->hdr_len >= sizeof(*ddp) && !(ddp->ddp_ctrl & TERN_DDP_TAGGED) &&
	       (ddp->rdmap_ctrl & TERN_RDMAP_OPCODE_MASK) == TERN_OP_TERMINATE &&
	       ddp->qn == cpu_to_be32(TERN_QN_TERMINATE);
}

/*
 * A valid FPDU with a Terminate after the Reply is the peer's error report (RFC
 * 6581 8). Return: true for one.
 */
static bool note_terminate(struct tern_cep *cep)
{
	const u32 hdr = sizeof(struct tern_ddp_untagged);
	struct tern_stream_terms terms;
	struct tern_term_info info;
	struct tern_fpdu_rx rx;
	u8 buf[TERMINATE_FPDU];
	struct tern_fpdu f;
	int len, term;

	len = tern_sock_recv(cep->sock, buf, sizeof(buf), true);
	if (len <= 0)
		return false;
	tern_fpdu_rx_init(&rx, cep->params.crc, cep->params.rx_markers);
	if (tern_fpdu_rx_header(&rx, buf, len, &f, &term) || f.total > len)
		return false;
	if (f.verify)
		tern_fpdu_rx_verify(&rx, &f, buf, f.total);
	if (tern_fpdu_rx_finish(&rx, &f) != TERN_TERM_NONE || !is_terminate(&f))
		return false;
	if (tern_term_parse(f.hdr + hdr, f.hdr_len - hdr, &info))
		return false;
	tern_stat_inc(cep->dev->stats, RX_TERMINATE);
	trace_tern_term_rx(cep->qpn, info.code, tern_term_name(info.code));
	terms = tern_cep_terms(cep);
	terms.received = info.code;
	set_terms(cep, &terms);
	return true;
}

/*
 * K8: bytes after an accepting Reply, before our first FPDU. If the settings
 * tolerate them they go to the stream, except for a Terminate.
 */
static bool reply_is_followed(struct tern_cep *cep)
{
	return bytes_wait(cep) &&
	       (note_terminate(cep) || !cep->settings.early_ok);
}

/* ---- sending ------------------------------------------------------------ */

static int send_frame(struct tern_cep *cep, enum tern_mpa_kind kind,
		      const struct tern_mpa_msg *msg)
{
	u8 buf[TERN_MPA_FRAME_MAX];
	u32 len = tern_mpa_build(kind, msg, buf);

	if (!len)
		return -EMSGSIZE;
	cep->frame_sent = true;
	return tern_sock_send_frame(cep->sock, buf, len);
}

u16 tern_startup_room(const struct tern_mpa_msg *frame)
{
	return frame->enhanced ? TERN_MPA_ENHANCED_PD : TERN_MPA_MAX_PD;
}

static int send_request(struct tern_cep *cep)
{
	struct tern_sock_addr addr;
	int rc;

	rc = tern_sock_names(cep->sock, &addr);
	if (rc)
		return rc;
	cep->addr.local = addr.local;
	tern_mpa_request(&cep->opt, &cep->request);
	cep->request.pd = cep->pd;
	cep->request.pd_len = cep->pd_len;
	note_frames(cep, &cep->request, NULL);
	return send_frame(cep, TERN_MPA_REQUEST, &cep->request);
}

/* in place of the RTR, as our first and last FPDU (RFC 6581 9.3) */
static void send_terminate(struct tern_cep *cep, int term)
{
	struct tern_stream_terms terms;
	struct tern_tx_msg msg;
	struct tern_fpdu_tx tx;
	u8 buf[TERMINATE_FPDU];
	bool sent;
	u32 len;

	tern_rdmap_build_terminate(&msg,
				   tern_rdmap_version_of(cep->params.version),
				   term, NULL);
	tern_fpdu_tx_init(&tx, cep->params.crc, cep->params.tx_markers,
			  TERN_ULPDU_MAX);
	tern_fpdu_tx_next(&tx, &msg);
	len = tern_fpdu_tx_begin(&tx, &msg, buf);
	len = tern_fpdu_tx_finish(&tx, buf, len);
	sent = !tern_sock_send_frame(cep->sock, buf, len);
	tern_stat_term(cep->dev->stats, term);
	if (sent)
		tern_stat_inc(cep->dev->stats, TX_TERMINATE);
	trace_tern_term_tx(cep->qpn, term, tern_term_name(term));
	terms = tern_cep_terms(cep);
	terms.found = term;
	terms.sent = sent ? term : TERN_TERM_NONE;
	set_terms(cep, &terms);
}

void tern_startup_reject(struct tern_cep *cep, const void *pd, u16 pd_len)
{
	tern_mpa_reject(&cep->opt, &cep->request, &cep->reply);
	cep->reply.pd = pd;
	cep->reply.pd_len = min(pd_len, tern_startup_room(&cep->reply));
	tern_stat_inc(cep->dev->stats, CM_REJECT_TX);
	send_frame(cep, TERN_MPA_REPLY, &cep->reply);
}

void tern_startup_deny(struct tern_cep *cep)
{
	if (!cep->frame_came)
		cep->request = (struct tern_mpa_msg) {
			.rev = cep->opt.rev,
			.enhanced = cep->opt.rev > 1,
		};
	tern_startup_reject(cep, NULL, 0);
}

/* ---- the stream begins -------------------------------------------------- */

/*
 * RFC 6581 9.1: an IRD of all ones says nothing about the Reads that the peer takes, as
 * does a Reply without one.
 */
static bool knows_ird(const struct tern_mpa_msg *reply)
{
	return reply->enhanced &&
	       (reply->ird & TERN_MPA_DEPTH_MASK) != TERN_MPA_DEPTH_NONE;
}

/* @reply: for tern_stream_attach() */
static int attach_stream(struct tern_cep *cep, const struct kvec *reply)
{
	struct tern_mpa_params params = cep->params;
	struct tern_agree_options agree = {
		.extensions = cep->settings.extensions,
		.features = cep->settings.features,
		.max_fpdu = cep->settings.max_fpdu,
		.wait_ms = cep->settings.rtr_ms,
		.may_probe = knows_ird(&cep->reply),
	};

	/*
	 * users see the agreed depths; the stream has no more slots than this
	 */
	params.ord = min_t(u16, params.ord, TERN_MAX_RD_ATOM);
	params.ird = min_t(u16, params.ird, TERN_MAX_RD_ATOM);
	tern_sock_grow_rcvbuf(cep->sock);
	return tern_stream_attach(cep->stream, cep->sock, &params, &agree, reply);
}

int tern_startup_accept(struct tern_cep *cep, const void *pd, u16 pd_len)
{
	u8 buf[TERN_MPA_FRAME_MAX];
	struct kvec reply = { .iov_base = buf };
	int rc;

	tern_mpa_accept(&cep->opt, &cep->request, &cep->reply, &cep->params);
	cep->reply.pd = pd;
	cep->reply.pd_len = pd_len;
	reply.iov_len = tern_mpa_build(TERN_MPA_REPLY, &cep->reply, buf);
	if (!reply.iov_len)
		return -EMSGSIZE;
	rc = attach_stream(cep, &reply);
	if (rc)
		return rc;
	cep->frame_sent = true;
	cep->agreed = true;
	note_frames(cep, &cep->reply, &cep->request);
	return 0;
}

/* ---- active ------------------------------------------------------------- */

static int open_socket(struct tern_cep *cep)
{
	struct tern_sock *sock;

	sock = tern_sock_create(cep->net, cep->addr.remote.ss_family);
	if (IS_ERR(sock))
		return PTR_ERR(sock);
	cep->sock = sock;
	cep->frame_len = 0;
	tern_sock_set_keepalive(sock, cep->settings.keepalive_s);
	return 0;
}

int tern_startup_connect(struct tern_cep *cep)
{
	int rc;

	rc = open_socket(cep);
	if (rc)
		return rc;
	rc = tern_sock_connect(cep->sock, &cep->addr, &cep->sock_options);
	/* a peer on this host refuses at once: make that an event as well */
	if (rc == -ECONNREFUSED || rc == -ECONNRESET) {
		cep->status = rc;
		rc = 0;
	}
	if (!rc)
		tern_cep_own_sock(cep);
	return rc;
}

static void connection_lost(struct tern_cep *cep, int rc)
{
	if (!cep->status)
		cep->status = rc;
	tern_cep_step(cep, CM_EV_RESET);
}

/*
 * The peer did not take the enhanced Request: send a plain one on a new
 * connection (Q3), from another port, because the first may still hold this
 * one. @plain: a Reply or a FIN proves that the peer takes no enhanced Request;
 * a RST may also come from a host that had no room, or restarted.
 */
static void retry_plain(struct tern_cep *cep, bool plain)
{
	struct tern_sock *old = cep->sock;
	struct mem_cgroup *charged;
	int rc;

	tern_stat_inc(cep->dev->stats, CM_FALLBACK);
	cep->retried = true;
	cep->plain = plain;
	cep->sock = NULL;
	/* a peer that closed sees a graceful end; TCP forgets the connection */
	tern_sock_lock(old);
	tern_sock_shutdown_locked(old);
	tern_sock_unlock(old);
	tern_sock_release(old);
	cep->reply = (struct tern_mpa_msg) {};
	cep->frame_sent = false;
	cep->frame_came = false;
	tern_sock_clear_port(&cep->addr.local);
	tern_mpa_fall_back(&cep->opt);
	tern_cep_step(cep, CM_EV_RETRY);
	cep->status = 0;
	/* charge the second socket to the cgroup of the first */
	charged = tern_sock_charge(old);
	rc = tern_startup_connect(cep);
	tern_charge_end(charged);
	tern_sock_put(old);
	if (rc)
		connection_lost(cep, rc);
}

/*
 * In the peer-to-peer model the peer may speak first: if the program itself asked for
 * it, a plain attempt, in which the initiator speaks first, is not what it wants. A
 * plain attempt is the last one: its revision is 1.
 */
static bool may_retry(const struct tern_cep *cep)
{
	return !tern_options_p2p(&cep->stream->setup.options) &&
	       tern_mpa_may_retry(&cep->opt);
}

static void bad_frame(struct tern_cep *cep)
{
	tern_stat_inc(cep->dev->stats, CM_BAD_FRAME);
	tern_cep_step(cep, CM_EV_BAD);
}

/* RFC 6581 8: code 5 tells the peer of a local error (MPA-170) */
static void fail_attach(struct tern_cep *cep, int rc)
{
	cep->status = rc;
	send_terminate(cep, TERN_TERM_MPA_LOCAL);
	tern_cep_step(cep, CM_EV_BAD);
}

/* the peer replied to a plain Request */
static void remember_plain(struct tern_cep *cep)
{
	if (cep->plain)
		tern_peer_set_plain(cep->net, &cep->addr.remote);
}

static void reply_accepts(struct tern_cep *cep)
{
	int term = tern_mpa_settle(&cep->opt, &cep->reply, &cep->params);
	int rc;

	if (reply_is_followed(cep))
		return bad_frame(cep);
	if (cep->reply.pd_len > TERN_UP_PD_MAX) {
		tern_stat_inc(cep->dev->stats, CM_PD_TOO_LONG);
		return tern_cep_step(cep, CM_EV_BAD);
	}
	if (term != TERN_TERM_NONE) {
		send_terminate(cep, term);
		return tern_cep_step(cep, CM_EV_BAD);
	}
	cep->agreed = true;
	rc = attach_stream(cep, NULL);
	if (rc)
		return fail_attach(cep, rc);
	remember_plain(cep);
	tern_cep_step(cep, CM_EV_REPLY);
}

static void reply_rejects(struct tern_cep *cep)
{
	tern_mpa_settle(&cep->opt, &cep->reply, &cep->params);
	if (cep->reply.enhanced)
		note_terminate(cep);
	if (cep->reply.pd_len > TERN_UP_PD_MAX)
		tern_stat_inc(cep->dev->stats, CM_PD_TOO_LONG);
	tern_stat_inc(cep->dev->stats, CM_REJECT_RX);
	remember_plain(cep);
	tern_cep_step(cep, CM_EV_REJECTED);
}

static void got_reply(struct tern_cep *cep)
{
	note_frames(cep, &cep->request, &cep->reply);
	switch (tern_mpa_gate_reply(&cep->opt, &cep->reply)) {
	case TERN_MPA_GO:
		return reply_accepts(cep);
	case TERN_MPA_REJECTED:
		return reply_rejects(cep);
	case TERN_MPA_RETRY:
		if (may_retry(cep))
			return retry_plain(cep, true);
		fallthrough;
	default:
		bad_frame(cep);
	}
}

/* ---- passive ------------------------------------------------------------ */

static void refuse_request(struct tern_cep *cep)
{
	tern_startup_reject(cep, NULL, 0);
	tern_cep_step(cep, CM_EV_REFUSED);
}

static void refuse_revision(struct tern_cep *cep)
{
	tern_mpa_refuse(&cep->opt, &cep->request, &cep->reply);
	send_frame(cep, TERN_MPA_REPLY, &cep->reply);
	tern_cep_step(cep, CM_EV_REFUSED);
}

static void got_request(struct tern_cep *cep)
{
	enum tern_mpa_gate gate = tern_mpa_gate_request(&cep->opt,
							&cep->request);

	if (gate == TERN_MPA_REFUSE)
		return refuse_revision(cep);
	if (gate != TERN_MPA_GO || bytes_wait(cep))
		return bad_frame(cep);
	if (cep->request.pd_len > TERN_UP_PD_MAX) {
		tern_stat_inc(cep->dev->stats, CM_PD_TOO_LONG);
		return refuse_request(cep);
	}
	if (!tern_crowd_ask(cep)) {
		tern_stat_inc(cep->dev->stats, CM_HALF_OPEN);
		return refuse_request(cep);
	}
	if (tern_event_request(cep))
		return refuse_request(cep);
	tern_cep_step(cep, CM_EV_REQUEST);
}

/* ---- looking at the socket ---------------------------------------------- */

static bool look_connecting(struct tern_cep *cep)
{
	int rc;

	switch (tern_sock_phase(cep->sock)) {
	case TERN_SOCK_CONNECTING:
		return false;
	case TERN_SOCK_OPEN:
		rc = send_request(cep);
		if (rc)
			connection_lost(cep, rc);
		else
			tern_cep_step(cep, CM_EV_TCP_OPEN);
		return true;
	default:
		connection_lost(cep, tern_sock_error(cep->sock));
		return true;
	}
}

/*
 * The peer closed before its frame was whole: without a byte of a Reply, retry with a
 * plain Request (H16); inside a frame, the frame is malformed (K4).
 */
static void frame_lost(struct tern_cep *cep, int rc)
{
	bool closed = !rc || rc == -ECONNRESET || rc == -EPIPE;

	if (cep->state == CM_REPLY_WAIT && closed && !cep->frame_len &&
	    may_retry(cep))
		retry_plain(cep, !rc);
	else if (rc)
		connection_lost(cep, rc);
	else if (cep->frame_len)
		bad_frame(cep);
	else
		tern_cep_step(cep, CM_EV_FIN);
}

/* no frame has urgent data: treat it as badly formatted */
static bool urgent_came(struct tern_cep *cep)
{
	bool came;

	tern_sock_lock(cep->sock);
	came = tern_sock_take_urgent_locked(cep->sock);
	tern_sock_unlock(cep->sock);
	if (came)
		tern_stat_inc(cep->dev->stats, RX_URGENT);
	return came;
}

static bool look_frame(struct tern_cep *cep)
{
	bool active = cep->state == CM_REPLY_WAIT;
	struct tern_mpa_msg *msg = active ? &cep->reply : &cep->request;
	enum tern_mpa_kind kind = active ? TERN_MPA_REPLY : TERN_MPA_REQUEST;
	enum tern_mpa_parse verdict;
	u32 need;
	int n;

	if (urgent_came(cep)) {
		bad_frame(cep);
		return true;
	}
	/* receive only the frame: what follows belongs to the stream */
	while ((verdict = tern_mpa_parse(kind, cep->frame, cep->frame_len,
					 &need, msg)) == TERN_MPA_MORE) {
		n = tern_sock_recv(cep->sock, cep->frame + cep->frame_len,
				   need - cep->frame_len, false);
		if (n == -EAGAIN)
			return false;
		if (n <= 0) {
			frame_lost(cep, n);
			return true;
		}
		cep->frame_len += n;
	}
	cep->frame_came = verdict == TERN_MPA_WHOLE;
	if (verdict == TERN_MPA_BAD)
		bad_frame(cep);
	else if (active)
		got_reply(cep);
	else
		got_request(cep);
	return true;
}

/* K7: the peer may send nothing while the ULP decides */
static bool look_idle(struct tern_cep *cep)
{
	bool dead, eof, early, urgent = urgent_came(cep);

	tern_sock_lock(cep->sock);
	dead = tern_sock_dead_locked(cep->sock);
	eof = tern_sock_eof_locked(cep->sock);
	early = tern_sock_pending_locked(cep->sock);
	tern_sock_unlock(cep->sock);
	if (dead)
		tern_cep_step(cep, CM_EV_RESET);
	else if (early || urgent)
		bad_frame(cep);
	else if (eof)
		tern_cep_step(cep, CM_EV_FIN);
	return dead || early || urgent || eof;
}

static bool look_declined(struct tern_cep *cep)
{
	bool declined = READ_ONCE(cep->declined);

	if (declined) {
		tern_startup_reject(cep, NULL, 0);
		tern_cep_step(cep, CM_EV_REJECT);
	}
	return declined;
}

static bool look_linger(struct tern_cep *cep)
{
	bool dead, done;

	tern_sock_lock(cep->sock);
	tern_sock_discard_locked(cep->sock);
	dead = tern_sock_dead_locked(cep->sock);
	done = tern_sock_drained_locked(cep->sock) &&
	       tern_sock_eof_locked(cep->sock);
	tern_sock_unlock(cep->sock);
	if (done)
		tern_cep_step(cep, CM_EV_DRAINED);
	else if (dead)
		tern_cep_step(cep, CM_EV_RESET);
	return done || dead;
}

bool tern_startup_look(struct tern_cep *cep)
{
	lockdep_assert_held(&cep->lock);
	switch (cep->state) {
	case CM_CONNECTING:
		return look_connecting(cep);
	case CM_REPLY_WAIT:
	case CM_REQUEST_WAIT:
		return look_frame(cep);
	case CM_ULP_WAIT:
		return look_idle(cep) || look_declined(cep);
	case CM_LINGER:
		return look_linger(cep);
	default:
		return false;
	}
}

void tern_startup_look_on(struct tern_cep *cep)
{
	while (tern_startup_look(cep))
		;
}
