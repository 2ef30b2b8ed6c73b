// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct end a, b, a2, b2;
bool over_siw;

bool is_checked(void)
{
	const char *lane = getenv("TERN_LANE");

	return lane && !strcmp(lane, "uml-debug");
}

bool is_uml(void)
{
	const char *lane = getenv("TERN_LANE");

	return lane && (!strncmp(lane, "uml", 3) || !strcmp(lane, "race"));
}

void need_mended_core(void)
{
	if (!is_uml())
		skip("this kernel would crash, or lets any user do it: security.rst");
}

void must_run(const char *line)
{
	int status = system(line);

	if (status)
		printf("#   %s: status 0x%x (%s)\n", line, status, strerror(errno));
	must(!status);
}

void set_device(const char *host, const char *settings)
{
	char line[256];

	snprintf(line, sizeof(line), "ip netns exec %s tern set tern_%s %s",
		 host, host, settings);
	must_run(line);
}

void impair(const char *host, const char *netem)
{
	char line[256];

	snprintf(line, sizeof(line), "ip netns exec %s tc qdisc add dev v0%s root netem %s",
		 host, host, netem);
	must_run(line);
}

void mend(const char *host)
{
	char line[256];

	snprintf(line, sizeof(line), "ip netns exec %s tc qdisc del dev v0%s root", host, host);
	must_run(line);
}

long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

long long read_counter(const char *device, const char *name)
{
	char path[128];
	long long n;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s", device, name);
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%lld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

int new_port(void)
{
	static int n;

	return 20000 + 50 * tap_number + n++ % 50;
}

/* ---- ends ----------------------------------------------------------------- */

void connect_ends(struct end *x, struct end *y, const char *from,
		  const char *to, const struct want *wx, const struct want *wy)
{
	static const struct want defaults;
	struct end listener;
	int port = new_port();

	wx = wx ?: &defaults;
	wy = wy ?: &defaults;
	must(!enter_netns("b"));
	must(!end_listen(&listener, to, port));
	must(!enter_netns("a"));
	must(!end_resolve(x, to, port, from));
	must(!end_build(x, wx));
	must(!end_connect(x, wx));
	must(!end_request(&listener, y));
	must(!end_build(y, wy));
	must(!end_accept(y, wy));
	must(!end_expect(x, RDMA_CM_EVENT_ESTABLISHED));
	must(!end_expect(y, RDMA_CM_EVENT_ESTABLISHED));
	end_free(&listener);
	must(!enter_netns(NULL));
}

static int make_nonblocking(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void pair_up(const struct want *wa, const struct want *wb)
{
	connect_ends(&a, &b, IP_A, IP_B, wa, wb);
	must(!make_nonblocking(a.id->verbs->async_fd));
	must(!make_nonblocking(b.id->verbs->async_fd));
	drop_async(&a);
	drop_async(&b);
}

void pair_up6(void)
{
	connect_ends(&a, &b, IP6_A, IP6_B, NULL, NULL);
}

void pair_down(void)
{
	if (a.id)
		end_free(&a);
	if (b.id)
		end_free(&b);
}

static void drop_another(void)
{
	if (a2.id)
		end_free(&a2);
	if (b2.id)
		end_free(&b2);
}

void another(void)
{
	static struct want share = { .share = &b };

	drop_another();
	connect_ends(&a2, &b2, IP_A, IP_B, NULL, &share);
}

void another_down(void)
{
	drop_another();
	pair_down();
}

void solo_up(const struct want *want)
{
	static const struct want defaults;

	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, new_port(), IP_A));
	must(!enter_netns(NULL));
	must(!end_build(&a, want ?: &defaults));
}

/* ---- posting --------------------------------------------------------------- */

struct ibv_sge sge_at(const struct end *e, size_t off, uint32_t len)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)e->buf + off,
		.length = len,
		.lkey = e->mr->lkey,
	};
}

int try_send(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	return ibv_post_send(e->qp, wr, &bad);
}

void post(struct end *e, struct ibv_send_wr *wr)
{
	int err = try_send(e, wr);

	if (err)
		printf("#   ibv_post_send: %s\n", strerror(err));
	must(!err);
}

void post_recv_sge(struct end *e, uint64_t id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = n };
	struct ibv_recv_wr *bad;

	must(!ibv_post_recv(e->qp, &wr, &bad));
}

void post_recv(struct end *e, uint64_t id, size_t off, uint32_t len)
{
	struct ibv_sge sge = sge_at(e, off, len);

	post_recv_sge(e, id, &sge, 1);
}

void post_send(struct end *e, uint64_t id, size_t off, uint32_t len, int flags)
{
	struct ibv_sge sge = sge_at(e, off, len);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = flags,
	};

	post(e, &wr);
}

void post_rdma(struct end *e, const struct end *peer, enum ibv_wr_opcode op,
	       uint64_t id, size_t off, uint32_t len, size_t at, int flags)
{
	struct ibv_sge sge = sge_at(e, off, len);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = flags,
		.wr.rdma.remote_addr = (uintptr_t)peer->buf + at,
		.wr.rdma.rkey = peer->mr->rkey,
	};

	post(e, &wr);
}

/* ---- completions ------------------------------------------------------------ */

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int poll_for(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	int n = ibv_poll_cq(cq, 1, wc);
	long end;

	/* the clock is a system call in UML */
	if (n)
		return n;
	end = now_ms() + ms;
	while (!(n = ibv_poll_cq(cq, 1, wc)) && now_ms() < end)
		usleep(100);
	return n;
}

struct ibv_wc next_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc = {};

	must(poll_for(cq, &wc, patience_ms()) == 1);
	return wc;
}

bool no_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n = poll_for(cq, &wc, 50);

	if (n)
		printf("#   unexpected completion of %llu: %s\n",
		       (unsigned long long)wc.wr_id,
		       ibv_wc_status_str(wc.status));
	return !n;
}

void expect_wc(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc = next_wc(cq);

	if (wc.status != status)
		printf("#   completion status: %s, expected %s\n",
		       ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	expect_eq(wc.status, status);
	expect_eq(wc.wr_id, id);
}

/* ---- the peer's memory -------------------------------------------------------- */

#define REACH_LEN 8

void post_at(struct end *e, enum ibv_wr_opcode op, uint32_t rkey, uint64_t addr,
	     struct ibv_sge sge)
{
	struct ibv_send_wr wr = {
		.wr_id = op, .sg_list = &sge, .num_sge = 1, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	post(e, &wr);
}

void post_writes(struct end *e, int n, uint32_t len, uint32_t rkey,
		 uint64_t addr)
{
	struct ibv_sge sge = sge_at(e, 0, len);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { addr, rkey },
	};

	while (n--)
		post(e, &wr);
}

void expect_reach(struct end *e, uint32_t rkey, uint64_t addr, uint32_t len)
{
	static uint32_t seed;

	fill(e->buf, len, ++seed);
	post_at(e, IBV_WR_RDMA_WRITE, rkey, addr, sge_at(e, 0, len));
	expect_wc(e->scq, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS);
	memset(e->buf + len, 0, len);
	post_at(e, IBV_WR_RDMA_READ, rkey, addr, sge_at(e, len, len));
	expect_wc(e->scq, IBV_WR_RDMA_READ, IBV_WC_SUCCESS);
	expect(filled(e->buf + len, len, seed));
}

void expect_no_read(struct end *e, uint32_t rkey, uint64_t addr, uint32_t term)
{
	struct ibv_wc wc;

	post_at(e, IBV_WR_RDMA_READ, rkey, addr, sge_at(e, 0, REACH_LEN));
	wc = next_wc(e->scq);
	expect_eq(wc.status, IBV_WC_REM_ACCESS_ERR);
	expect_eq(wc.vendor_err, term);
	expect_error_state(e);
}

/* a Write may have completed before it is refused; the Read after it tells why */
void expect_no_write(struct end *e, uint32_t rkey, uint64_t addr,
		     uint32_t term)
{
	struct ibv_wc wc;

	post_at(e, IBV_WR_RDMA_WRITE, rkey, addr, sge_at(e, 0, REACH_LEN));
	post_at(e, IBV_WR_RDMA_READ, rkey, addr, sge_at(e, 0, REACH_LEN));
	do
		wc = next_wc(e->scq);
	while (wc.status == IBV_WC_SUCCESS);
	expect_eq(wc.vendor_err, term);
	expect_error_state(e);
}

void expect_recv(struct end *e, uint64_t id, uint32_t len)
{
	struct ibv_wc wc = next_wc(e->rcq);

	expect_eq(wc.status, IBV_WC_SUCCESS);
	expect_eq(wc.wr_id, id);
	expect_eq(wc.opcode, IBV_WC_RECV);
	expect_eq(wc.byte_len, len);
	expect_eq(wc.qp_num, e->qp->qp_num);
}

enum ibv_qp_state state_of(struct end *e)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	must(!ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

void expect_error_state(struct end *e)
{
	long end = now_ms() + patience_ms();

	while (state_of(e) != IBV_QPS_ERR && now_ms() < end)
		usleep(1000);
	expect_eq(state_of(e), IBV_QPS_ERR);
}

bool got_event(struct end *e, int ms)
{
	struct pollfd pfd = { .fd = e->comp->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, ms) != 1)
		return false;
	must(!ibv_get_cq_event(e->comp, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	return true;
}

void expect_async(struct end *e, enum ibv_event_type type)
{
	struct pollfd pfd = { .fd = e->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	long end = now_ms() + patience_ms();

	while (now_ms() < end && poll(&pfd, 1, end - now_ms()) == 1) {
		if (ibv_get_async_event(e->id->verbs, &event))
			continue;
		ibv_ack_async_event(&event);
		if (event.event_type == type)
			return;
		printf("#   async event: %s\n",
		       ibv_event_type_str(event.event_type));
	}
	expect(false, "no async event %s", ibv_event_type_str(type));
}

void drop_async(struct end *e)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(e->id->verbs, &event))
		ibv_ack_async_event(&event);
}

/* ---- payload ------------------------------------------------------------------ */

static uint8_t pattern_byte(size_t i, uint32_t seed)
{
	uint32_t x = (uint32_t)(i >> 2) * 2654435761u + seed * 40503u;

	x ^= x >> 15;
	return x >> (8 * (i & 3));
}

void fill(uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = pattern_byte(i, seed);
}

bool filled(const uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (p[i] != pattern_byte(i, seed)) {
			printf("#   byte %zu of %zu differs\n", i, len);
			return false;
		}
	}
	return true;
}

bool all_are(const uint8_t *p, size_t len, uint8_t value)
{
	return p[0] == value && !memcmp(p, p + 1, len - 1);
}
