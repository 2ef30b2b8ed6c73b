// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Private data, from one ULP to the other: RFC 5044 7.1.1. */
#include <string.h>

#include "knock.h"
#include "session.h"

#define SILENCE_MS	150
#define REPLY_MS	2000
#define STEP_MS		20
#define RDMA_CM_PD	255	/* the most that rdma_cm can carry */
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static void data_frame(struct mpa_frame *f, bool reply, size_t len)
{
	uint8_t data[MPA_PD_MAX];

	mpa_plain(f, reply);
	pattern(data, len, len);
	mpa_add_pd(f, data, len);
}

/* Receive a Reply: the device rejects by itself, or its ULP accepts. */
static void must_get_some_reply(struct peer *p, struct mpa_frame *reply)
{
	const struct agent_qp qp = AGENT_QP_DEFAULT;
	uint64_t end = now_ms() + patience(REPLY_MS);
	struct agent_event ev;

	while (!agent_event(&ev, STEP_MS)) {
		if (peer_recv_frame(p, true, reply, 0))
			return;
		must(now_ms() < end, "neither a Reply nor an event");
	}
	must(!strcmp(ev.name, "CONNECT_REQUEST"), "event %s", ev.name);
	agent_accept(ev.conn, &qp, NULL, 0);
	must(peer_recv_frame(p, true, reply, patience(REPLY_MS)), "no Reply");
}

static void data__request_of_512(void)
{
	struct mpa_frame f, reply;

	data_frame(&f, false, MPA_PD_MAX);
	must_get_some_reply(knock(agent_listen(), &f), &reply);
}

static const size_t pd_sizes[] = { 0, 1, 2, 3, 4, 100, RDMA_CM_PD };

static void data__request_data_to_ulp(void)
{
	unsigned int i;

	for (i = 0; i < COUNT(pd_sizes); i++) {
		struct meeting m = MEETING_DEFAULT;
		struct mpa_frame f;

		data_frame(&f, false, pd_sizes[i]);
		meet_knock(&m, &f);
		must_eq(m.called.pd_len, pd_sizes[i], "the length that the ULP sees");
		must_bytes(m.called.pd, f.pd, f.pd_len, "private data");
		agent_reject(m.conn, NULL, 0);
	}
}

static void data__reply_data_to_ulp(void)
{
	unsigned int i;

	for (i = 0; i < COUNT(pd_sizes); i++) {
		struct meeting m = MEETING_DEFAULT;
		uint8_t data[RDMA_CM_PD];
		struct mpa_frame f;

		meet_call(&m);
		good_reply(&m, &f);
		pattern(data, pd_sizes[i], i);
		mpa_add_pd(&f, data, pd_sizes[i]);
		meet_answer(&m, &f);
		must_be_up(&m);
		must_eq(m.up.pd_len, pd_sizes[i], "the length that the ULP sees");
		must_bytes(m.up.pd, data, pd_sizes[i], "private data");
		agent_destroy(m.conn);
	}
}

static void data__request_over_rdma_cm(void)
{
	struct mpa_frame f, reply;
	struct peer *p;

	data_frame(&f, false, RDMA_CM_PD + 1);
	p = knock(agent_listen(), &f);
	if (peer_recv_frame(p, true, &reply, patience(REPLY_MS)))
		must(reply.flags & MPA_R, "the Reply does not reject");
	must_close_silently(p);
	agent_must_get_no_event(SILENCE_MS);
}

static void data__reply_over_rdma_cm(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t data[RDMA_CM_PD + 1];
	struct mpa_frame f;

	meet_call(&m);
	good_reply(&m, &f);
	pattern(data, sizeof(data), 1);
	mpa_add_pd(&f, data, sizeof(data));
	peer_send_frame(m.p, &f);
	must_fail_call(&m);
}

static void data__reject_over_rdma_cm(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t data[RDMA_CM_PD + 1];
	struct agent_event ev;
	struct mpa_frame f;

	meet_call(&m);
	good_reply(&m, &f);
	f.flags |= MPA_R;
	pattern(data, sizeof(data), 1);
	mpa_add_pd(&f, data, sizeof(data));
	peer_send_frame(m.p, &f);
	agent_must_get_event("REJECTED", &ev);
	must_eq(ev.pd_len, RDMA_CM_PD, "the length that the ULP sees");
	must_bytes(ev.pd, data, RDMA_CM_PD, "private data");
}

static void data__ulp_data_in_request(void)
{
	unsigned int i;

	for (i = 0; i < COUNT(pd_sizes); i++) {
		struct meeting m = MEETING_DEFAULT;
		uint8_t data[RDMA_CM_PD];
		size_t own;

		pattern(data, pd_sizes[i], i);
		m.pd = data;
		m.pd_len = pd_sizes[i];
		meet_call(&m);
		own = m.p->request.flags & MPA_S ? 4 : 0;
		must_eq(m.p->request.pd_len, own + pd_sizes[i], "PD_Length");
		must_bytes(m.p->request.pd + own, data, pd_sizes[i], "private data");
		agent_destroy(m.conn);
	}
}

static void reply_carries(bool reject)
{
	unsigned int i;

	for (i = 0; i < COUNT(pd_sizes); i++) {
		struct meeting m = MEETING_DEFAULT;
		uint8_t data[RDMA_CM_PD];
		struct mpa_frame f, reply;

		pattern(data, pd_sizes[i], i);
		mpa_plain(&f, false);
		meet_knock(&m, &f);
		if (reject)
			agent_reject(m.conn, data, pd_sizes[i]);
		else
			agent_accept(m.conn, &m.qp, data, pd_sizes[i]);
		must(peer_recv_frame(m.p, true, &reply, patience(REPLY_MS)), "no Reply");
		must_eq(reply.flags & MPA_R, reject ? MPA_R : 0, "R");
		must_eq(reply.pd_len, pd_sizes[i], "PD_Length");
		must_bytes(reply.pd, data, pd_sizes[i], "private data");
		agent_destroy(m.conn);
	}
}

static void data__ulp_data_in_reply(void)
{
	reply_carries(false);
}

static void data__ulp_data_in_reject(void)
{
	reply_carries(true);
}

static const struct conform_test tests[] = {
	{ "data__request_of_512", "MPA-098",
	  "512 bytes of private data are a legal Request: it gets a Reply.",
	  RESPONDER, 0, data__request_of_512 },
	{ "data__request_data_to_ulp", "MPA-097 MPA-098",
	  "The private data of a Request, with its length, reaches the ULP.",
	  RESPONDER, 0, data__request_data_to_ulp },
	{ "data__reply_data_to_ulp", "MPA-097 MPA-098",
	  "The private data of a Reply, with its length, reaches the ULP.",
	  INITIATOR, 0, data__reply_data_to_ulp },
	{ "data__request_over_rdma_cm", "MPA-097",
	  "A Request with more private data than rdma_cm carries is refused, never cut.",
	  RESPONDER, 0, data__request_over_rdma_cm },
	{ "data__reply_over_rdma_cm", "MPA-097",
	  "A Reply with more private data than rdma_cm carries ends the startup.",
	  INITIATOR, 0, data__reply_over_rdma_cm },
	{ "data__reject_over_rdma_cm", "MPA-097",
	  "The private data of a rejecting Reply is cut to what rdma_cm carries.",
	  INITIATOR, 0, data__reject_over_rdma_cm },
	{ "data__ulp_data_in_request", "MPA-095 MPA-100",
	  "A Request carries the ULP's private data, and PD_Length counts it.",
	  INITIATOR, 0, data__ulp_data_in_request },
	{ "data__ulp_data_in_reply", "MPA-095 MPA-106",
	  "An accepting Reply carries the ULP's private data, and PD_Length counts it.",
	  RESPONDER, 0, data__ulp_data_in_reply },
	{ "data__ulp_data_in_reject", "MPA-090 MPA-095 MPA-103 MPA-104",
	  "The ULP's verdict is in R, and a rejecting Reply carries its private data.",
	  RESPONDER, 0, data__ulp_data_in_reject },
	{}
};

const struct conform_group private_data_group = { "private-data", tests };
