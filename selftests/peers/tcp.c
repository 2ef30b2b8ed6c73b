// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * TCP of the hostile peer: it opens connections, sends, reads and acknowledges as it should,
 * except for those segments that spoil.c takes over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/conform.h"
#include "spoil.h"
#include "tcp.h"

#define ROOM_STEP	4096
#define REPEAT_MS	150
#define REPEATS		3
#define REPEAT_SEGMENTS	8

/* the one connection */
static struct {
	struct peer peer;
	struct tcp_manner manner;
	uint64_t seed;
	uint64_t segments;
	uint16_t own_port;
	uint16_t other_port;
	uint32_t una;		/* what the other end has acknowledged */
	uint32_t nxt;		/* what we send next */
	uint32_t rcv;		/* what we expect next */
	uint8_t *out;		/* from una to nxt */
	size_t out_len;
	bool passive;
	bool up;
} c;

void segment_send(const struct segment *s)
{
	packet_send(s, c.own_port, c.other_port);
}

struct segment segment_of(uint32_t seq, const uint8_t *data, size_t len)
{
	return (struct segment) {
		.flags = TH_ACK | (len ? TH_PUSH : 0), .seq = seq, .ack = c.rcv,
		.window = c.manner.window, .data = data, .len = len,
	};
}

static void send_flags(uint8_t flags, uint32_t seq)
{
	struct segment s = segment_of(seq, NULL, 0);

	s.flags = flags;
	if (flags & TH_SYN) {
		/* MSS, and SACK permitted */
		memcpy(s.options, "\2\4\0\0\4\2\1\1", 8);
		put16(s.options + 2, c.manner.mss);
		s.n_options = 8;
		s.window = 65535;
	}
	segment_send(&s);
}

/* ---- what arrives --------------------------------------------------------------------- */

/* a segment of a connection that we know nothing of, as a host would answer it */
static void refuse(const uint8_t *tcp, size_t len)
{
	struct segment s = { .flags = TH_RST | TH_ACK, .seq = get32(tcp + 8) };

	s.ack = get32(tcp + 4) + len + !!(tcp[13] & (TH_SYN | TH_FIN));
	if (c.manner.polite && !(tcp[13] & TH_RST))
		packet_send(&s, get16(tcp + 2), get16(tcp));
}

static void acknowledged(uint32_t ack)
{
	uint32_t n = ack - c.una;

	if (!n || n > c.nxt - c.una)
		return;
	c.una = ack;
	/* FIN and SYN are no bytes of the stream */
	if (n > c.out_len)
		n = c.out_len;
	c.out_len -= n;
	memmove(c.out, c.out + n, c.out_len);
}

static void keep(const uint8_t *data, size_t len)
{
	struct peer *p = &c.peer;

	if (p->in_room - p->in_len < len) {
		p->in_room = p->in_len + len + ROOM_STEP;
		p->in = realloc(p->in, p->in_room);
		must(p->in, "no memory");
	}
	memcpy(p->in + p->in_len, data, len);
	p->in_len += len;
}

/* Only what comes in order is taken, so that the other end repeats the rest. */
static void take(const uint8_t *tcp, const uint8_t *data, size_t len)
{
	uint32_t seq = get32(tcp + 4), old = c.rcv - seq;
	bool fin = tcp[13] & TH_FIN;

	if (!len && !fin)
		return;
	if (old <= len && c.peer.end == PEER_OPEN) {
		keep(data + old, len - old);
		c.rcv += len - old;
		if (fin) {
			c.rcv++;
			c.peer.end = PEER_FIN;
			say("< FIN");
		}
	}
	if (!c.manner.mute)
		send_flags(TH_ACK, c.nxt);
}

static void came_up(const uint8_t *tcp)
{
	c.rcv = get32(tcp + 4) + 1;
	c.other_port = get16(tcp);
	if (c.passive) {
		send_flags(TH_SYN | TH_ACK, c.nxt - 1);
	} else {
		c.una = c.nxt;
		send_flags(TH_ACK, c.nxt);
	}
	c.up = true;
}

/* Return: it is of our connection */
static bool arrived(const uint8_t *tcp, size_t len)
{
	size_t hdr = (tcp[12] >> 4) * 4;
	uint8_t flags = tcp[13];

	if (hdr < TCP_HDR || hdr > len)
		return false;
	if (!c.own_port || get16(tcp + 2) != c.own_port ||
	    (c.other_port && get16(tcp) != c.other_port)) {
		refuse(tcp, len - hdr);
		return false;
	}
	if (flags & TH_RST) {
		say("< RST");
		c.peer.end = PEER_RST;
	} else if (flags & TH_SYN) {
		if (!c.up || c.passive)
			came_up(tcp);
	} else if (c.up) {
		if (flags & TH_ACK)
			acknowledged(get32(tcp + 8));
		take(tcp, tcp + hdr, len - hdr);
	}
	return true;
}

/* read packets that are there, or come within @ms, up to one of our connection */
static void pump(int ms)
{
	uint64_t end = now_ms() + ms;
	const uint8_t *tcp;
	size_t len;

	do
		tcp = packet_next(end, &len);
	while (tcp && !arrived(tcp, len));
}

/* send again what was not acknowledged, as it should be */
static void repeat(void)
{
	size_t at = 0, n, i;
	struct segment s;

	for (i = 0; i < REPEAT_SEGMENTS && at < c.out_len; i++, at += n) {
		n = c.out_len - at < c.manner.mss ? c.out_len - at : c.manner.mss;
		s = segment_of(c.una + at, c.out + at, n);
		segment_send(&s);
	}
}

size_t peer_look(struct peer *p, size_t want, int ms, const uint8_t **at)
{
	uint64_t end = now_ms() + ms, again = now_ms() + REPEAT_MS, now;
	int repeats = 0;

	while (p->in_len - p->in_used < want && p->end == PEER_OPEN) {
		now = now_ms();
		pump(now < end ? (end < again ? end : again) - now : 0);
		now = now_ms();
		if (now >= again && c.out_len && repeats++ < REPEATS)
			repeat();
		if (now >= again)
			again = now + REPEAT_MS;
		if (now >= end)
			break;
	}
	*at = p->in + p->in_used;
	return p->in_len - p->in_used;
}

void peer_take(struct peer *p, size_t len)
{
	p->in_used += len;
}

/* ---- what is sent ----------------------------------------------------------------------- */

void peer_send(struct peer *p, const void *data, size_t len)
{
	const uint8_t *at = data;
	struct segment s;
	size_t n;

	if (p->end == PEER_RST)
		return;
	c.out = realloc(c.out, c.out_len + len);
	must(c.out || !len, "no memory");
	memcpy(c.out + c.out_len, data, len);
	c.out_len += len;
	for (; len; at += n, len -= n) {
		struct series of = series_of(c.seed, 1000000 + c.segments++);

		n = len < c.manner.mss ? len : c.manner.mss;
		if (c.manner.percent && chance(&of, 30))
			n = 1 + draw(&of) % n;
		s = segment_of(c.nxt, at, n);
		c.nxt += n;
		spoil_send(&of, chance(&of, c.manner.percent), &s);
		pump(0);
	}
	spoil_flush();
}

/* ---- connections ------------------------------------------------------------------------ */

static struct peer *begin(uint64_t seed, const struct tcp_manner *manner, uint16_t own,
			  uint16_t other)
{
	struct series of = series_of(seed, 1);
	unsigned int qn;

	memset(&c, 0, sizeof(c));
	spoil_begin();
	c.seed = seed;
	c.own_port = own;
	c.other_port = other;
	c.una = draw(&of);
	c.nxt = c.una + 1;
	c.manner = *manner;
	c.peer.crc = true;
	c.peer.version = 1;
	for (qn = 0; qn < 4; qn++)
		c.peer.tx_msn[qn] = 1;
	return &c.peer;
}

static bool is_up(int ms)
{
	uint64_t end = now_ms() + ms;

	while (!c.up && c.peer.end == PEER_OPEN && now_ms() < end)
		pump(end - now_ms());
	return c.up && c.peer.end == PEER_OPEN;
}

struct peer *tcp_connect(uint64_t seed, const struct tcp_manner *manner, uint16_t port, int ms)
{
	struct series of = series_of(seed, 2);
	struct peer *p = begin(seed, manner, 1024 + draw(&of) % 18000, port);

	send_flags(TH_SYN, c.nxt - 1);
	return is_up(ms) ? p : NULL;
}

struct peer *tcp_accept(uint64_t seed, const struct tcp_manner *manner, uint16_t port, int ms)
{
	struct peer *p = begin(seed, manner, port, 0);

	c.passive = true;
	return is_up(ms) ? p : NULL;
}

void tcp_finish(int ms)
{
	const uint8_t *at;
	uint64_t end = now_ms() + ms;

	send_flags(TH_FIN | TH_ACK, c.nxt++);
	while (c.peer.end == PEER_OPEN && now_ms() < end) {
		c.peer.in_used = c.peer.in_len;
		peer_look(&c.peer, 1, end - now_ms(), &at);
	}
}

void tcp_reset(void)
{
	send_flags(TH_RST | TH_ACK, c.nxt);
	c.peer.end = PEER_RST;
}

void tcp_end(void)
{
	c.own_port = 0;
	free(c.out);
	free(c.peer.in);
	free(c.peer.ulpdu);
	c.out = NULL;
	c.peer.in = NULL;
	c.peer.ulpdu = NULL;
}
