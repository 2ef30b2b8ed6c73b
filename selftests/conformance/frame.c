// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The Request and Reply frames and the rules of the startup: RFC 5044 7.1.1 and 7.1.2,
 * rows K1 to K14. gate.c tests which revisions may meet.
 */
#include <stdlib.h>
#include <string.h>

#include "knock.h"
#include "session.h"

#define SHORT_MS	300	/* a timer of the device, set to expire soon */
#define SILENCE_MS	150
#define RES_BITS	0x0f

static void data_frame(struct mpa_frame *f, bool reply, size_t len)
{
	uint8_t data[MPA_PD_MAX];

	mpa_plain(f, reply);
	pattern(data, len, len);
	mpa_add_pd(f, data, len);
}

/* ---- K1, K2: the key ---- */

static void frame__request_key_bytes(void)
{
	uint16_t port = agent_listen();
	struct mpa_frame f;
	struct peer *p;
	int i;

	for (i = 0; i < 16; i++) {
		mpa_plain(&f, false);
		f.key[i] ^= 1;
		p = knock(port, &f);
		must_close_silently(p);
		peer_close(p);
	}
	agent_must_get_no_event(SILENCE_MS);
}

static void frame__reply_key_bytes(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;
	int i;

	for (i = 0; i < 16; i++) {
		meet_call(&m);
		good_reply(&m, &f);
		f.key[i] ^= 1;
		peer_send_frame(m.p, &f);
		must_fail_call(&m);
	}
}

static void frame__reply_to_responder(void)
{
	struct mpa_frame f;

	mpa_plain(&f, true);
	must_be_refused(knock(agent_listen(), &f));
}

static void frame__request_to_initiator(void)
{
	struct mpa_frame f;

	mpa_plain(&f, false);
	must_refuse_reply(&f);
	mpa_enhanced(&f, false, ENH_A | 8, ENH_C | 8);
	must_refuse_reply(&f);
}

/* ---- K3: a PD_Length that is too large ---- */

static const uint16_t too_long[] = { 513, 1024, 32768, 65535 };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static void frame__long_request(void)
{
	uint16_t port = agent_listen();
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];
	struct mpa_frame f;
	struct peer *p;
	unsigned int i;

	for (i = 0; i < COUNT(too_long); i++) {
		mpa_plain(&f, false);
		f.pd_len = too_long[i];
		mpa_encode(&f, out);
		p = peer_connect(port, NULL);
		peer_send(p, out, MPA_FRAME_HDR);
		must_close_silently(p);
	}
	agent_must_get_no_event(SILENCE_MS);
}

static void frame__long_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];
	struct mpa_frame f;
	unsigned int i;

	for (i = 0; i < COUNT(too_long); i++) {
		meet_call(&m);
		good_reply(&m, &f);
		f.pd_len = too_long[i];
		mpa_encode(&f, out);
		peer_send(m.p, out, MPA_FRAME_HDR);
		must_fail_call(&m);
	}
}

/* ---- K4, K5: a frame that is cut short ---- */

/* how many bytes of a frame with 10 bytes of private data are sent */
static const size_t parts[] = { 1, 16, 19, 20, 29 };

static size_t ten_frame(bool reply, void *out)
{
	struct mpa_frame f;

	data_frame(&f, reply, 10);
	return mpa_encode(&f, out);
}

static void frame__fin_inside_request(void)
{
	uint16_t port = agent_listen();
	uint8_t out[64];
	struct peer *p;
	unsigned int i;

	ten_frame(false, out);
	for (i = 0; i < COUNT(parts); i++) {
		p = peer_connect(port, NULL);
		peer_send(p, out, parts[i]);
		peer_shutdown(p);
		must_close_silently(p);
	}
	agent_must_get_no_event(SILENCE_MS);
}

static void frame__fin_inside_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];
	struct mpa_frame f;
	unsigned int i;

	for (i = 0; i < COUNT(parts); i++) {
		meet_call(&m);
		good_reply(&m, &f);
		mpa_add_pd(&f, "0123456789", 10);
		mpa_encode(&f, out);
		peer_send(m.p, out, parts[i]);
		peer_shutdown(m.p);
		must_fail_call(&m);
	}
}

/* the device closes each of @peers, but not before half of its timer's time */
static void must_close_on_time(struct peer **peers, size_t count, uint64_t start)
{
	size_t i;

	for (i = 0; i < count; i++) {
		must_close_silently(peers[i]);
		must(now_ms() - start >= SHORT_MS / 2, "closed after only %d ms",
		     (int)(now_ms() - start));
	}
}

static void frame__stalled_request(void)
{
	struct peer *peers[COUNT(parts) + 1];
	uint8_t out[64];
	uint16_t port;
	uint64_t start;
	unsigned int i;

	agent_set("request-ms 300");
	ten_frame(false, out);
	port = agent_listen();
	start = now_ms();
	for (i = 0; i < COUNT(parts); i++) {
		peers[i] = peer_connect(port, NULL);
		peer_send(peers[i], out, parts[i]);
	}
	peers[i] = peer_connect(port, NULL);
	must_close_on_time(peers, COUNT(peers), start);
	agent_must_get_no_event(SILENCE_MS);
}

/* a byte now and then does not restart the timer */
static void frame__single_bytes_do_not_extend_the_limit(void)
{
	uint8_t out[64];
	const uint8_t *at;
	struct peer *p;
	uint64_t start;
	unsigned int i;

	agent_set("request-ms 300");
	ten_frame(false, out);
	start = now_ms();
	p = peer_connect(agent_listen(), NULL);
	for (i = 0; i < 29 && p->end == PEER_OPEN; i++) {
		peer_send(p, out + i, 1);
		must(!peer_look(p, 1, SHORT_MS / 5, &at), "an answer to %u bytes", i);
	}
	must(p->end != PEER_OPEN, "not closed in %d ms", 29 * SHORT_MS / 5);
	must(now_ms() - start >= SHORT_MS / 2, "closed after only %d ms",
	     (int)(now_ms() - start));
	agent_must_get_no_event(SILENCE_MS);
}

static void frame__stalled_request_does_not_delay_others(void)
{
	struct mpa_frame f;
	uint16_t port = agent_listen();
	struct peer *silent = peer_connect(port, NULL);
	struct agent_event ev;

	mpa_plain(&f, false);
	knock(port, &f);
	agent_must_get_event("CONNECT_REQUEST", &ev);
	must_be_silent(silent, 0);
}

static void frame__stalled_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];
	struct mpa_frame f;
	uint64_t start;
	unsigned int i;

	agent_set("reply-ms 300");
	for (i = 0; i < COUNT(parts); i += 2) {
		start = now_ms();
		meet_call(&m);
		good_reply(&m, &f);
		mpa_add_pd(&f, "0123456789", 10);
		mpa_encode(&f, out);
		peer_send(m.p, out, parts[i]);
		must_close_on_time(&m.p, 1, start);
		must_fail_call(&m);
	}
}

/* ---- K6: a frame in pieces ---- */

static void frame__request_of_single_bytes(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t out[64];
	size_t len = ten_frame(false, out);

	m.p = peer_connect(agent_listen(), NULL);
	peer_send_pieces(m.p, out, len, 1);
	agent_must_get_event("CONNECT_REQUEST", &m.called);
	m.conn = m.called.conn;
	must_eq(m.called.pd_len, 10, "the length that the ULP sees");
	meet_accept(&m);
}

static void frame__reply_of_single_bytes(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];
	struct mpa_frame f;

	meet_call(&m);
	good_reply(&m, &f);
	mpa_add_pd(&f, "0123456789", 10);
	peer_send_pieces(m.p, out, mpa_encode(&f, out), 1);
	must_be_up(&m);
	must_eq(m.up.pd_len, 10, "the length that the ULP sees");
}

/* ---- K7, K8, K9, K14: bytes that come too early ---- */

/* build a good zero-length Write; Return: its bytes */
static size_t write_fpdu(void *out)
{
	struct peer p = { .crc = true, .version = 1 };
	uint8_t u[64];

	return fpdu_build(&p, u, seg_write(&p, 1, 1, NULL, 0, true, u), NULL, out);
}

static size_t terminate_fpdu(void *out)
{
	struct peer p = { .crc = true, .version = 1, .tx_msn = { 1, 1, 1, 1 } };
	uint8_t u[64];

	return fpdu_build(&p, u, seg_terminate(&p, 2, 0, 5, u), NULL, out);
}

static void frame__bytes_with_request(void)
{
	struct mpa_frame f;
	uint8_t out[128];
	struct peer *p;
	size_t n;

	mpa_plain(&f, false);
	n = mpa_encode(&f, out);
	n += write_fpdu(out + n);
	p = peer_connect(agent_listen(), NULL);
	peer_send(p, out, n);
	must_close_silently(p);
}

static void bytes_before_reply(const void *data, size_t len)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f, reply;

	mpa_plain(&f, false);
	meet_knock(&m, &f);
	peer_send(m.p, data, len);
	/* the device may notice only when its ULP accepts */
	if (m.p->end == PEER_OPEN && peer_wait_end(m.p, SILENCE_MS) == PEER_OPEN)
		agent_try_accept(m.conn, &m.qp, NULL, 0);
	must(!peer_recv_frame(m.p, true, &reply, SILENCE_MS), "the device replies");
	must_close_silently(m.p);
}

static void frame__bytes_before_reply(void)
{
	uint8_t out[64];

	bytes_before_reply(out, write_fpdu(out));
}

static void frame__second_request(void)
{
	struct mpa_frame f;
	uint8_t out[64];

	mpa_plain(&f, false);
	bytes_before_reply(out, mpa_encode(&f, out));
}

/* the device connects and gets a good Reply, followed by more bytes */
static void answer_with_tail(struct meeting *m, uint8_t flags, const void *tail,
			     size_t tail_len)
{
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX + 128];
	struct mpa_frame f;
	size_t n;

	meet_call(m);
	good_reply(m, &f);
	f.flags |= flags;
	n = mpa_encode(&f, out);
	memcpy(out + n, tail, tail_len);
	peer_send(m->p, out, n + tail_len);
}

static void frame__bytes_with_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t tail[64];

	answer_with_tail(&m, 0, tail, write_fpdu(tail));
	must_fail_call(&m);
	answer_with_tail(&m, 0, "junk after it.", 14);
	must_fail_call(&m);
}

static void frame__terminate_with_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t tail[64];

	answer_with_tail(&m, 0, tail, terminate_fpdu(tail));
	must_fail_call(&m);
}

static void must_receive_terminate(struct peer *p, const char *want)
{
	char value[64];

	must(agent_state(p->port, "term_received", value, sizeof(value)),
	     "the device knows nothing of the connection");
	must(!strcmp(value, want), "term_received is %s, not %s", value, want);
}

static void frame__code_of_terminate_with_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t tail[64];

	answer_with_tail(&m, 0, tail, terminate_fpdu(tail));
	must_close_silently(m.p);
	must_receive_terminate(m.p, "2/0/05");
}

static void frame__bytes_with_reply_tolerated(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t tail[64];

	agent_set("early-octets tolerate");
	answer_with_tail(&m, 0, tail, write_fpdu(tail));
	must_be_up(&m);
}

static void reject_with_tail(struct meeting *m, const void *tail, size_t len)
{
	struct agent_event ev;

	answer_with_tail(m, MPA_R, tail, len);
	agent_must_get_event("REJECTED", &ev);
	must_close_silently(m->p);
}

static void frame__bytes_with_reject(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t tail[64];

	reject_with_tail(&m, tail, write_fpdu(tail));
	must_not_retry();
}

static void frame__code_of_terminate_with_reject(void)
{
	struct meeting m = MEETING_DEFAULT;
	uint8_t tail[64];

	reject_with_tail(&m, tail, terminate_fpdu(tail));
	must_receive_terminate(m.p, "2/0/05");
}

/* ---- K10, K11: bits that are ignored ---- */

static void accepted_with(uint8_t bits, bool enhanced)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	if (enhanced)
		meet_enhanced(&f, false, false, 0, 8, 8);
	else
		mpa_plain(&f, false);
	f.flags |= bits;
	meet_responder(&m, &f);
	must_eq(m.p->reply.flags & RES_BITS, 0, "Res bits of the Reply");
	send_write(m.p, 1, 1, NULL, 0);
	must_be_up(&m);
}

static void frame__res_bits_of_request(void)
{
	accepted_with(RES_BITS, false);
	accepted_with(RES_BITS, true);
}

static void frame__res_bits_of_reply(void)
{
	struct meeting m = MEETING_DEFAULT;
	struct mpa_frame f;

	meet_call(&m);
	must_eq(m.p->request.flags & RES_BITS, 0, "Res bits of the Request");
	good_reply(&m, &f);
	f.flags |= RES_BITS;
	meet_answer(&m, &f);
	must_be_up(&m);
}

static void frame__reject_bit_of_request(void)
{
	accepted_with(MPA_R, false);
	accepted_with(MPA_R, true);
}

/* ---- MPA-116: random frames ---- */

#define FUZZ_FRAMES	40
#define FUZZ_SEED	5044

/* a frame with up to three bytes of its header changed */
static size_t spoil(void *out)
{
	struct mpa_frame f;
	uint8_t *bytes = out;
	unsigned int i;
	size_t n;

	data_frame(&f, false, rand() % 64);
	f.rev = 1 + rand() % 2;
	f.flags |= rand() % 2 ? MPA_S : 0;
	n = mpa_encode(&f, out);
	for (i = rand() % 4; i; i--)
		bytes[16 + rand() % 8] = rand();
	return n;
}

static void frame__damaged_requests(void)
{
	const struct agent_qp qp = AGENT_QP_DEFAULT;
	uint16_t port = agent_listen();
	uint8_t out[MPA_FRAME_HDR + MPA_PD_MAX];
	struct agent_event ev;
	struct peer *p;
	unsigned int i;

	srand(FUZZ_SEED);
	for (i = 0; i < FUZZ_FRAMES; i++) {
		p = peer_connect(port, NULL);
		peer_send(p, out, spoil(out));
		peer_shutdown(p);
		while (agent_event(&ev, 1))
			if (!strcmp(ev.name, "CONNECT_REQUEST"))
				agent_try_accept(ev.conn, &qp, NULL, 0);
		peer_reset(p);
	}
	/* drop the events of these connections, too */
	agent_reset();
	must_serve();
}

static const struct conform_test tests[] = {
	{ "frame__request_key_bytes", "K1 MPA-082 MPA-102 MPA-128",
	  "A Request of which any byte of the key is wrong is closed on, without a Reply.",
	  RESPONDER, 0, frame__request_key_bytes },
	{ "frame__reply_key_bytes", "K1 MPA-084 MPA-109 MPA-128",
	  "A Reply of which any byte of the key is wrong is closed on and reported.",
	  INITIATOR, 0, frame__reply_key_bytes },
	{ "frame__reply_to_responder", "K2 MPA-082 MPA-114",
	  "A Reply where a Request is due is closed on.",
	  RESPONDER, 0, frame__reply_to_responder },
	{ "frame__request_to_initiator", "K2 P9 MPA-077 MPA-084 MPA-114",
	  "A Request where a Reply is due is closed on: two initiators notice it.",
	  INITIATOR, 0, frame__request_to_initiator },
	{ "frame__long_request", "K3 MPA-096 MPA-098 MPA-102 MPA-116",
	  "A PD_Length over 512 is closed on without waiting for the data.",
	  RESPONDER, 0, frame__long_request },
	{ "frame__long_reply", "K3 MPA-096 MPA-098 MPA-109 MPA-116",
	  "A PD_Length over 512 in a Reply is closed on without waiting for the data.",
	  INITIATOR, 0, frame__long_reply },
	{ "frame__fin_inside_request", "K4 MPA-096 MPA-102",
	  "A FIN inside a Request makes it badly formatted.",
	  RESPONDER, 0, frame__fin_inside_request },
	{ "frame__fin_inside_reply", "K4 MPA-096 MPA-109",
	  "A FIN inside a Reply makes it badly formatted.",
	  INITIATOR, 0, frame__fin_inside_reply },
	{ "frame__stalled_request", "K5 P10 MPA-115 MPA-117 MPA-102",
	  "A responder waits for a whole Request for some time only.",
	  RESPONDER, NEED_SET, frame__stalled_request },
	{ "frame__single_bytes_do_not_extend_the_limit", "K5 MPA-117",
	  "The time limit is for the whole Request, however it comes.",
	  RESPONDER, NEED_SET, frame__single_bytes_do_not_extend_the_limit },
	{ "frame__stalled_request_does_not_delay_others", "MPA-115",
	  "A connection without a Request delays no other.",
	  RESPONDER, 0, frame__stalled_request_does_not_delay_others },
	{ "frame__stalled_reply", "K5 MPA-117 MPA-109",
	  "An initiator waits for a whole Reply for some time only.",
	  INITIATOR, NEED_SET, frame__stalled_reply },
	{ "frame__request_of_single_bytes", "K6 MPA-101",
	  "A Request may come in segments of one byte.",
	  RESPONDER, 0, frame__request_of_single_bytes },
	{ "frame__reply_of_single_bytes", "K6 MPA-108",
	  "A Reply may come in segments of one byte.",
	  INITIATOR, 0, frame__reply_of_single_bytes },
	{ "frame__bytes_with_request", "K7 MPA-096 MPA-102",
	  "Bytes right after a Request, before the Reply, make it badly formatted.",
	  RESPONDER, 0, frame__bytes_with_request },
	{ "frame__bytes_before_reply", "K7 MPA-096 MPA-102",
	  "Bytes while the ULP decides make the Request badly formatted.",
	  RESPONDER, 0, frame__bytes_before_reply },
	{ "frame__second_request", "K14 MPA-102",
	  "A second Request makes the first one badly formatted.",
	  RESPONDER, 0, frame__second_request },
	{ "frame__bytes_with_reply", "K8 MPA-096 MPA-109",
	  "Bytes after a Reply, before the responder got an FPDU, are badly formatted.",
	  INITIATOR, 0, frame__bytes_with_reply },
	{ "frame__terminate_with_reply", "K8",
	  "A Terminate after an accepting Reply ends the startup.",
	  INITIATOR, 0, frame__terminate_with_reply },
	{ "frame__code_of_terminate_with_reply", "K8",
	  "The code of a Terminate after an accepting Reply is reported.",
	  INITIATOR, NEED_STATE, frame__code_of_terminate_with_reply },
	{ "frame__bytes_with_reply_tolerated", "K8",
	  "A switch lets bytes after a Reply pass, for old peers.",
	  INITIATOR, NEED_SET, frame__bytes_with_reply_tolerated },
	{ "frame__bytes_with_reject", "K9 MPA-110",
	  "What follows a rejecting Reply is not MPA's any more.",
	  INITIATOR, 0, frame__bytes_with_reject },
	{ "frame__code_of_terminate_with_reject", "K9",
	  "The code of a Terminate after a rejecting Reply is reported.",
	  INITIATOR, NEED_STATE, frame__code_of_terminate_with_reject },
	{ "frame__res_bits_of_request", "K10 MPA-091",
	  "Reserved bits of a Request are not looked at, and are 0 in the Reply.",
	  RESPONDER, 0, frame__res_bits_of_request },
	{ "frame__res_bits_of_reply", "K10 MPA-091",
	  "Reserved bits are 0 in the Request and not looked at in the Reply.",
	  INITIATOR, 0, frame__res_bits_of_reply },
	{ "frame__reject_bit_of_request", "K11 MPA-089",
	  "R in a Request is not looked at.",
	  RESPONDER, 0, frame__reject_bit_of_request },
	{ "frame__damaged_requests", "MPA-116 MPA-102",
	  "A damaged Request does not keep the device from serving the next one.",
	  RESPONDER, 0, frame__damaged_requests },
	{}
};

const struct conform_group frame_group = { "frame", tests };
