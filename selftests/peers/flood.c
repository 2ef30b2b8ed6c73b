// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Many connections at once: each has a few numbers, and no byte of it is sent twice. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/conform.h"
#include "../conformance/peer.h"
#include "flood.h"
#include "packet.h"
#include "welcome.h"

#define FIRST_PORT	20000
#define TERMINATES	40
#define SEND_LEN	1000
#define SENDS		24
#define TINY		72	/* FPDUs of FLOOD_TINY in a packet */
#define BESIDE		100	/* connections of a script at a time */
#define SECOND_MS	1000

const char *const flood_names[FLOOD_KINDS] = {
	"SYNs", "silent", "slow", "startups", "Terminates", "script", "tiny",
	"hole",
};

/* what a connection sends in one segment; those of a script send all of them */
enum part { PART_REQUEST, PART_FPDUS, PART_LAST = PART_FPDUS + SENDS, PARTS };
/* with SYN and RST */
#define PACKETS		(PARTS + 2)

struct bytes {
	uint8_t data[1460];
	size_t len;
};

struct flow {
	uint32_t nxt;		/* what we send next */
	uint32_t rcv;		/* what we expect next */
	unsigned int packets;	/* that we sent */
	unsigned int sent;	/* bytes of data */
	bool up;
	bool slow;		/* its last byte went alone */
	bool replied;
	bool over;
};

static struct {
	struct flood how;
	struct flow *flows;
	struct bytes parts[PARTS];
	unsigned int begun, answers, replies, rejections, terminates, slow, ends, resets;
} f;

/* ---- what they send --------------------------------------------------------------------- */

static void add_fpdu(struct peer *p, enum part at, const uint8_t *ulpdu, size_t len)
{
	struct bytes *to = &f.parts[at];
	uint8_t out[2 * SEND_LEN + 64];
	size_t n = fpdu_build(p, ulpdu, len, NULL, out);

	must(to->len + n <= sizeof(to->data), "a segment is too short");
	memcpy(to->data + to->len, out, n);
	to->len += n;
}

static void build_request(void)
{
	bool quiet = f.how.kind == FLOOD_SLOW || flood_is_script(f.how.kind);
	struct bytes *to = &f.parts[PART_REQUEST];
	struct mpa_frame request;

	mpa_plain(&request, false);
	request.pd[0] = quiet ? ASK_QUIET : ASK_SERVE;
	request.pd_len = 1;
	to->len = mpa_encode(&request, to->data);
}

static void build_fpdus(void)
{
	struct peer p = { .crc = true, .version = 1, .tx_msn = { 1, 1, 1, 1 } };
	static const uint8_t data[SEND_LEN];
	enum flood_kind kind = f.how.kind;
	uint8_t ulpdu[SEND_LEN + 64];
	unsigned int i;

	for (i = 0; i < TERMINATES && kind == FLOOD_TERMINATES; i++)
		add_fpdu(&p, PART_FPDUS, ulpdu, seg_terminate(&p, 0, 2, 0xff, ulpdu));
	for (i = 0; i < SENDS && kind == FLOOD_SCRIPT; i++)
		add_fpdu(&p, PART_FPDUS + i, ulpdu,
			 seg_send(&p, OP_SEND, 0, 0, data, SEND_LEN, true, ulpdu));
	for (i = 0; i < SENDS * TINY && kind >= FLOOD_TINY; i++)
		add_fpdu(&p, PART_FPDUS + i / TINY, ulpdu,
			 seg_write(&p, 0, 0, data, 0, true, ulpdu));
	if (flood_is_script(kind) || kind == FLOOD_SLOW)
		add_fpdu(&p, kind == FLOOD_SLOW ? PART_FPDUS : PART_LAST, ulpdu,
			 seg_write(&p, 0, 0, data, SEND_LEN, true, ulpdu));
}

static void send_at(unsigned int i, uint32_t seq, uint8_t flags, const uint8_t *data, size_t len)
{
	struct flow *w = &f.flows[i];
	struct segment s = {
		.flags = flags, .seq = seq, .ack = w->rcv, .window = 65535, .data = data,
		.len = len,
	};

	packet_send(&s, FIRST_PORT + i, f.how.port);
	w->nxt += len + !!(flags & (TH_SYN | TH_FIN));
	w->packets++;
	w->sent += len;
	w->slow = false;
}

static void send_segment(unsigned int i, uint8_t flags, const uint8_t *data, size_t len)
{
	send_at(i, f.flows[i].nxt, flags, data, len);
}

static void send_part(unsigned int i, enum part at)
{
	const struct flow *w = &f.flows[i];
	uint32_t seq = w->nxt - w->sent;
	unsigned int before;

	for (before = 0; before < at; before++)
		seq += f.parts[before].len;
	send_at(i, seq, TH_ACK | TH_PUSH, f.parts[at].data, f.parts[at].len);
}

/* the @n-th part that is sent: FLOOD_HOLE sends the one after the Request last */
static enum part nth_part(unsigned int n)
{
	if (f.how.kind != FLOOD_HOLE || n < PART_FPDUS)
		return n;
	return n == PARTS - 1 ? PART_FPDUS : n + 1;
}

/*
 * FLOOD_SLOW: half of the connections are slow in all of @at, the others in its end alone: an
 * answer to these shows that the victim takes what comes slowly. A Request has its last byte in
 * the last second, when tern does not refuse it for the many that came at once; a connection
 * with a Reply does not live so long.
 */
static void begin_slowly(unsigned int i, enum part at)
{
	const struct bytes *bytes = &f.parts[at];
	size_t slow = at == PART_REQUEST ? f.how.seconds : 1;

	send_segment(i, TH_ACK, bytes->data, i & 2 ? bytes->len - slow : 0);
}

/* a byte of the Request, and then of FPDUs that are alike */
static void send_byte(unsigned int i)
{
	const struct bytes *request = &f.parts[PART_REQUEST], *fpdus = &f.parts[PART_FPDUS];
	unsigned int at = f.flows[i].sent;
	const uint8_t *byte = request->data + at;

	if (at >= request->len)
		byte = fpdus->data + (at - request->len) % fpdus->len;
	send_segment(i, TH_ACK | TH_PUSH, byte, 1);
	f.flows[i].slow = true;
}

/* RST where the other end expects the next byte: it ignores another one */
static void send_rst(unsigned int i)
{
	const struct flow *w = &f.flows[i];
	unsigned int request = f.parts[PART_REQUEST].len;
	uint32_t seq = w->nxt;

	if (f.how.kind == FLOOD_HOLE && w->packets <= PARTS && w->sent > request)
		seq -= w->sent - request;
	send_at(i, seq, TH_RST | TH_ACK, NULL, 0);
}

/* the next packet of a script: a SYN, each part, RST; Return: it was the last one */
static bool send_next(unsigned int i)
{
	unsigned int at = f.flows[i].packets;

	if (!at)
		send_segment(i, TH_SYN, NULL, 0);
	else if (at <= PARTS)
		send_part(i, nth_part(at - 1));
	else
		send_rst(i);
	return at == PACKETS - 1;
}

/* half of those of FLOOD_SLOW have a Reply before */
static bool has_a_byte(unsigned int i)
{
	const struct flow *w = &f.flows[i];

	return f.how.kind == FLOOD_SLOW && w->up && !w->over && (i % 2 || w->replied);
}

/* ---- what they get ------------------------------------------------------------------------ */

static void came_up(unsigned int i)
{
	if (f.how.kind == FLOOD_SILENT)
		send_segment(i, TH_ACK, NULL, 0);
	else if (f.how.kind == FLOOD_SLOW && i % 2)
		begin_slowly(i, PART_REQUEST);
	else if (f.how.kind != FLOOD_SYN && !flood_is_script(f.how.kind))
		send_part(i, PART_REQUEST);
}

/* not in a script, whose packets are always the same */
static void send_ack(unsigned int i)
{
	if (!flood_is_script(f.how.kind))
		send_segment(i, TH_ACK, NULL, 0);
}

static void reply_came(unsigned int i)
{
	f.replies++;
	if (f.how.kind == FLOOD_TERMINATES)
		send_part(i, PART_FPDUS);
	else if (f.how.kind == FLOOD_SLOW && !(i % 2))
		begin_slowly(i, PART_FPDUS);
	else if (f.how.kind == FLOOD_STARTUPS && i % 2)
		send_segment(i, TH_FIN | TH_ACK, NULL, 0);
	else
		send_ack(i);
}

static bool is_rejection(const uint8_t *data, size_t len)
{
	return len >= MPA_FRAME_HDR && data[16] & MPA_R;
}

/* tern sends it in a segment of its own, after the length of the ULPDU and DDP's control */
static bool is_terminate(const uint8_t *data, size_t len)
{
	return len > 3 && (data[3] & 15) == OP_TERMINATE;
}

static void take_data(unsigned int i, const uint8_t *tcp, const uint8_t *data, size_t len)
{
	struct flow *w = &f.flows[i];
	bool fin = tcp[13] & TH_FIN;

	if (get32(tcp + 4) != w->rcv || !(len || fin))
		return;
	w->rcv += len + fin;
	f.ends += fin;
	w->over = w->over || fin;
	if (!len)
		return;
	if (w->replied) {
		f.terminates += is_terminate(data, len);
		send_ack(i);
	} else if (is_rejection(data, len)) {
		f.rejections++;
		w->over = true;
	} else {
		w->replied = true;
		f.slow += w->slow;
		reply_came(i);
	}
}

static void arrived(const uint8_t *tcp, size_t len)
{
	unsigned int i = get16(tcp + 2) - FIRST_PORT;
	size_t hdr = (tcp[12] >> 4) * 4;
	struct flow *w;

	if (i >= f.how.count || hdr < TCP_HDR || hdr > len)
		return;
	w = &f.flows[i];
	if (tcp[13] & TH_RST) {
		f.resets++;
		w->over = true;
	} else if (!(tcp[13] & TH_SYN)) {
		if (w->up)
			take_data(i, tcp, tcp + hdr, len - hdr);
	} else if (!w->up) {
		f.answers++;
		w->up = true;
		w->rcv = get32(tcp + 4) + 1;
		came_up(i);
	}
}

/* Return: false when nothing came until @end */
static bool look(uint64_t end)
{
	size_t len;
	const uint8_t *tcp = packet_next(end, &len);

	if (tcp)
		arrived(tcp, len);
	return tcp;
}

static void look_until(uint64_t end)
{
	while (look(end))
		;
}

/* ---- all of them -------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = true;
}

/* when the @n-th packet is due */
static uint64_t due(uint64_t begin, unsigned int n)
{
	return f.how.rate ? begin + n * 1000ull / f.how.rate : 0;
}

static unsigned int new_flow(void)
{
	unsigned int i = f.begun++ % f.how.count;

	f.flows[i] = (struct flow) { .nxt = f.begun * 70000 };
	return i;
}

/*
 * BESIDE connections in turn, each with its next packet; the next one begins after the last.
 * The first ones begin in different turns, so that not all send the same in one turn.
 */
static void run_script(void)
{
	unsigned int flows[BESIDE], n, i;
	uint64_t begin = now_ms();

	signal(SIGTERM, stop);
	for (i = 0; i < BESIDE; i++)
		flows[i] = new_flow();
	for (n = 0; n < f.how.rate * f.how.seconds && !stopped; n++) {
		look_until(due(begin, n));
		i = n % BESIDE;
		if (n / BESIDE >= i % PACKETS && send_next(flows[i]))
			flows[i] = new_flow();
	}
	for (i = 0; i < BESIDE; i++)
		send_rst(flows[i]);
}

static void open_all(void)
{
	uint64_t begin = now_ms();
	unsigned int i;

	for (i = 0; i < f.how.count; i++) {
		look_until(due(begin, i));
		send_segment(new_flow(), TH_SYN, NULL, 0);
	}
}

static void stay(void)
{
	uint64_t end = now_ms() + f.how.seconds * SECOND_MS, second;
	unsigned int i;

	for (second = now_ms(); second < end; second += SECOND_MS) {
		for (i = 0; i < f.how.count; i++)
			if (has_a_byte(i))
				send_byte(i);
		look_until(second + SECOND_MS);
	}
}

void flood_run(const struct flood *how)
{
	f.how = *how;
	f.flows = calloc(how->count, sizeof(*f.flows));
	must(f.flows && how->count <= 40000, "%u connections", how->count);
	build_request();
	build_fpdus();
	if (flood_is_script(how->kind)) {
		run_script();
	} else {
		open_all();
		stay();
	}
	printf("flood: %u SYNs, %u answers, %u Replies, %u of slow Requests, %u rejections, "
	       "%u Terminates, %u FINs, %u RSTs\n", f.begun, f.answers, f.replies, f.slow,
	       f.rejections, f.terminates, f.ends, f.resets);
	free(f.flows);
}
