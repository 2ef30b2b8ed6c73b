// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Traffic between two hosts, each byte verified:
 *
 *	vtraffic server [-b ADDR] [-p PORT] [-T TOS] [-S] [-A] [-L] [-H] [-e WAIT]
 *			[-k CONNECTIONS]
 *	vtraffic client -a ADDR [-f ADDR] [-p PORT] [-T TOS] [-m MODE]
 *			[-n COUNT | -t SECONDS] [-s SEED] [-x MAX] [-d DEPTH] [-l SGES]
 *			[-e WAIT] [-c] [-D] [-H] [-v]
 *	vtraffic hold DEVICE
 *
 * MODE is send, write, read or mixed; lengths are random up to MAX bytes.
 * Requests have up to SGES elements, some of them empty; small messages go
 * inline, Writes and half of the Sends are unsignalled, some Sends are fenced.
 * The server answers each Send with the checksum of what it received, and compares
 * written data with the checksum that the client sends. WAIT is poll, event or
 * solicited. -f: the client's own address. -T: rdma_cm's type of service. -S: the
 * server receives from an SRQ. -c: connect, report it and wait for the end. -D: destroy
 * the id while it connects. -A: the server reports the connect request and never answers.
 * -L: the server destroys its listening id after the first connect request, so it serves
 * one connection. -H: the buffer is of huge pages. -k: the number of connections to serve
 * (0: no limit). SIGUSR1: a client starts no more operations. hold opens a device, creates
 * one object of each kind, reports that, and waits.
 *
 * One line is printed at the end. The exit status is 0 on success, 2 if the
 * connection or the device ended before the work was done.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "vtraffic.h"

static const char * const mode_names[] = { "send", "write", "read", "mixed" };
static const char * const wait_names[] = { "poll", "event", "solicited" };

struct options opt = {
	.addr = "0.0.0.0", .port = 7999, .tos = -1, .mode = MODE_MIXED, .wait = WAIT_EVENT,
	.count = 1000, .seed = 1, .max = 8 << 20, .depth = 4, .sges = 4,
	.connections = 1,
};

/* ---- chance ---------------------------------------------------------------- */

static uint32_t random_state;

static uint32_t draw(void)
{
	uint32_t x = random_state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return random_state = x;
}

/* small and large lengths equally often, and sometimes a boundary value */
static uint32_t draw_length(void)
{
	uint32_t len;

	if (draw() % 16 == 0)
		return draw() & 1 ? 0 : opt.max;
	len = draw() >> (draw() % 32);
	return opt.max ? len % (opt.max + 1) : 0;
}

/* cut a range into up to @most pieces, some of them empty */
static int cut(struct ibv_sge *sge, uint8_t *p, uint32_t len, uint32_t most)
{
	uint32_t n = 1 + draw() % most, i, part;

	for (i = 0; i < n; i++) {
		part = i + 1 == n ? len : draw() % (len + 1);
		sge[i] = (struct ibv_sge) {
			.addr = (uintptr_t)p, .length = part, .lkey = e.mr->lkey,
		};
		p += part;
		len -= part;
	}
	return n;
}

/* ---- client -------------------------------------------------------------- */

static struct welcome welcome;
static uint32_t list_send, list_read;

struct op {
	enum mode mode;
	uint32_t len;
	uint32_t off;		/* Read: offset in the peer's slots */
	uint64_t sum;		/* the server's expected answer */
};

static struct op ops[MAX_DEPTH];

static void start_send(uint32_t slot, struct op *op)
{
	struct ibv_sge sge[LIST];
	struct ibv_send_wr wr = {
		.wr_id = slot, .sg_list = sge, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SOLICITED,
	};

	/* avoid the length of a struct message */
	op->len += op->len == sizeof(struct message);
	if (op->len > opt.max)
		op->len = 0;
	fill(slot_at(slot), op->len, draw());
	op->sum = sum_up(slot_at(slot), op->len);
	if (op->len <= e.cap.max_inline_data && draw() & 1)
		wr.send_flags |= IBV_SEND_INLINE;
	if (draw() & 1)
		wr.send_flags |= IBV_SEND_SIGNALED;
	if (draw() % 8 == 0)
		wr.send_flags |= IBV_SEND_FENCE;
	wr.num_sge = cut(sge, slot_at(slot), op->len, list_send);
	post_send(&wr);
}

static void start_write(uint32_t slot, struct op *op)
{
	struct ibv_sge sge[LIST];
	struct ibv_send_wr wr = {
		.wr_id = slot, .sg_list = sge, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {
			.remote_addr = welcome.addr +
				       (uint64_t)slot * slot_stride(),
			.rkey = welcome.rkey,
		},
	};

	fill(slot_at(slot), op->len, draw());
	op->sum = sum_up(slot_at(slot), op->len);
	wr.num_sge = cut(sge, slot_at(slot), op->len, list_send);
	post_send(&wr);
	post_message(KIND_WRITTEN, slot, op->len, op->sum, IBV_SEND_SIGNALED);
}

static void start_read(uint32_t slot, struct op *op)
{
	uint64_t total = (uint64_t)opt.depth * slot_stride();
	struct ibv_sge sge[LIST];
	struct ibv_send_wr wr = {
		.wr_id = slot, .sg_list = sge, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
	};

	op->off = draw() % (total - op->len + 1) & ~7u;
	wr.wr.rdma.remote_addr = welcome.addr + total + op->off;
	wr.wr.rdma.rkey = welcome.rkey;
	wr.num_sge = cut(sge, slot_at(slot), op->len, list_read);
	post_send(&wr);
}

static void start_op(uint32_t slot)
{
	struct op *op = &ops[slot];

	op->mode = opt.mode == MODE_MIXED ? draw() % MODE_MIXED : opt.mode;
	op->len = draw_length();
	switch (op->mode) {
	case MODE_SEND:
		start_send(slot, op);
		break;
	case MODE_WRITE:
		start_write(slot, op);
		break;
	default:
		start_read(slot, op);
	}
}

static void check_read(uint32_t slot)
{
	const struct op *op = &ops[slot];
	const uint8_t *p = slot_at(slot);
	uint32_t i, n;
	uint64_t w;

	for (i = 0; i < op->len; i += 8) {
		w = word(opt.seed, op->off + i);
		n = op->len - i < 8 ? op->len - i : 8;
		if (memcmp(p + i, &w, n))
			leave(1, "a Read of %u bytes is damaged at %u",
			      op->len, i);
	}
}

/* answers come in the order of their requests */
static uint32_t order[MAX_DEPTH], order_head, order_tail;

static uint32_t finish_answered(const struct ibv_wc *wc)
{
	const struct message *msg = (const void *)slot_at(wc->wr_id);
	uint32_t slot = order[order_tail++ % MAX_DEPTH];

	if (wc->byte_len != sizeof(*msg) || msg->magic != MAGIC ||
	    msg->kind != KIND_SUM)
		leave(1, "an unexpected answer of %u bytes", wc->byte_len);
	if (msg->sum != ops[slot].sum)
		leave(1, "the peer computed another checksum of %u bytes", ops[slot].len);
	post_recv(wc->wr_id);
	return slot;
}

static void start_next(uint32_t slot)
{
	start_op(slot);
	if (ops[slot].mode != MODE_READ)
		order[order_head++ % MAX_DEPTH] = slot;
}

static uint32_t min_u32(uint32_t x, uint32_t y)
{
	return x < y ? x : y;
}

static void limits_of_lists(struct want *want)
{
	struct ibv_device_attr attr;

	must(!ibv_query_device(e.id->verbs, &attr), "ibv_query_device: %m");
	list_send = min_u32(attr.max_sge, opt.sges);
	list_read = min_u32(attr.max_sge_rd, opt.sges);
	want->cap.max_send_sge = list_send;
}

static void client_connect(void)
{
	struct hello hello = {
		.seed = opt.seed, .max = opt.max, .depth = opt.depth,
	};
	struct want want = {
		.cap = { .max_send_wr = 8 * opt.depth,
			 .max_recv_wr = 2 * opt.depth,
			 .max_inline_data = sizeof(struct message) },
		.buf_len = (size_t)2 * opt.depth * slot_stride(),
		.map_flags = opt.huge ? MAP_HUGETLB : 0,
		.ird = 16, .ord = 16,
		.pdata = &hello, .pdata_len = sizeof(hello),
	};
	uint32_t i;

	must(!end_resolve(&e, opt.addr, opt.port, opt.from), "resolving: %m");
	if (opt.tos >= 0)
		must(!end_set_tos(&e, opt.tos), "setting the TOS: %m");
	limits_of_lists(&want);
	must(!end_build(&e, &want), "building the QP: %m");
	/* operations use slots 0..depth-1, receives the others */
	for (i = 0; i < opt.depth; i++)
		post_recv(opt.depth + i);
	must(!end_connect(&e, &want), "rdma_connect: %m");
	if (opt.destroy) {
		printf("vtraffic: destroying\n");
		fflush(stdout);
		rdma_destroy_id(e.id);
		leave(0, "destroyed");
	}
	must(!end_expect(&e, RDMA_CM_EVENT_ESTABLISHED), "connecting: %m");
	must(e.got_len >= sizeof(welcome), "reading the welcome: %m");
	memcpy(&welcome, e.got, sizeof(welcome));
}

static void __attribute__((noreturn)) wait_for_end(void)
{
	printf("vtraffic: connected\n");
	fflush(stdout);
	while (!ended)
		doze(-1);
	leave(2, "%s", ended);
}

static volatile sig_atomic_t enough;

static void on_signal(int signal)
{
	(void)signal;
	enough = 1;
}

static bool more_to_start(long started, double end)
{
	if (enough)
		return false;
	return end ? now() < end : started < opt.count;
}

/* Return: the number of operations done */
static long client_run(void)
{
	double end = opt.seconds ? now() + opt.seconds : 0;
	long started = 0, done = 0;
	struct ibv_wc wc;
	uint32_t slot;

	for (slot = 0; slot < opt.depth && more_to_start(started, end); slot++) {
		start_next(slot);
		started++;
	}
	while (done < started) {
		wc = next_wc(patience_ms());
		if (wc.opcode & IBV_WC_RECV) {
			slot = finish_answered(&wc);
		} else if (wc.opcode == IBV_WC_RDMA_READ) {
			slot = wc.wr_id;
			check_read(slot);
		} else {
			continue;
		}
		done++;
		if (opt.verbose)
			printf("%ld: %s, %u bytes\n", done,
			       mode_names[ops[slot].mode], ops[slot].len);
		if (more_to_start(started, end)) {
			start_next(slot);
			started++;
		}
	}
	return done;
}

static int run_client(void)
{
	double start;
	long done;

	random_state = opt.seed * 2654435761u | 1;
	client_connect();
	if (opt.connect_only)
		wait_for_end();
	signal(SIGUSR1, on_signal);
	start = now();
	printf("vtraffic: running\n");
	fflush(stdout);
	done = client_run();
	post_message(KIND_BYE, 0, 0, 0, IBV_SEND_SIGNALED);
	while (next_wc(patience_ms()).wr_id != 1ull << 32)
		;
	must(!rdma_disconnect(e.id), "rdma_disconnect: %m");
	must(ended || !end_expect(&e, RDMA_CM_EVENT_DISCONNECTED), "disconnecting: %m");
	end_free(&e);
	leave(0, "%ld operations, mode %s, seed %u, %.1f s", done,
	      mode_names[opt.mode], opt.seed, now() - start);
}

/* ---- hold ---------------------------------------------------------------- */

static int run_hold(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	static uint8_t buf[8192];
	struct ibv_pd *pd;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	}
	must(ctx, "%s: %m", name);
	pd = ibv_alloc_pd(ctx);
	must(pd, "ibv_alloc_pd: %m");
	attr.send_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	must(attr.send_cq, "ibv_create_cq: %m");
	attr.recv_cq = attr.send_cq;
	must(ibv_create_qp(pd, &attr), "ibv_create_qp: %m");
	must(ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE),
	     "ibv_reg_mr: %m");
	printf("vtraffic: holding %s\n", name);
	fflush(stdout);
	for (;;)
		pause();
}

/* ---- command line -------------------------------------------------------- */

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr,
		"usage: vtraffic server [-b ADDR] [-p PORT] [-T TOS] [-S] [-A] [-L] [-H] [-e WAIT]\n"
		"                       [-k CONNECTIONS]\n"
		"       vtraffic client -a ADDR [-f ADDR] [-p PORT] [-T TOS] [-m MODE]\n"
		"                       [-n COUNT | -t SECONDS] [-s SEED] [-x MAX] [-d DEPTH] [-l SGES]\n"
		"                       [-e WAIT] [-c] [-D] [-H] [-v]\n"
		"       vtraffic hold DEVICE\n"
		"WAIT is poll, event or solicited, MODE is send, write, read or mixed.\n");
	exit(64);
}

static int word_of(const char *const *names, int count, const char *name)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	usage();
}

/* options without a value */
static void parse_switch(int c)
{
	switch (c) {
	case 'S':
		opt.srq = true;
		break;
	case 'A':
		opt.ask_only = true;
		break;
	case 'L':
		opt.unlisten = true;
		opt.connections = 1;
		break;
	case 'D':
		opt.destroy = true;
		break;
	case 'H':
		opt.huge = true;
		break;
	case 'c':
		opt.connect_only = true;
		break;
	case 'v':
		opt.verbose = true;
		break;
	default:
		usage();
	}
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "a:b:f:p:T:m:n:t:s:x:d:l:e:k:SALDHcv")) != -1) {
		switch (c) {
		case 'a':
		case 'b':
			opt.addr = optarg;
			break;
		case 'f':
			opt.from = optarg;
			break;
		case 'T':
			opt.tos = strtoul(optarg, NULL, 0) & 0xff;
			break;
		case 'p':
			opt.port = atoi(optarg);
			break;
		case 'm':
			opt.mode = word_of(mode_names, MODE_COUNT, optarg);
			break;
		case 'e':
			opt.wait = word_of(wait_names, WAIT_COUNT, optarg);
			break;
		case 'n':
			opt.count = atol(optarg);
			break;
		case 't':
			opt.seconds = atoi(optarg);
			break;
		case 's':
			opt.seed = strtoul(optarg, NULL, 0);
			break;
		case 'x':
			opt.max = strtoul(optarg, NULL, 0);
			break;
		case 'd':
			opt.depth = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			opt.sges = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			opt.connections = atoi(optarg);
			break;
		default:
			parse_switch(c);
		}
	}
	if (!opt.depth || opt.depth > MAX_DEPTH || !opt.sges || opt.sges > LIST)
		usage();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "hold") && argc == 3)
		return run_hold(argv[2]);
	parse(argc - 1, argv + 1);
	if (!strcmp(argv[1], "server"))
		return run_server();
	if (!strcmp(argv[1], "client"))
		return run_client();
	usage();
}
