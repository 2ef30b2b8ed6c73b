// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* agent.h as lines of text to tern-conform-agent: see tern-conform-agent(8). */
#include "agent.h"
#include "agent_line.h"
#include "conform.h"
#include "report.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HOOK_MS		40000
#define USUAL_MS	1000

static char peer_address[NI_MAXHOST];
static unsigned int offers;
static char device[64];

void agent_close(void)
{
	line_close();
}

/* ---- for the runner ------------------------------------------------------ */

int agent_open(const char *addr, const char *port)
{
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);
	int fd = line_open(addr, port);

	if (fd < 0)
		return -1;
	if (getsockname(fd, (struct sockaddr *)&own, &len) ||
	    getnameinfo((struct sockaddr *)&own, len, peer_address,
			sizeof(peer_address), NULL, 0, NI_NUMERICHOST))
		return -1;
	if (line_try(patience(HOOK_MS), "hello") != LINE_OK) {
		fprintf(stderr, "tern-conform: the agent has no device: %s\n",
			strerror(line_errno));
		line_close();
		return -1;
	}
	snprintf(device, sizeof(device), "%s", line_word());
	offers = !strcmp(line_word(), "set") ? NEED_SET : 0;
	offers |= !strcmp(line_word(), "state") ? NEED_STATE : 0;
	return 0;
}

void agent_peer_address(const char *addr)
{
	if (addr)
		snprintf(peer_address, sizeof(peer_address), "%s", addr);
}

const char *agent_device(void)
{
	return device;
}

unsigned int agent_offers(void)
{
	return offers;
}

void agent_reset(void)
{
	line_ask(patience(HOOK_MS), "reset");
}

/* ---- settings, values, counters ------------------------------------------ */

bool agent_try_set(const char *settings)
{
	enum line_verdict v;

	report_hook("set", settings);
	if (!(offers & NEED_SET))
		skip_hook("set", settings);
	v = line_try(patience(HOOK_MS), "set %s", settings);
	if (v == LINE_NO && line_errno == EOPNOTSUPP)
		skip_hook("set", settings);
	if (v == LINE_NO && line_errno != EINVAL)
		line_refused();
	return v == LINE_OK;
}

void agent_set(const char *settings)
{
	if (!agent_try_set(settings))
		line_refused();
}

bool agent_state(uint16_t port, const char *key, char *value, size_t size)
{
	report_hook("state", key);
	if (!(offers & NEED_STATE))
		skip_hook("state", key);
	if (!line_ask(patience(HOOK_MS), "state %s %u %s", peer_address, port, key))
		return false;
	snprintf(value, size, "%s", line_rest());
	return true;
}

uint64_t agent_counter(const char *name)
{
	if (!line_ask(patience(HOOK_MS), "counter %s", name))
		skip("the device has no counter %s", name);
	return line_number();
}

/* ---- memory -------------------------------------------------------------- */

struct agent_mr agent_mr_pd(size_t len, const char *access, int pd)
{
	struct agent_mr mr = { .len = len, .sink = strchr(access, 'w') };

	line_ask(0, "mr %zu %s %d", len, *access ? access : "-", pd);
	mr.id = line_number();
	mr.rkey = line_number();
	mr.va = line_number();
	return mr;
}

struct agent_mr agent_mr(size_t len, const char *access)
{
	return agent_mr_pd(len, access, 0);
}

void agent_dereg(const struct agent_mr *mr)
{
	line_ask(0, "dereg %d", mr->id);
}

void agent_peek(const struct agent_mr *mr, size_t at, void *buf, size_t len)
{
	while (len) {
		size_t piece = len < LINE_PIECE ? len : LINE_PIECE;

		line_ask(0, "peek %d %zu %zu", mr->id, at, piece);
		if (line_bytes(buf, piece) != piece)
			line_lost("too few bytes of memory");
		buf = (uint8_t *)buf + piece;
		at += piece;
		len -= piece;
	}
}

void agent_poke(const struct agent_mr *mr, size_t at, const void *buf, size_t len)
{
	while (len) {
		size_t piece = len < LINE_PIECE ? len : LINE_PIECE;

		line_ask(0, "poke %d %zu %s", mr->id, at, line_hex(buf, piece));
		buf = (const uint8_t *)buf + piece;
		at += piece;
		len -= piece;
	}
}

void must_be_untouched(const struct agent_mr *mr)
{
	if (line_ask(0, "untouched %d", mr->id)) {
		uint64_t at = line_number(), byte = line_number();

		must(false, "memory was written: byte %llu is %02llx",
		     (unsigned long long)at, (unsigned long long)byte);
	}
}

void must_have_memory(const struct agent_mr *mr, size_t at, const void *want, size_t len)
{
	static uint8_t got[LINE_PIECE];

	while (len) {
		size_t piece = len < LINE_PIECE ? len : LINE_PIECE;
		char what[64];

		agent_peek(mr, at, got, piece);
		snprintf(what, sizeof(what), "memory from %zu on", at);
		must_bytes(got, want, piece, "%s", what);
		want = (const uint8_t *)want + piece;
		at += piece;
		len -= piece;
	}
}

/* ---- connections --------------------------------------------------------- */

uint16_t agent_listen(void)
{
	line_ask(0, "listen 0");
	return line_number();
}

bool agent_event(struct agent_event *ev, int ms)
{
	memset(ev, 0, sizeof(*ev));
	if (!line_ask(ms, "event %d", ms))
		return false;
	snprintf(ev->name, sizeof(ev->name), "%s", line_word());
	ev->conn = strtol(line_word(), NULL, 10);
	ev->status = strtol(line_word(), NULL, 10);
	ev->ird = line_number();
	ev->ord = line_number();
	ev->pd_len = line_bytes(ev->pd, sizeof(ev->pd));
	return true;
}

void agent_must_get_event(const char *name, struct agent_event *ev)
{
	must(agent_event(ev, patience(USUAL_MS)), "no event, %s awaited", name);
	must(!strcmp(ev->name, name), "event %s (status %d), %s awaited", ev->name,
	     ev->status, name);
}

void agent_must_get_no_event(int ms)
{
	struct agent_event ev;

	must(!agent_event(&ev, ms), "event %s (status %d), none awaited", ev.name, ev.status);
}

/* the words that connect and accept have in common */
static const char *options_text(const struct agent_qp *qp, const void *pd, size_t pd_len)
{
	static const struct agent_qp usual = AGENT_QP_DEFAULT;
	static char text[2 * LINE_PIECE + 64];

	if (!qp)
		qp = &usual;
	snprintf(text, sizeof(text), "%d %d %d %d %d %s", qp->send_depth, qp->recv_depth,
		 qp->ird, qp->ord, qp->srq, line_hex(pd, pd_len));
	return text;
}

int agent_connect(uint16_t port, const struct agent_qp *qp, const void *pd,
		  size_t pd_len)
{
	line_ask(0, "connect %s %u %s", peer_address, port, options_text(qp, pd, pd_len));
	return line_number();
}

int agent_try_accept(int conn, const struct agent_qp *qp, const void *pd, size_t pd_len)
{
	const char *options = options_text(qp, pd, pd_len);

	return line_try(0, "accept %d %s", conn, options) == LINE_NO ? line_errno : 0;
}

void agent_accept(int conn, const struct agent_qp *qp, const void *pd, size_t pd_len)
{
	if (agent_try_accept(conn, qp, pd, pd_len))
		line_refused();
}

void agent_reject(int conn, const void *pd, size_t pd_len)
{
	line_ask(0, "reject %d %s", conn, line_hex(pd, pd_len));
}

void agent_disconnect(int conn)
{
	line_ask(0, "disconnect %d", conn);
}

void agent_destroy(int conn)
{
	line_ask(0, "destroy %d", conn);
}

const char *agent_qp_state(int conn)
{
	static char state[16];

	line_ask(0, "qp %d", conn);
	snprintf(state, sizeof(state), "%s", line_word());
	return state;
}

void agent_qp_error(int conn)
{
	line_ask(0, "qp-error %d", conn);
}

void agent_srq_limit(int n)
{
	line_ask(0, "srq-limit %d", n);
}

const char *agent_async(int *conn, int ms)
{
	static char name[32];
	int of;

	if (!line_ask(ms, "async %d", ms))
		return NULL;
	snprintf(name, sizeof(name), "%s", line_word());
	of = strtol(line_word(), NULL, 10);
	if (conn)
		*conn = of;
	return name;
}

/* ---- work requests and completions --------------------------------------- */

/* memory as three words, or "-" for none */
static const char *place(const struct agent_mr *mr, size_t at, size_t len)
{
	static char text[64];

	if (!mr)
		return "-";
	snprintf(text, sizeof(text), "%d %zu %zu", mr->id, at, len);
	return text;
}

void agent_recv(int conn, uint64_t wr_id, const struct agent_mr *mr, size_t at, size_t len)
{
	line_ask(0, "recv %d %llu %s", conn, (unsigned long long)wr_id, place(mr, at, len));
}

int agent_try_post(int conn, uint64_t wr_id, enum agent_op op, unsigned int flags,
		   const struct agent_mr *mr, size_t at, size_t len, uint32_t rkey,
		   uint64_t raddr)
{
	static const char *const names[] = { "send", "send-inv", "write", "read" };
	enum line_verdict v;

	must(op != AG_READ || !mr || mr->sink,
	     "the sink of the Read lacks the remote write right");
	v = line_try(0, "post %d %llu %s %u %s %u %llu", conn, (unsigned long long)wr_id,
		names[op], flags, place(mr, at, len), rkey, (unsigned long long)raddr);
	return v == LINE_NO ? line_errno : 0;
}

#define BIND_ID	0xb19d

uint32_t agent_bind(int conn, int type, const struct agent_mr *mr, size_t at,
		    size_t len, const char *access)
{
	enum line_verdict v = line_try(0, "bind %d %d %d %d %zu %zu %s", conn, BIND_ID, type,
			     mr->id, at, len, access);
	struct agent_wc wc;
	uint32_t stag;

	if (v == LINE_NO && (line_errno == EOPNOTSUPP || line_errno == ENOSYS))
		skip("the device has no memory windows");
	if (v != LINE_OK)
		line_refused();
	stag = line_number();
	agent_must_get_wc(BIND_ID, "SUCCESS", &wc);
	return stag;
}

void agent_post(int conn, uint64_t wr_id, enum agent_op op, unsigned int flags,
		const struct agent_mr *mr, size_t at, size_t len, uint32_t rkey,
		uint64_t raddr)
{
	if (agent_try_post(conn, wr_id, op, flags, mr, at, len, rkey, raddr))
		line_refused();
}

bool agent_poll(struct agent_wc *wc, int ms)
{
	memset(wc, 0, sizeof(*wc));
	if (!line_ask(ms, "poll %d", ms))
		return false;
	wc->wr_id = line_number();
	snprintf(wc->status, sizeof(wc->status), "%s", line_word());
	snprintf(wc->opcode, sizeof(wc->opcode), "%s", line_word());
	wc->byte_len = line_number();
	wc->wc_flags = line_number();
	wc->invalidated = line_number();
	wc->conn = strtol(line_word(), NULL, 10);
	wc->imm_len = line_bytes(wc->imm, sizeof(wc->imm));
	return true;
}

void agent_must_get_wc(uint64_t wr_id, const char *status, struct agent_wc *wc)
{
	must(agent_poll(wc, patience(USUAL_MS)), "no completion, %s of %llu awaited",
	     status, (unsigned long long)wr_id);
	must(wc->wr_id == wr_id && !strcmp(wc->status, status),
	     "completion %s of %llu, %s of %llu awaited", wc->status,
	     (unsigned long long)wc->wr_id, status, (unsigned long long)wr_id);
}

void agent_must_get_no_wc(int ms)
{
	struct agent_wc wc;

	must(!agent_poll(&wc, ms), "completion %s of %llu, none awaited", wc.status,
	     (unsigned long long)wc.wr_id);
}

void agent_arm(bool solicited)
{
	line_ask(0, "arm %d", solicited);
}

bool agent_cq_event(int ms)
{
	return line_ask(ms, "cq-event %d", ms);
}
