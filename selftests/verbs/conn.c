// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Connecting one end, or both, with its resources (conn.h). */
#define _GNU_SOURCE
#include "conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE	(2u << 20)

int patience_ms(void)
{
	const char *scale = getenv("TERN_TIMEOUT_SCALE");

	return 5000 * (scale ? atoi(scale) : 1);
}

int enter_netns(const char *name)
{
	static int home = -1;
	char path[256];
	int fd, ret;

	if (home < 0)
		home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (!name || !*name)
		return setns(home, CLONE_NEWNET);
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = setns(fd, CLONE_NEWNET);
	close(fd);
	return ret;
}

/* a link-local address may have its netdev after a % */
static bool parse_ipv6(const char *ip, struct sockaddr_in6 *in6)
{
	char text[INET6_ADDRSTRLEN];
	size_t len = strcspn(ip, "%");

	if (len >= sizeof(text))
		return false;
	memcpy(text, ip, len);
	text[len] = '\0';
	in6->sin6_scope_id = ip[len] ? if_nametoindex(ip + len + 1) : 0;
	return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1;
}

static socklen_t parse(const char *ip, int port, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, ip, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	if (parse_ipv6(ip, in6)) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return sizeof(*in6);
	}
	return 0;
}

/*
 * The core misses an ARP reply that arrives before it has put the request on its list,
 * as happens on veth, and then waits for the whole time: keep it short.
 */
#define RESOLVE_MS 1000

static int make_id(struct end *e)
{
	memset(e, 0, sizeof(*e));
	e->ch = rdma_create_event_channel();
	if (!e->ch)
		return -1;
	return rdma_create_id(e->ch, &e->id, NULL, RDMA_PS_TCP);
}

/* ---- events -------------------------------------------------------------- */

struct rdma_cm_event *end_wait(struct end *e, enum rdma_cm_event_type type)
{
	struct pollfd pfd = { .fd = e->ch->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&pfd, 1, patience_ms()) != 1) {
		printf("#   no event, expected %s\n", rdma_event_str(type));
		errno = ETIMEDOUT;
		return NULL;
	}
	if (rdma_get_cm_event(e->ch, &event))
		return NULL;
	if (event->event == type)
		return event;
	printf("#   event %s (status %d), expected %s\n",
	       rdma_event_str(event->event), event->status,
	       rdma_event_str(type));
	errno = event->status < 0 ? -event->status : EPROTO;
	rdma_ack_cm_event(event);
	return NULL;
}

static void keep(struct end *e, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	e->got_len = conn->private_data ? conn->private_data_len : 0;
	if (e->got_len)
		memcpy(e->got, conn->private_data, e->got_len);
	e->got_ird = conn->responder_resources;
	e->got_ord = conn->initiator_depth;
}

int end_expect(struct end *e, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = end_wait(e, type);

	if (!event)
		return -1;
	if (type == RDMA_CM_EVENT_ESTABLISHED ||
	    type == RDMA_CM_EVENT_REJECTED)
		keep(e, event);
	rdma_ack_cm_event(event);
	return 0;
}

/* ---- connecting ---------------------------------------------------------- */

/* Try three times: a reply may be missed, and ARP repeats a request after a second. */
static int resolve_addr(struct end *e, struct sockaddr *src,
			struct sockaddr *dst)
{
	int tries;

	for (tries = 0; tries < 3; tries++) {
		if (rdma_resolve_addr(e->id, src, dst, RESOLVE_MS))
			return -1;
		if (!end_expect(e, RDMA_CM_EVENT_ADDR_RESOLVED))
			return 0;
		if (errno != ETIMEDOUT)
			return -1;
	}
	return -1;
}

int end_resolve_from(struct end *e, const char *ip, int port, const char *from,
		     int from_port)
{
	struct sockaddr_storage src, dst;

	if (!parse(ip, port, &dst) || (from && !parse(from, from_port, &src)))
		return -1;
	if (make_id(e))
		return -1;
	if (resolve_addr(e, from ? (struct sockaddr *)&src : NULL,
			 (struct sockaddr *)&dst))
		return -1;
	if (rdma_resolve_route(e->id, RESOLVE_MS))
		return -1;
	return end_expect(e, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int end_resolve(struct end *e, const char *ip, int port, const char *from)
{
	return end_resolve_from(e, ip, port, from, 0);
}

int end_bind(struct end *e, const char *ip, int port)
{
	struct sockaddr_storage at;

	if (!parse(ip, port, &at) || make_id(e))
		return -1;
	return rdma_bind_addr(e->id, (struct sockaddr *)&at);
}

int end_listen(struct end *e, const char *ip, int port)
{
	if (end_bind(e, ip, port))
		return -1;
	return rdma_listen(e->id, 16);
}

int end_set_tos(struct end *e, uint8_t tos)
{
	return rdma_set_option(e->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos));
}

static struct rdma_conn_param conn_param(const struct want *want)
{
	return (struct rdma_conn_param) {
		.private_data = want->pdata,
		.private_data_len = want->pdata_len,
		.responder_resources = want->no_reads ? 0 : want->ird ?: 4,
		.initiator_depth = want->no_reads ? 0 : want->ord ?: 4,
	};
}

int end_connect(struct end *e, const struct want *want)
{
	struct rdma_conn_param param = conn_param(want);

	return rdma_connect(e->id, &param);
}

int end_request(struct end *listener, struct end *e)
{
	struct rdma_cm_event *event;

	memset(e, 0, sizeof(*e));
	event = end_wait(listener, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event)
		return -1;
	keep(e, event);
	e->id = event->id;
	rdma_ack_cm_event(event);
	e->ch = rdma_create_event_channel();
	if (!e->ch)
		return -1;
	return rdma_migrate_id(e->id, e->ch);
}

int end_accept(struct end *e, const struct want *want)
{
	struct rdma_conn_param param = conn_param(want);

	return rdma_accept(e->id, &param);
}

/* ---- resources ----------------------------------------------------------- */

static int build_memory(struct end *e, const struct want *want)
{
	if (want->share) {
		e->pd = want->share->pd;
		e->mr = want->share->mr;
		e->buf = want->share->buf;
		e->buf_len = want->share->buf_len;
		return 0;
	}
	e->owns = true;
	e->pd = ibv_alloc_pd(e->id->verbs);
	if (!e->pd)
		return -1;
	e->buf_len = want->buf_len ?: 65536;
	/* munmap() takes whole ones only */
	if (want->map_flags & MAP_HUGETLB)
		e->buf_len = (e->buf_len + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	e->buf = mmap(NULL, e->buf_len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | want->map_flags, -1, 0);
	if (e->buf == MAP_FAILED)
		return -1;
	e->mr = ibv_reg_mr(e->pd, e->buf, e->buf_len,
			   want->access ?: ALL_RIGHTS);
	return e->mr ? 0 : -1;
}

static int build_queues(struct end *e, const struct ibv_qp_cap *cap,
			const struct want *want)
{
	int cqe = want->cqe;

	if (want->cqs) {
		e->scq = want->cqs->scq;
		e->rcq = want->cqs->rcq;
		return 0;
	}
	e->comp = ibv_create_comp_channel(e->id->verbs);
	if (!e->comp)
		return -1;
	e->scq = ibv_create_cq(e->id->verbs, cqe ?: (int)cap->max_send_wr,
			       NULL, e->comp, 0);
	if (!e->scq)
		return -1;
	e->rcq = ibv_create_cq(e->id->verbs, cqe ?: (int)cap->max_recv_wr,
			       NULL, e->comp, 0);
	return e->rcq ? 0 : -1;
}

static int build_srq(struct end *e, const struct ibv_qp_cap *cap)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = cap->max_recv_wr,
			  .max_sge = cap->max_recv_sge },
	};

	e->srq = ibv_create_srq(e->pd, &attr);
	return e->srq ? 0 : -1;
}

int end_build(struct end *e, const struct want *want)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = want->cap,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = want->sig_all,
		.srq = want->srq,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.send_ops_flags = want->send_ops,
	};
	struct ibv_qp_cap *cap = &attr.cap;

	cap->max_send_wr = cap->max_send_wr ?: 64;
	cap->max_recv_wr = cap->max_recv_wr ?: 64;
	cap->max_send_sge = cap->max_send_sge ?: 1;
	cap->max_recv_sge = cap->max_recv_sge ?: 1;
	if (build_memory(e, want) || build_queues(e, cap, want))
		return -1;
	if (want->own_srq) {
		if (build_srq(e, cap))
			return -1;
		attr.srq = e->srq;
	}
	attr.pd = e->pd;
	attr.send_cq = e->scq;
	attr.recv_cq = e->rcq;
	if (want->send_ops)
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	if (rdma_create_qp_ex(e->id, &attr))
		return -1;
	e->qp = e->id->qp;
	e->cap = attr.cap;
	return 0;
}

void end_free(struct end *e)
{
	if (e->qp)
		rdma_destroy_qp(e->id);
	if (e->srq)
		ibv_destroy_srq(e->srq);
	/* without a channel of its own, the CQs belong to @want->cqs */
	if (e->comp && e->rcq)
		ibv_destroy_cq(e->rcq);
	if (e->comp && e->scq)
		ibv_destroy_cq(e->scq);
	if (e->comp)
		ibv_destroy_comp_channel(e->comp);
	if (e->owns && e->mr)
		ibv_dereg_mr(e->mr);
	if (e->owns && e->buf)
		munmap(e->buf, e->buf_len);
	if (e->owns && e->pd)
		ibv_dealloc_pd(e->pd);
	if (e->id)
		rdma_destroy_id(e->id);
	if (e->ch)
		rdma_destroy_event_channel(e->ch);
	memset(e, 0, sizeof(*e));
}
