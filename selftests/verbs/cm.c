// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Connections as rdma_cm shows them: private data, reject, disconnect, IRD and ORD
 * (RFC 5044 7.1, RFC 6581 9).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"

static uint8_t data_a[255], data_b[255];

static void fill_data(void)
{
	fill(data_a, sizeof(data_a), 1);
	fill(data_b, sizeof(data_b), 2);
}

static const uint8_t lengths[] = { 0, 1, 56, 196, 255 };

static void private_data(void)
{
	unsigned int i;

	fill_data();
	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		struct want wa = { .pdata = data_a, .pdata_len = lengths[i] };
		struct want wb = { .pdata = data_b,
				   .pdata_len = lengths[ARRAY_LEN(lengths) - 1 - i] };
		struct end listener;

		must(!enter_netns("b"));
		must(!end_listen(&listener, IP_B, 8100 + i));
		must(!enter_netns("a"));
		must(!end_resolve(&a, IP_B, 8100 + i, IP_A));
		must(!end_build(&a, &wa));
		must(!end_connect(&a, &wa));
		must(!end_request(&listener, &b));
		expect_eq(b.got_len, wa.pdata_len);
		expect_bytes(b.got, data_a, wa.pdata_len);
		must(!end_build(&b, &wb));
		must(!end_accept(&b, &wb));
		must(!end_expect(&a, RDMA_CM_EVENT_ESTABLISHED));
		expect_eq(a.got_len, wb.pdata_len);
		expect_bytes(a.got, data_b, wb.pdata_len);
		must(!end_expect(&b, RDMA_CM_EVENT_ESTABLISHED));
		end_free(&listener);
		must(!enter_netns(NULL));
		pair_down();
	}
}

static void reject_with(uint8_t len, int port)
{
	struct want wa = { .pdata = data_a, .pdata_len = len };
	struct rdma_cm_event *event;
	struct end listener;

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, port));
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, port, IP_A));
	must(!end_build(&a, &wa));
	must(!end_connect(&a, &wa));
	must(!end_request(&listener, &b));
	expect_eq(b.got_len, len);
	must(!rdma_reject(b.id, data_b, len));
	event = end_wait(&a, RDMA_CM_EVENT_REJECTED);
	must(event);
	expect_eq(event->status, -ECONNREFUSED);
	expect_eq(event->param.conn.private_data_len, len);
	expect(!len || !memcmp(event->param.conn.private_data, data_b, len));
	rdma_ack_cm_event(event);
	end_free(&listener);
	must(!enter_netns(NULL));
	expect(state_of(&a) != IBV_QPS_RTS);
	pair_down();
}

static void reject(void)
{
	unsigned int i;

	fill_data();
	for (i = 0; i < ARRAY_LEN(lengths); i++)
		reject_with(lengths[i], 8200 + i);
}

static void nobody_listens(void)
{
	struct rdma_cm_event *event;

	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, 8300, IP_A));
	must(!enter_netns(NULL));
	must(!end_build(&a, &(struct want){}));
	must(!end_connect(&a, &(struct want){}));
	event = end_wait(&a, RDMA_CM_EVENT_REJECTED);
	must(event);
	expect_eq(event->status, -ECONNREFUSED);
	rdma_ack_cm_event(event);
	pair_down();
}

/* rdma_connect() and rdma_accept() fail when the QP number is unknown. */
static void no_qp(void)
{
	static const struct want none;
	struct rdma_conn_param param = { .qp_num = 0xfffffe };
	struct end listener;

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, 8301));
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, 8301, IP_A));
	expect(rdma_connect(a.id, &param));
	expect_eq(errno, EINVAL);
	must(!end_build(&a, &none));
	must(!end_connect(&a, &none));
	must(!end_request(&listener, &b));
	expect(rdma_accept(b.id, &param));
	expect_eq(errno, EINVAL);
	must(!end_expect(&a, RDMA_CM_EVENT_REJECTED));
	end_free(&listener);
	must(!enter_netns(NULL));
	pair_down();
}

/* either end may ask for a graceful close */
static void disconnect_either(void)
{
	struct end *first[] = { &a, &b }, *second[] = { &b, &a };
	int i;

	for (i = 0; i < 2; i++) {
		pair_up(NULL, NULL);
		must(!rdma_disconnect(first[i]->id));
		must(!end_expect(second[i], RDMA_CM_EVENT_DISCONNECTED));
		expect_error_state(second[i]);
		must(!rdma_disconnect(second[i]->id));
		must(!end_expect(first[i], RDMA_CM_EVENT_DISCONNECTED));
		expect_error_state(first[i]);
		pair_down();
	}
}

/* data sent before a disconnect arrives */
static void disconnect_delivers(void)
{
	static const struct want want = { .buf_len = 8 << 20 };
	int i;

	pair_up(&want, &want);
	fill(a.buf, 1 << 20, 4);
	for (i = 0; i < 8; i++) {
		post_recv(&b, i, i << 20, 1 << 20);
		post_send(&a, i, 0, 1 << 20, IBV_SEND_SIGNALED);
	}
	must(!rdma_disconnect(a.id));
	for (i = 0; i < 8; i++) {
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
		expect_recv(&b, i, 1 << 20);
	}
	expect(filled(b.buf + (7 << 20), 1 << 20, 4));
	must(!end_expect(&b, RDMA_CM_EVENT_DISCONNECTED));
	pair_down();
}

static struct ibv_qp_attr attr_of(struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(e->qp, &attr, ALL_ATTRS, &init));
	return attr;
}

#define READ_LEN	256

/* post 2 * @ord + 1 Reads, more than may be outstanding at once */
static void many_reads(struct end *from, struct end *to, int ord)
{
	int i, n = 2 * ord + 1;

	fill(to->buf, READ_LEN * n, ord);
	memset(from->buf, 0, READ_LEN * n);
	for (i = 0; i < n; i++)
		post_rdma(from, to, IBV_WR_RDMA_READ, i, READ_LEN * i, READ_LEN,
			  READ_LEN * i, IBV_SEND_SIGNALED);
	for (i = 0; i < n; i++)
		expect_wc(from->scq, i, IBV_WC_SUCCESS);
	expect(filled(from->buf, READ_LEN * n, ord));
}

static int least(int x, int y)
{
	return x < y ? x : y;
}

/*
 * RFC 6581 9.1: the IRD of an end is at least what its program asked for, its ORD is
 * what the program asked for, limited to the peer's IRD. More outstanding Reads than
 * IRD would end the stream.
 */
static void ird_ord(void)
{
	static const struct ibv_qp_cap cap = { .max_send_wr = 256 };
	static const struct want wa[] = {
		{ .cap = cap, .ird = 8, .ord = 16 }, { .cap = cap, .ird = 1, .ord = 1 },
		{ .cap = cap, .ird = 3, .ord = 100 },
	};
	static const struct want wb[] = {
		{ .cap = cap, .ird = 5, .ord = 20 }, { .cap = cap, .ird = 9, .ord = 9 },
		{ .cap = cap, .ird = 100, .ord = 2 },
	};
	struct ibv_qp_attr x, y;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(wa); i++) {
		pair_up(&wa[i], &wb[i]);
		x = attr_of(&a);
		y = attr_of(&b);
		expect(x.max_dest_rd_atomic >= wa[i].ird);
		expect(y.max_dest_rd_atomic >= wb[i].ird);
		expect_eq(x.max_rd_atomic, least(wa[i].ord, y.max_dest_rd_atomic));
		expect_eq(y.max_rd_atomic, least(wb[i].ord, x.max_dest_rd_atomic));
		many_reads(&a, &b, x.max_rd_atomic);
		many_reads(&b, &a, y.max_rd_atomic);
		pair_down();
	}
}

/* The responder sends first: its message waits for the RTR, which the ULP does not see. */
static void server_speaks_first(void)
{
	pair_up(NULL, NULL);
	post_recv(&a, 1, 0, 64);
	fill(b.buf, 33, 6);
	post_send(&b, 1, 0, 33, IBV_SEND_SIGNALED);
	expect_recv(&a, 1, 33);
	expect(filled(a.buf, 33, 6));
	expect_wc(b.scq, 1, IBV_WC_SUCCESS);
	expect(no_wc(b.rcq));
	pair_down();
}

/* requests posted before the connection is up are sent when it is */
static void posted_early(void)
{
	struct end listener;

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, 8400));
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, 8400, IP_A));
	must(!end_build(&a, &(struct want){}));
	post_recv(&a, 1, 0, 64);
	must(!end_connect(&a, &(struct want){}));
	must(!end_request(&listener, &b));
	must(!end_build(&b, &(struct want){}));
	post_recv(&b, 2, 0, 64);
	must(!end_accept(&b, &(struct want){}));
	must(!end_expect(&a, RDMA_CM_EVENT_ESTABLISHED));
	must(!end_expect(&b, RDMA_CM_EVENT_ESTABLISHED));
	end_free(&listener);
	must(!enter_netns(NULL));
	post_send(&a, 3, 0, 10, IBV_SEND_SIGNALED);
	post_send(&b, 4, 0, 20, IBV_SEND_SIGNALED);
	expect_recv(&b, 2, 10);
	expect_recv(&a, 1, 20);
	pair_down();
}

static void many_connections(void)
{
	enum { N = 16 };
	static struct end c[N], d[N];
	int i, round;

	for (i = 0; i < N; i++)
		connect_ends(&c[i], &d[i], IP_A, IP_B, NULL, NULL);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < N; i++) {
			fill(c[i].buf, 3000, i + round);
			post_recv(&d[i], round, 0, 4096);
			post_send(&c[i], round, 0, 3000, IBV_SEND_SIGNALED);
		}
		for (i = 0; i < N; i++) {
			expect_wc(c[i].scq, round, IBV_WC_SUCCESS);
			expect_recv(&d[i], round, 3000);
			expect(filled(d[i].buf, 3000, i + round));
		}
	}
	for (i = 0; i < N; i++) {
		end_free(&c[i]);
		end_free(&d[i]);
	}
}

/* the QP and the id are destroyed while they connect */
static void leave_early(void)
{
	struct end listener;
	int i;

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, 8500));
	for (i = 0; i < 4; i++) {
		must(!enter_netns("a"));
		must(!end_resolve(&a, IP_B, 8500, IP_A));
		must(!end_build(&a, &(struct want){}));
		must(!end_connect(&a, &(struct want){}));
		if (i & 1)
			must(!end_request(&listener, &b));
		end_free(&a);
		if (i & 1)
			end_free(&b);
	}
	must(!enter_netns(NULL));
	end_free(&listener);
}

/* a TCP socket in the current netns, bound to @ip; -1 if the port is in use */
static int tcp_at(const char *ip, int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0 && inet_pton(AF_INET, ip, &at.sin_addr) == 1);
	if (!bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	must(errno == EADDRINUSE);
	close(fd);
	return -1;
}

/* a connection whose port is chosen in connect(), as an ephemeral port is; -1 likewise */
static int tcp_from(const char *ip, int port, const struct sockaddr_in *to)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	uint32_t range = (uint32_t)port << 16 | port;
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	must(fd >= 0 && inet_pton(AF_INET, ip, &at.sin_addr) == 1);
	must(!setsockopt(fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)));
	must(!setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, &range, sizeof(range)));
	must(!bind(fd, (struct sockaddr *)&at, sizeof(at)));
	if (!connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		return fd;
	must(errno == EADDRNOTAVAIL);
	close(fd);
	return -1;
}

/*
 * Resolve @port of b, and connect to @to by TCP from the port that rdma_cm chose for that. It
 * may choose one that an earlier test's connection keeps in TIME-WAIT: then take another.
 */
static int resolve_beside_tcp(int port, const struct sockaddr_in *to, bool bound)
{
	int fd, own, tries = 20;

	for (;;) {
		must(!end_resolve(&a, IP_B, port, IP_A));
		own = ntohs(rdma_get_src_port(a.id));
		fd = bound ? tcp_at(IP_A, own) : tcp_from(IP_A, own, to);
		if (fd >= 0)
			break;
		must(tries--);
		end_free(&a);
	}
	if (bound)
		must(!connect(fd, (const struct sockaddr *)to, sizeof(*to)));
	return fd;
}

/*
 * rdma_cm chooses a port without checking TCP's. A TCP connection from that port to
 * another address is no obstacle.
 */
static void port_of_a_tcp_connection(void)
{
	static const struct want none;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(8303) };
	struct end listener;
	int server, client;

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, 8302));
	server = tcp_at(IP_B, 8303);
	must(server >= 0 && !listen(server, 1));
	must(inet_pton(AF_INET, IP_B, &to.sin_addr) == 1);
	must(!enter_netns("a"));
	client = resolve_beside_tcp(8302, &to, false);
	must(!end_build(&a, &none));
	must(!end_connect(&a, &none));
	must(!end_request(&listener, &b));
	must(!end_build(&b, &none));
	must(!end_accept(&b, &none));
	must(!end_expect(&a, RDMA_CM_EVENT_ESTABLISHED));
	must(!end_expect(&b, RDMA_CM_EVENT_ESTABLISHED));
	must(!enter_netns(NULL));
	end_free(&listener);
	close(client);
	close(server);
	pair_down();
}

/*
 * TCP has a connection with the same addresses and ports: tern's fails, whether TCP's
 * got its port from bind() or from connect().
 */
static void expect_in_use(bool bound)
{
	static const struct want none;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(8304) };
	struct end listener;
	int client;

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, 8304));
	must(inet_pton(AF_INET, IP_B, &to.sin_addr) == 1);
	must(!enter_netns("a"));
	client = resolve_beside_tcp(8304, &to, bound);
	must(!enter_netns(NULL));
	must(!end_build(&a, &none));
	expect(end_connect(&a, &none));
	expect_eq(errno, EADDRINUSE);
	close(client);
	end_free(&listener);
	pair_down();
}

static void ports_of_a_tcp_connection(void)
{
	expect_in_use(true);
	expect_in_use(false);
}

static const struct tap_test tests[] = {
	{ "private data of 0 to 255 bytes, both ways", private_data },
	{ "reject, with private data of 0 to 255 bytes", reject },
	{ "a port without a listener: REJECTED, ECONNREFUSED", nobody_listens },
	{ "MPA-076: connect and accept without a QP fail", no_qp },
	{ "RDMAP-114: either side disconnects: both get the event, both QPs end",
	  disconnect_either },
	{ "what was sent before a disconnect arrives", disconnect_delivers },
	{ "RDMAP-109, RDMAP-110: each end has the agreed number of Reads in flight", ird_ord },
	{ "the acceptor may send first", server_speaks_first },
	{ "receives posted before the connection take its first messages", posted_early },
	{ "16 connections at once", many_connections },
	{ "QP and id destroyed while connecting", leave_early },
	{ "a local port that a TCP connection to elsewhere uses", port_of_a_tcp_connection },
	{ "both ports that a TCP connection uses: EADDRINUSE", ports_of_a_tcp_connection },
};

const struct tap_theme cm_theme = { tests, ARRAY_LEN(tests) };
