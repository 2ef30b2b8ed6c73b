// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A hostile peer, made from a seed:
 *
 *	peer seed=N [count=M] [verbose] netdev=NAME own=IP victim=IP mac=LLADDR port=PORT
 *	    control=PATH
 *
 *	peer flood=SECONDS as=KIND [count=M] [rate=N] netdev=... (the same)
 *
 * For each seed a connection: the peer opens it, or has the victim open one (victim.c, at
 * the socket @control). The seed decides on the startup, on the messages of Full Operation,
 * which of them are wrong and how (grammar.c), how TCP's segments are spoiled (spoil.c), and
 * on the end. Each step, and each segment, has numbers of its own.
 *
 * With flood= it opens M connections instead, N a second, which do what KIND says (flood.h).
 *
 * It prints what it reached, as "# NAME: COUNT", and fails if the victim sends a bad FPDU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "../conformance/conform.h"
#include "answer.h"
#include "flood.h"
#include "grammar.h"
#include "packet.h"
#include "spoil.h"
#include "tcp.h"

#define CONNECT_MS	500
#define FRAME_MS	300
#define LISTEN_MS	2
#define ANSWER_MS	60
#define END_MS		150
#define STEPS		24
#define EARLY		128
#define TERMS		(3 * 16 * 256)

enum start { START_PLAIN, START_ENHANCED, START_P2P, STARTS };
enum end { END_FIN, END_RST, END_SILENCE, END_WAIT, ENDS };

/* what a seed decides first */
struct plan {
	uint8_t ask;
	bool passive;
	enum start start;
	bool bad_frame;
	bool early;		/* bytes after the frame, before it is answered */
	bool markers;
	bool crc;
	bool hello;
	unsigned int steps;
	unsigned int percent;	/* of faulty FPDUs */
	struct tcp_manner manner;
	enum end end;
	bool single;		/* one fault, so that it is clear what a Terminate answers */
};

static struct {
	struct place place;
	uint64_t seed;
	unsigned long count;
	uint16_t port;
	const char *control;
	bool verbose;
	struct flood flood;
} options_of_peer = { .count = 1 };

static struct {
	unsigned int seeds, up, framed, full, busy, refused, finished, reset, open, markers, v2;
	unsigned int fpdus, terms, compared;
	unsigned int term[TERMS];
} reached;

static uint64_t seed_now;
unsigned int test_failures;

/* ---- what the peer of tern-conform needs of its runner --------------------------------- */

void test_report(const char *file, int line, const char *text)
{
	printf("seed %llu: %s:%d: %s\n", (unsigned long long)seed_now, file, line, text);
}

void test_leave(void)
{
	exit(1);
}

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

enum role dut_role(void)
{
	return NO_ROLE;
}

/* half an FPDU is the usual case here, and no reason to wait */
int patience(int ms)
{
	return ms / 100;
}

void say(const char *fmt, ...)
{
	va_list args;

	if (!options_of_peer.verbose)
		return;
	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
}

/* ---- the plan --------------------------------------------------------------------------- */

static struct plan draw_plan(uint64_t seed)
{
	static const unsigned int percents[] = { 0, 8, 20, 40, 60 };
	static const unsigned int spoiled[] = { 0, 0, 4, 15, 50 };
	struct series s = series_of(seed, 0);
	struct plan p;

	/* one in a statement: C has no order for those in one expression */
	p.ask = chance(&s, 90) ? ASK_SERVE : draw(&s) % ASKS;
	p.passive = chance(&s, 30);
	p.start = draw(&s) % STARTS;
	p.bad_frame = chance(&s, 12);
	p.early = chance(&s, 5);
	p.markers = chance(&s, 25);
	p.crc = chance(&s, 75);
	p.hello = chance(&s, 40);
	p.steps = draw(&s) % STEPS;
	p.percent = percents[draw(&s) % 5];
	p.manner.percent = spoiled[draw(&s) % 5];
	p.manner.window = chance(&s, 90) ? 65535 : draw(&s) % 600;
	p.manner.mute = chance(&s, 4);
	p.manner.polite = chance(&s, 75);
	p.manner.mss = chance(&s, 70) ? 1460 : 48 + draw(&s) % 1400;
	p.end = draw(&s) % ENDS;
	p.single = chance(&s, 60);
	if (p.hello)
		p.ask |= ASK_ATOMICS;
	return p;
}

/* ---- what the victim sends -------------------------------------------------------------- */

static void remember_read(struct known *k, const struct seg *s)
{
	struct read_v2 r = { .msn = s->msn };

	if (k->n_reads == MOST_READS)
		return;
	if (seg_op(s) == OP_READ_REQ && s->len >= READ_REQ_LEN - UNTAGGED_HDR) {
		r.stag = get32(s->data);
		r.to = get64(s->data + 4);
		r.size = get32(s->data + 12);
	} else if (seg_op(s) == OP_READ_REQ_V2 && s->len >= READ_REQ_V2_LEN) {
		r.size = get32(s->data);
	} else {
		return;
	}
	k->reads[k->n_reads++] = r;
}

static void see_terminate(const struct known *k, const struct seg *s)
{
	uint32_t answers = spoil_has_changed() ? k->answers | ANY_ANSWER : k->answers;
	struct term t;

	expect(term_decode(&t, s), "a Terminate is shorter than its bits say");
	say("< Terminate %u/%u/%02x", t.layer, t.etype, t.code);
	expect(answer_is_of(&t, answers), "Terminate %u/%u/%02x answers nothing that was sent",
	       t.layer, t.etype, t.code);
	reached.compared += !may_be_any(answers);
	reached.terms++;
	if (t.layer < 3)
		reached.term[(t.layer * 16 + t.etype) * 256 + t.code]++;
}

/* after the last hello of ours */
static void use_agreed(struct peer *p, struct known *k)
{
	k->agreed = k->offered;
	p->tx_v2 = k->agreed & HELLO_V2;
	p->rx_v2 = p->tx_v2;
	reached.v2 += p->tx_v2;
	if (k->agreed & HELLO_7306 && !k->faults)
		k->answers &= ~OWN_ERROR;
}

static void take_hello(struct known *k, const struct hello *h)
{
	say("< hello %u, features %#x", h->role, h->features);
	if (h->role != HELLO_GO)
		k->offered = h->features;
}

/* read FPDUs until none came for @ms */
static void listen_to(struct peer *p, struct known *k, int ms)
{
	struct hello h;
	struct fpdu f;

	while (peer_recv_fpdu_raw(p, &f, ms)) {
		reached.fpdus++;
		say("< FPDU: %#x, %u bytes", f.seg.rdmap, f.seg.ulpdu_len);
		expect(f.crc_ok || !p->crc, "the victim's CRC is wrong");
		expect(f.markers_ok, "a marker of the victim is wrong");
		expect(f.pad_ok, "pad bytes of the victim are not 0");
		if (hello_decode(&h, &f.seg))
			take_hello(k, &h);
		else if (seg_op(&f.seg) == OP_TERMINATE)
			see_terminate(k, &f.seg);
		else
			remember_read(k, &f.seg);
	}
}

/* ---- startup ---------------------------------------------------------------------------- */

static void add_private_data(struct mpa_frame *f, const void *data, size_t len)
{
	memcpy(f->pd + f->pd_len, data, len);
	f->pd_len += len;
}

/* @f becomes what was sent, by which both ends go */
static void send_frame(struct peer *p, const struct plan *plan, struct mpa_frame *f)
{
	struct series s = series_of(seed_now, 3);
	uint8_t out[FRAME_ROOM + EARLY];
	size_t len = mpa_encode(f, out), i;

	if (plan->bad_frame)
		len = grammar_spoil_frame(&s, out, len);
	if (len >= MPA_FRAME_HDR) {
		f->flags = out[16];
		f->rev = out[17];
	}
	if (plan->early)
		for (i = draw(&s) % EARLY; i; i--)
			out[len++] = draw(&s);
	say("frame: flags %#x, revision %u, %zu bytes%s", f->flags, f->rev, len,
	    plan->bad_frame ? ", spoiled" : "");
	peer_send(p, out, len);
}

static struct mpa_frame request_of(const struct plan *plan)
{
	static const uint16_t words[][2] = {
		{ ENH_B, 0 }, { 0, ENH_C }, { 0, ENH_D }, { ENH_B, ENH_C | ENH_D },
	};
	struct series s = series_of(seed_now, 4);
	/* the hello is a Write */
	const uint16_t *rtr = words[plan->hello ? 1 : draw(&s) % 4];
	struct mpa_frame f;

	if (plan->start == START_PLAIN)
		mpa_plain(&f, false);
	else if (plan->start == START_ENHANCED)
		mpa_enhanced(&f, false, 8, 8);
	else
		mpa_enhanced(&f, false, 8 | ENH_A | rtr[0], 8 | rtr[1]);
	f.flags = (f.flags & ~(MPA_M | MPA_C)) | (plan->markers ? MPA_M : 0) |
		  (plan->crc ? MPA_C : 0);
	add_private_data(&f, &plan->ask, 1);
	return f;
}

/* the private data of @f after the enhanced words */
static void take_welcome(const struct mpa_frame *f, struct known *k)
{
	size_t at = f->rev >= 2 && f->flags & MPA_S ? 4 : 0;

	if (f->pd_len >= at + sizeof(k->victim)) {
		memcpy(&k->victim, f->pd + at, sizeof(k->victim));
		return;
	}
	/* no message is a good one then */
	say("no welcome");
	k->answers |= ANY_ANSWER;
}

/* Return: a frame came that the roles allow */
static bool recv_frame(struct peer *p, bool reply, struct mpa_frame *f)
{
	bool came = peer_recv_frame(p, reply, f, FRAME_MS);

	reached.framed += came;
	if (came)
		say("< frame: flags %#x, revision %u", f->flags, f->rev);
	return came;
}

/* a message of the startup: when it has a fault, both ends may have agreed on other things */
static void send_ulpdu(struct peer *p, struct known *k, struct series *s,
		       const struct plan *plan, uint8_t *ulpdu, size_t len)
{
	grammar_send_ulpdu(p, k, s, plan->percent / 2, ulpdu, len);
	if (k->faults)
		k->answers = ANY_ANSWER | OWN_ERROR;
}

/* the message that tells the responder that it may send */
static void send_rtr(struct peer *p, struct known *k, const struct plan *plan)
{
	struct series s = series_of(seed_now, 5);
	struct hello h = { 1, HELLO_OFFER, HELLO_7306 | HELLO_V2 };
	static uint8_t room[ULPDU_ROOM];
	size_t len;

	if (plan->start == START_P2P && enh_word0(&p->reply) & ENH_B)
		len = seg_send(p, OP_SEND, 0, 0, NULL, 0, true, room);
	else if (plan->start == START_P2P && enh_word1(&p->reply) & ENH_D)
		len = seg_read_req(p, 0, 0, 0, 0, 0, room);
	else if (plan->hello)
		len = seg_write(p, HELLO_STAG, hello_to(&h), NULL, 0, true, room);
	else if (plan->start == START_P2P)
		len = seg_write(p, 0, 0, NULL, 0, true, room);
	else
		return;
	send_ulpdu(p, k, &s, plan, room, len);
	listen_to(p, k, ANSWER_MS);
	if (!k->offered)
		return;
	h.role = HELLO_GO;
	h.features = k->offered;
	send_ulpdu(p, k, &s, plan, room,
		   seg_write(p, HELLO_STAG, hello_to(&h), NULL, 0, true, room));
	use_agreed(p, k);
}

/* answer the victim's offer, and wait for the rest of its hello, which may come later */
static void answer_offer(struct peer *p, struct known *k, const struct plan *plan)
{
	struct hello h = { 1, HELLO_ANSWER, k->offered };
	struct series s = series_of(seed_now, 6);
	static uint8_t room[ULPDU_ROOM];

	if (!plan->hello || !k->offered)
		return;
	send_ulpdu(p, k, &s, plan, room,
		   seg_write(p, HELLO_STAG, hello_to(&h), NULL, 0, true, room));
	use_agreed(p, k);
	listen_to(p, k, ANSWER_MS);
}

/* Return: Full Operation begins */
static bool start_active(struct peer *p, struct known *k, const struct plan *plan)
{
	struct mpa_frame f = request_of(plan);

	send_frame(p, plan, &f);
	p->request = f;
	if (!recv_frame(p, true, &f))
		return false;
	if (f.flags & MPA_R) {
		reached.refused++;
		return false;
	}
	peer_agree(p, true);
	take_welcome(&f, k);
	send_rtr(p, k, plan);
	return true;
}

static bool start_passive(struct peer *p, struct known *k, const struct plan *plan)
{
	struct mpa_frame f;

	if (!recv_frame(p, false, &f))
		return false;
	take_welcome(&f, k);
	mpa_grant(&p->reply, &f);
	p->reply.flags = (p->reply.flags & ~(MPA_M | MPA_C)) | (plan->markers ? MPA_M : 0) |
			 (plan->crc ? MPA_C : 0);
	if ((plan->ask & ~ASK_ATOMICS) == ASK_REJECT)
		p->reply.flags |= MPA_R;
	send_frame(p, plan, &p->reply);
	if (p->reply.flags & MPA_R)
		return false;
	peer_agree(p, false);
	listen_to(p, k, ANSWER_MS);
	answer_offer(p, k, plan);
	return p->end == PEER_OPEN;
}

/* ---- a connection ----------------------------------------------------------------------- */

static struct peer *open_passive(const struct plan *plan)
{
	static int fd = -1;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	uint16_t port = 20000 + seed_now % 40000;
	char line[80];
	int len = snprintf(line, sizeof(line), "%u %u %s", port, plan->ask,
			   options_of_peer.place.own);

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", options_of_peer.control);
	must(sendto(fd, line, len, 0, (struct sockaddr *)&at, sizeof(at)) == len,
	     "the victim is gone: %m");
	return tcp_accept(seed_now, &plan->manner, port, 2 * CONNECT_MS);
}

static void full_operation(struct peer *p, struct known *k, const struct plan *plan)
{
	unsigned int i, fpdus = reached.fpdus;

	reached.full++;
	reached.markers += p->tx_markers || p->rx_markers;
	k->single = plan->single;
	for (i = 0; i < plan->steps && p->end == PEER_OPEN; i++) {
		struct series s = series_of(seed_now, 100 + i);
		/* the first ones are good, so that the others come deep */
		unsigned int percent = i < plan->steps / 3 ? 0 : plan->percent;

		listen_to(p, k, LISTEN_MS);
		grammar_send(p, k, &s, percent);
		if (k->single && k->faults)
			break;
	}
	listen_to(p, k, ANSWER_MS);
	reached.busy += reached.fpdus > fpdus;
}

static void finish(struct peer *p, struct known *k, const struct plan *plan)
{
	switch (plan->end) {
	case END_FIN:
		tcp_finish(END_MS);
		break;
	case END_WAIT:
		listen_to(p, k, END_MS);
		tcp_finish(END_MS);
		break;
	case END_RST:
		tcp_reset();
		break;
	default:
		break;
	}
	reached.finished += p->end == PEER_FIN;
	reached.reset += p->end == PEER_RST;
	reached.open += p->end == PEER_OPEN;
}

static void say_plan(const struct plan *plan)
{
	const struct tcp_manner *m = &plan->manner;

	say("seed %llu: %s, startup %u%s, %u steps", (unsigned long long)seed_now,
	    plan->passive ? "passive" : "active", plan->start,
	    plan->bad_frame ? " with a bad frame" : "", plan->steps);
	say("  %u%% of FPDUs and %u%% of segments are bad, window %u, MSS %u%s", plan->percent,
	    m->percent, m->window, m->mss, m->mute ? ", no acknowledgements" : "");
	say("  ask %#x, end %u", plan->ask, plan->end);
}

static void one_seed(uint64_t seed)
{
	struct plan plan = draw_plan(seed);
	bool is_odd = plan.bad_frame || plan.early;
	/* a good peer may send more than the victim has posted receives for */
	struct known k = { .answers = is_odd ? ANY_ANSWER : DU_NO_BUFFER };
	struct peer *p;

	/* the victim's atomic fails until both have agreed on it */
	k.answers |= plan.ask & ASK_ATOMICS ? OWN_ERROR : 0;

	seed_now = seed;
	reached.seeds++;
	say_plan(&plan);
	p = plan.passive ? open_passive(&plan) :
			   tcp_connect(seed, &plan.manner, options_of_peer.port, CONNECT_MS);
	if (p) {
		reached.up++;
		if (plan.passive ? start_passive(p, &k, &plan) : start_active(p, &k, &plan))
			full_operation(p, &k, &plan);
		finish(p, &k, &plan);
	}
	tcp_end();
}

/* ---- main ------------------------------------------------------------------------------- */

static void print(void)
{
	unsigned int i;

	printf("# reached seeds: %u\n# reached TCP: %u\n# reached a frame: %u\n", reached.seeds,
	       reached.up, reached.framed);
	printf("# reached Full Operation: %u\n# reached FPDUs in it: %u\n", reached.full,
	       reached.busy);
	printf("# reached a rejection: %u\n# reached markers: %u\n# reached version 2: %u\n",
	       reached.refused, reached.markers, reached.v2);
	printf("# reached FIN: %u\n# reached RST: %u\n# reached no end: %u\n", reached.finished,
	       reached.reset, reached.open);
	printf("# reached a Terminate: %u\n# reached one to compare: %u\n", reached.terms,
	       reached.compared);
	for (i = 0; i < TERMS; i++)
		if (reached.term[i])
			printf("# Terminate %u/%u/%02x: %u\n", i / 256 / 16, i / 256 % 16,
			       i % 256, reached.term[i]);
	grammar_print();
	tcp_print();
}

static bool option(const char *word, const char *name, const char **value)
{
	size_t len = strlen(name);

	if (strncmp(word, name, len) || word[len] != '=')
		return false;
	*value = word + len + 1;
	return true;
}

static enum flood_kind flood_kind(const char *name)
{
	enum flood_kind kind = 0;

	while (kind < FLOOD_KINDS && strcmp(flood_names[kind], name))
		kind++;
	must(kind < FLOOD_KINDS, "no kind of flood: %s", name);
	return kind;
}

static void parse(const char *word)
{
	struct flood *flood = &options_of_peer.flood;
	struct place *place = &options_of_peer.place;
	const char *value;

	if (option(word, "seed", &value))
		options_of_peer.seed = strtoull(value, NULL, 0);
	else if (option(word, "count", &value))
		options_of_peer.count = strtoul(value, NULL, 0);
	else if (option(word, "port", &value))
		options_of_peer.port = atoi(value);
	else if (option(word, "flood", &value))
		flood->seconds = atoi(value);
	else if (option(word, "rate", &value))
		flood->rate = atoi(value);
	else if (option(word, "as", &value))
		flood->kind = flood_kind(value);
	else if (!strcmp(word, "verbose"))
		options_of_peer.verbose = true;
	else
		must(option(word, "netdev", &place->netdev) || option(word, "own", &place->own) ||
		     option(word, "victim", &place->other) ||
		     option(word, "mac", &place->other_mac) ||
		     option(word, "control", &options_of_peer.control), "unknown word %s", word);
}

static void run_flood(void)
{
	struct flood *f = &options_of_peer.flood;

	f->port = options_of_peer.port;
	f->count = options_of_peer.count;
	flood_run(f);
}

int main(int argc, char **argv)
{
	unsigned long i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (*++argv)
		parse(*argv);
	must(argc > 1 && options_of_peer.place.netdev && options_of_peer.place.own &&
	     options_of_peer.place.other && options_of_peer.place.other_mac &&
	     options_of_peer.control, "see the top of peer.c");
	packet_open(&options_of_peer.place);
	if (options_of_peer.flood.seconds) {
		run_flood();
		return 0;
	}
	for (i = 0; i < options_of_peer.count; i++)
		one_seed(options_of_peer.seed + i);
	print();
	return test_failures ? 1 : 0;
}
