// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Data transfer: Send, Write, Read, scatter lists, inline, fence (RFC 5040 5). */
#include <string.h>

#include "pair.h"

static const uint32_t sizes[] = {
	1, 63, 64, 65, 1427, 1428, 1429, 4096, 65535, 65536, 1000003, 8 << 20,
};

#define BIG (8 << 20)

static const struct want big = { .buf_len = BIG };

static void send_each(struct end *from, struct end *to, size_t max)
{
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(sizes) && sizes[i] <= max; i++) {
		fill(from->buf, sizes[i], i);
		memset(to->buf, 0, sizes[i]);
		post_recv(to, i, 0, sizes[i]);
		post_send(from, 100 + i, 0, sizes[i], IBV_SEND_SIGNALED);
		expect_wc(from->scq, 100 + i, IBV_WC_SUCCESS);
		expect_recv(to, i, sizes[i]);
		expect(filled(to->buf, sizes[i], i));
	}
}

static void send_ipv4(void)
{
	pair_up(&big, &big);
	send_each(&a, &b, BIG);
	send_each(&b, &a, 65536);
	pair_down();
}

static void send_ipv6(void)
{
	pair_up6();
	send_each(&a, &b, 65536);
	send_each(&b, &a, 65536);
	pair_down();
}

static void rdma_each(enum ibv_wr_opcode op)
{
	bool read = op == IBV_WR_RDMA_READ;
	struct end *src = read ? &b : &a, *dst = read ? &a : &b;
	unsigned int i;

	pair_up(&big, &big);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		struct ibv_wc wc;

		fill(src->buf, sizes[i], i);
		memset(dst->buf, 0, sizes[i]);
		post_rdma(&a, &b, op, i, 0, sizes[i], 0, IBV_SEND_SIGNALED);
		wc = next_wc(a.scq);
		expect_eq(wc.status, IBV_WC_SUCCESS);
		expect_eq(wc.wr_id, i);
		expect_eq(wc.opcode, read ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE);
		if (!read) {
			/* the Send after a Write shows that the Write is placed */
			post_recv(&b, i, 0, 0);
			post_send(&a, i, 0, 0, IBV_SEND_SIGNALED);
			expect_wc(a.scq, i, IBV_WC_SUCCESS);
			expect_recv(&b, i, 0);
		}
		expect(filled(dst->buf, sizes[i], i));
	}
	pair_down();
}

static void write_sizes(void)
{
	rdma_each(IBV_WR_RDMA_WRITE);
}

static void read_sizes(void)
{
	rdma_each(IBV_WR_RDMA_READ);
}

static void unaligned(void)
{
	pair_up(NULL, NULL);
	fill(a.buf + 4093, 9001, 5);
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 4093, 9001, 8191,
		  IBV_SEND_SIGNALED);
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 2, 30001, 9001, 8191,
		  IBV_SEND_SIGNALED);
	expect_wc(a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(a.scq, 2, IBV_WC_SUCCESS);
	expect(filled(b.buf + 8191, 9001, 5));
	expect(!b.buf[8190] && !b.buf[8191 + 9001]);
	expect(filled(a.buf + 30001, 9001, 5));
	expect(!a.buf[30000] && !a.buf[30001 + 9001]);
	pair_down();
}

/* a zero-length request needs neither a list nor a valid key, and touches nothing */
static void zero_length(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	unsigned int i;

	pair_up(NULL, NULL);
	post_recv_sge(&b, 7, NULL, 0);
	for (i = 0; i < ARRAY_LEN(ops); i++) {
		struct ibv_send_wr wr = {
			.wr_id = i,
			.opcode = ops[i],
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma.rkey = b.mr->rkey,
			.wr.rdma.remote_addr = (uintptr_t)b.buf,
		};

		post(&a, &wr);
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	}
	expect_recv(&b, 7, 0);
	expect_eq(state_of(&a), IBV_QPS_RTS);
	expect_eq(state_of(&b), IBV_QPS_RTS);
	pair_down();
}

/* ---- lists ------------------------------------------------------------------ */

/* @n pieces of odd lengths with gaps between them; Return: the total length */
static uint32_t make_list(const struct end *e, struct ibv_sge *sge, int n)
{
	uint32_t sum = 0, len;
	size_t off = 3;
	int i;

	for (i = 0; i < n; i++) {
		len = i == 2 ? 0 : 333 + 97 * i;
		sge[i] = sge_at(e, off, len);
		off += len + 13;
		sum += len;
	}
	return sum;
}

static void scatter(const struct ibv_sge *sge, int n, const uint8_t *flat)
{
	for (; n--; sge++) {
		memcpy((void *)(uintptr_t)sge->addr, flat, sge->length);
		flat += sge->length;
	}
}

static bool gathered(const struct ibv_sge *sge, int n, const uint8_t *flat)
{
	for (; n--; sge++) {
		if (memcmp((void *)(uintptr_t)sge->addr, flat, sge->length))
			return false;
		flat += sge->length;
	}
	return true;
}

static void lists(enum ibv_wr_opcode op)
{
	static uint8_t flat[65536];
	struct ibv_device_attr dev;
	struct ibv_sge from[16], to[16];
	struct ibv_send_wr wr = {
		.wr_id = 9, .opcode = op, .send_flags = IBV_SEND_SIGNALED,
	};
	struct want want = { .cap.max_send_sge = 1, .cap.max_recv_sge = 1 };
	uint32_t len;
	int n;

	solo_up(NULL);
	must(!ibv_query_device(a.id->verbs, &dev));
	n = op == IBV_WR_RDMA_READ ? dev.max_sge_rd : dev.max_sge;
	n = n < 16 ? n : 16;
	pair_down();

	want.cap.max_send_sge = n;
	want.cap.max_recv_sge = n;
	pair_up(&want, &want);
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
	wr.wr.rdma.rkey = b.mr->rkey;
	wr.sg_list = from;
	wr.num_sge = n;
	len = make_list(&a, from, n);
	fill(flat, len, 77);
	if (op == IBV_WR_RDMA_READ)
		memcpy(b.buf, flat, len);
	else
		scatter(from, n, flat);
	if (op == IBV_WR_SEND) {
		make_list(&b, to, n);
		post_recv_sge(&b, 4, to, n);
	}
	post(&a, &wr);
	expect_wc(a.scq, 9, IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND) {
		expect_recv(&b, 4, len);
		expect(gathered(to, n, flat));
		expect(!b.buf[0] && !b.buf[2]);
	} else if (op == IBV_WR_RDMA_READ) {
		expect(gathered(from, n, flat));
		expect(!a.buf[0] && !a.buf[2]);
	} else {
		post_rdma(&a, &b, IBV_WR_RDMA_READ, 1, 0, 0, 0,
			  IBV_SEND_SIGNALED);
		expect_wc(a.scq, 1, IBV_WC_SUCCESS);
		expect_bytes(b.buf, flat, len);
	}
	pair_down();
}

static void send_list(void)
{
	lists(IBV_WR_SEND);
}

static void write_list(void)
{
	lists(IBV_WR_RDMA_WRITE);
}

static void read_list(void)
{
	lists(IBV_WR_RDMA_READ);
}

/* ---- inline and fence ---------------------------------------------------------- */

/* an inline buffer may be reused at once, and needs no key */
static void inline_send(void)
{
	static const struct want want = { .cap.max_inline_data = 64 };
	uint32_t len, max;

	pair_up(&want, NULL);
	max = a.cap.max_inline_data;
	must(max >= 64);
	for (len = 0; len <= max; len += len < 8 ? 1 : 31) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)a.buf, .length = len, .lkey = 0xbad,
		};
		struct ibv_send_wr wr = {
			.wr_id = len, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		};

		fill(a.buf, len, len);
		post_recv(&b, len, 0, 4096);
		post(&a, &wr);
		memset(a.buf, 0xff, len);
		expect_wc(a.scq, len, IBV_WC_SUCCESS);
		expect_recv(&b, len, len);
		expect(filled(b.buf, len, len));
	}
	pair_down();
}

static void inline_write(void)
{
	static const struct want want = { .cap.max_inline_data = 64 };
	int i;

	pair_up(&want, NULL);
	for (i = 0; i < 32; i++) {
		fill(a.buf, 64, i);
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 64, 64 * i,
			  IBV_SEND_INLINE | IBV_SEND_SIGNALED);
	}
	for (i = 0; i < 32; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 99, 0, 1, 0, IBV_SEND_SIGNALED);
	expect_wc(a.scq, 99, IBV_WC_SUCCESS);
	for (i = 0; i < 32; i++)
		expect(filled(b.buf + 64 * i, 64, i));
	pair_down();
}

/* a fenced Send carries the data of the Read before it */
static void fence(void)
{
	static const struct want want = { .buf_len = 4 << 20 };
	const uint32_t half = 2 << 20;
	int round;

	pair_up(&want, &want);
	for (round = 0; round < 3; round++) {
		fill(b.buf, half, round);
		memset(a.buf, 0xee, half);
		post_recv(&b, 1, half, half);
		post_rdma(&a, &b, IBV_WR_RDMA_READ, 2, 0, half, 0,
			  IBV_SEND_SIGNALED);
		post_send(&a, 3, 0, half, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
		expect_wc(a.scq, 2, IBV_WC_SUCCESS);
		expect_wc(a.scq, 3, IBV_WC_SUCCESS);
		expect_recv(&b, 1, half);
		expect(filled(b.buf + half, half, round));
	}
	pair_down();
}

/* Reads beyond ORD wait, and all complete in order */
static void many_reads(void)
{
	static const struct want want = { .ord = 3, .ird = 3 };
	int i;

	pair_up(&want, &want);
	fill(b.buf, 64 * 256, 1);
	for (i = 0; i < 64; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_READ, i, 256 * i, 256, 256 * i,
			  IBV_SEND_SIGNALED);
	for (i = 0; i < 64; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	expect(filled(a.buf, 64 * 256, 1));
	pair_down();
}

static void both_ways(void)
{
	static const struct want want = { .buf_len = 4 << 20 };
	const uint32_t mib = 1 << 20;
	int i;

	pair_up(&want, &want);
	fill(a.buf, mib, 1);
	fill(b.buf, mib, 2);
	for (i = 0; i < 4; i++) {
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, mib, mib, IBV_SEND_SIGNALED);
		post_rdma(&b, &a, IBV_WR_RDMA_WRITE, i, 0, mib, mib, IBV_SEND_SIGNALED);
		post_rdma(&a, &b, IBV_WR_RDMA_READ, i, 2 * mib, mib, 0, IBV_SEND_SIGNALED);
		post_rdma(&b, &a, IBV_WR_RDMA_READ, i, 2 * mib, mib, 0, IBV_SEND_SIGNALED);
	}
	for (i = 0; i < 8; i++) {
		expect_wc(a.scq, i / 2, IBV_WC_SUCCESS);
		expect_wc(b.scq, i / 2, IBV_WC_SUCCESS);
	}
	expect(filled(a.buf + 2 * mib, mib, 2));
	expect(filled(b.buf + 2 * mib, mib, 1));
	expect(filled(a.buf + mib, mib, 2));
	expect(filled(b.buf + mib, mib, 1));
	pair_down();
}

/*
 * The peer has a Read waiting at all times, a MiB each. An entry that fails completes all the
 * same, when the Responses that TCP has by then are through.
 */
static void failure_amid_reads(void)
{
	enum { READS = 8, MOST = 32, MIB = 1 << 20 };
	static const struct want wa = { .ird = READS, .buf_len = MIB };
	static const struct want wb = { .ord = READS, .buf_len = MIB };
	int i, done = 0;

	pair_up(&wa, &wb);
	/* slow enough for b to post the next in time */
	impair("a", "rate 400mbit");
	for (i = 0; i < READS; i++)
		post_rdma(&b, &a, IBV_WR_RDMA_READ, i, 0, MIB, 0, IBV_SEND_SIGNALED);
	must(next_wc(b.scq).status == IBV_WC_SUCCESS);
	a.mr->lkey ^= 0x1100;
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 1, 0, 8, 0, IBV_SEND_SIGNALED);
	a.mr->lkey ^= 0x1100;
	do
		post_rdma(&b, &a, IBV_WR_RDMA_READ, READS, 0, MIB, 0, IBV_SEND_SIGNALED);
	while (next_wc(b.scq).status == IBV_WC_SUCCESS && ++done < MOST);
	mend("a");
	must(done < MOST);
	expect_wc(a.scq, 1, IBV_WC_LOC_PROT_ERR);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "Send, 1 B to 8 MiB, both ways, IPv4", send_ipv4 },
	{ "Send, 1 B to 64 KiB, both ways, IPv6", send_ipv6 },
	{ "RDMA Write, 1 B to 8 MiB", write_sizes },
	{ "RDMA Read, 1 B to 8 MiB", read_sizes },
	{ "unaligned Write and Read touch no byte beside theirs", unaligned },
	{ "zero-length Send, Write and Read", zero_length },
	{ "Send from and into lists", send_list },
	{ "RDMA Write from a list", write_list },
	{ "RDMA Read into a list", read_list },
	{ "inline Sends of all lengths free the buffer at once", inline_send },
	{ "inline Writes free the buffer at once", inline_write },
	{ "a fenced Send waits for the Read before it", fence },
	{ "64 Reads with an ORD of 3 complete in order", many_reads },
	{ "Writes and Reads of both sides cross each other", both_ways },
	{ "read__that_fails_does_not_wait_for_the_peers_reads", failure_amid_reads },
};

const struct tap_theme data_theme = { tests, ARRAY_LEN(tests) };
