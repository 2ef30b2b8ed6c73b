// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Connections: listen, connect, accept, and the QPs, through librdmacm. */
#define _GNU_SOURCE
#include "agent_conn.h"
#include "agent_dev.h"
#include "agent_event.h"
#include "agent_ext.h"
#include "agent_map.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#define CONNS_MAX	512
#define DEPTH_MAX	4096
#define SGE_MAX		4
#define INLINE_MAX	64
#define BACKLOG		256
#define LISTEN_TRIES	8
#define RESOLVE_TRIES	3
#define RESOLVE_MS	1000

bool conn_bind_source;

static struct conn conns[CONNS_MAX];
/* The connections that ask for an SRQ share this one; the first sets its depth. */
static struct ibv_srq *shared;
static int conn_count;

/* ---- numbers ------------------------------------------------------------- */

int conn_add(struct rdma_cm_id *id)
{
	if (conn_count == CONNS_MAX)
		return -1;
	conns[conn_count] = (struct conn) { .id = id };
	return conn_count++;
}

int conn_of_id(const struct rdma_cm_id *id)
{
	int i;

	for (i = conn_count - 1; i >= 0 && conns[i].id != id; i--)
		;
	return i;
}

int conn_of_qp(const struct ibv_qp *qp)
{
	int i;

	for (i = conn_count - 1; i >= 0; i--)
		if (conns[i].id && conns[i].id->qp == qp)
			break;
	return i;
}

int conn_of_qpn(uint32_t qpn)
{
	int i;

	for (i = conn_count - 1; i >= 0; i--)
		if (conns[i].id && conns[i].id->qp &&
		    conns[i].id->qp->qp_num == qpn)
			break;
	return i;
}

struct conn *arg_conn(struct call *c)
{
	uint64_t n = arg_number(c, CONNS_MAX);

	if (n < (uint64_t)conn_count && conns[n].id)
		return &conns[n];
	if (!c->error)
		c->error = ENOENT;
	return NULL;
}

struct conn *arg_conn_qp(struct call *c)
{
	struct conn *conn = arg_conn(c);

	if (conn && !conn->id->qp) {
		c->error = ENOTCONN;
		return NULL;
	}
	return conn;
}

/* ---- making and unmaking ------------------------------------------------- */

static void destroy(struct conn *conn)
{
	event_forget(conn - conns);
	if (conn->id->qp)
		rdma_destroy_qp(conn->id);
	rdma_destroy_id(conn->id);
	conn->id = NULL;
	conn->srq = NULL;
}

void conn_reset(void)
{
	for (; conn_count > 0; conn_count--)
		if (conns[conn_count - 1].id)
			destroy(&conns[conn_count - 1]);
	if (shared)
		ibv_destroy_srq(shared);
	shared = NULL;
}

/**
 * struct conn_options - the options of connect and accept, for the QP and for rdma_cm
 * @param: its private data is @pd
 */
struct conn_options {
	struct ibv_qp_cap cap;
	int srq_depth;
	struct rdma_conn_param param;
	uint8_t pd[UINT8_MAX];
};

static void arg_options(struct call *c, struct conn_options *o)
{
	o->cap.max_send_wr = arg_number(c, DEPTH_MAX);
	o->cap.max_recv_wr = arg_number(c, DEPTH_MAX);
	o->cap.max_send_sge = SGE_MAX;
	o->cap.max_recv_sge = SGE_MAX;
	o->cap.max_inline_data = INLINE_MAX;
	o->param.responder_resources = arg_number(c, UINT8_MAX);
	o->param.initiator_depth = arg_number(c, UINT8_MAX);
	o->srq_depth = arg_number(c, DEPTH_MAX);
	o->param.private_data_len = arg_bytes(c, o->pd, sizeof(o->pd));
	o->param.private_data = o->pd;
}

static int make_qp(struct conn *conn, const struct conn_options *o)
{
	struct ibv_srq_init_attr srq = {
		.attr = { .max_wr = o->srq_depth, .max_sge = SGE_MAX },
	};
	struct ibv_qp_init_attr attr = {
		.cap = o->cap,
		.qp_type = IBV_QPT_RC,
		.send_cq = dev.cq,
		.recv_cq = dev.cq,
	};

	if (o->srq_depth) {
		if (!shared)
			shared = ibv_create_srq(dev.pd[0], &srq);
		if (!shared)
			return errno;
		conn->srq = shared;
		attr.srq = shared;
	}
	if (!ext_create_qp(conn->id, &attr))
		return 0;
	/* some devices have no inline data: try without */
	attr.cap = o->cap;
	attr.cap.max_inline_data = 0;
	return ext_create_qp(conn->id, &attr) ? errno : 0;
}

static int parse(struct call *c, struct sockaddr_storage *out)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	const char *host = arg_word(c), *port = arg_word(c);
	struct addrinfo *found;

	if (c->error)
		return c->error;
	if (getaddrinfo(host, port, &hints, &found))
		return EINVAL;
	memset(out, 0, sizeof(*out));
	memcpy(out, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

/* ---- listening ----------------------------------------------------------- */

/* the device's own address with @port */
static struct sockaddr_storage own_address(uint16_t port)
{
	struct sockaddr_storage addr = dev.addr;

	/* both address families have the port at the same offset */
	((struct sockaddr_in *)&addr)->sin_port = htons(port);
	return addr;
}

static int try_listen(uint16_t port, struct rdma_cm_id **id)
{
	struct sockaddr_storage addr = own_address(port);
	int error;

	if (rdma_create_id(dev.events, id, NULL, RDMA_PS_TCP))
		return errno;
	if (!rdma_bind_addr(*id, (struct sockaddr *)&addr) &&
	    !rdma_listen(*id, BACKLOG))
		return 0;
	error = errno;
	rdma_destroy_id(*id);
	return error;
}

/* The TCP port where a peer reaches the listener @id: the port mapper may have moved
 * it. */
static uint16_t found_at(struct rdma_cm_id *id)
{
	struct sockaddr_storage addr = own_address(ntohs(rdma_get_src_port(id)));

	return map_port(&addr);
}

int cmd_listen(struct call *c)
{
	uint16_t port = arg_number(c, UINT16_MAX);
	int tries, error = arg_end(c) ?: dev_open();
	struct rdma_cm_id *id;

	if (error)
		return error;
	/* rdma_cm may pick a port that TCP already uses: try others */
	for (tries = 0; tries < LISTEN_TRIES; tries++) {
		error = try_listen(port, &id);
		if (error != EADDRINUSE || port)
			break;
	}
	if (error)
		return error;
	if (conn_add(id) < 0) {
		rdma_destroy_id(id);
		return ENOSPC;
	}
	say(c, "%u", found_at(id));
	return 0;
}

/* ---- connecting ---------------------------------------------------------- */

/*
 * When the ARP reply arrives before the core has queued the request, the core misses
 * it and the request only times out. Use a short timeout and try again.
 */
static int resolve(struct rdma_cm_id *id, struct sockaddr_storage *to)
{
	struct sockaddr_storage from = own_address(0);
	struct sockaddr *src = conn_bind_source ? (struct sockaddr *)&from : NULL;
	int tries, error = 0;

	for (tries = 0; tries < RESOLVE_TRIES; tries++) {
		if (rdma_resolve_addr(id, src, (struct sockaddr *)to, RESOLVE_MS))
			return errno;
		error = event_await(id, RDMA_CM_EVENT_ADDR_RESOLVED, 2 * RESOLVE_MS);
		if (error != ETIMEDOUT)
			break;
	}
	if (error)
		return error;
	if (rdma_resolve_route(id, RESOLVE_MS))
		return errno;
	return event_await(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 2 * RESOLVE_MS);
}

static int start(struct conn *conn, struct sockaddr_storage *to, struct conn_options *o)
{
	int error = resolve(conn->id, to);

	if (error)
		return error;
	/* the PDs and the CQ are of our device, so no other one will do */
	if (conn->id->verbs != dev.verbs)
		return EXDEV;
	error = make_qp(conn, o);
	if (error)
		return error;
	return rdma_connect(conn->id, &o->param) ? errno : 0;
}

int cmd_connect(struct call *c)
{
	struct sockaddr_storage to;
	struct conn_options o = { 0 };
	struct rdma_cm_id *id;
	int n, error = parse(c, &to);

	arg_options(c, &o);
	error = error ?: arg_end(c) ?: dev_open();
	if (error)
		return error;
	if (rdma_create_id(dev.events, &id, NULL, RDMA_PS_TCP))
		return errno;
	n = conn_add(id);
	if (n < 0) {
		rdma_destroy_id(id);
		return ENOSPC;
	}
	error = start(&conns[n], &to, &o);
	if (error) {
		destroy(&conns[n]);
		return error;
	}
	say(c, "%d", n);
	return 0;
}

int cmd_accept(struct call *c)
{
	struct conn *conn = arg_conn(c);
	struct conn_options o = { 0 };
	int error;

	arg_options(c, &o);
	error = arg_end(c);
	if (error)
		return error;
	if (conn->id->qp)
		return EISCONN;
	error = make_qp(conn, &o);
	if (error)
		return error;
	return rdma_accept(conn->id, &o.param) ? errno : 0;
}

int cmd_reject(struct call *c)
{
	struct conn *conn = arg_conn(c);
	uint8_t pd[UINT8_MAX];
	size_t len = arg_bytes(c, pd, sizeof(pd));
	int error = arg_end(c);

	if (error)
		return error;
	return rdma_reject(conn->id, pd, len) ? errno : 0;
}

int cmd_disconnect(struct call *c)
{
	struct conn *conn = arg_conn(c);
	int error = arg_end(c);

	if (error)
		return error;
	return rdma_disconnect(conn->id) ? errno : 0;
}

int cmd_destroy(struct call *c)
{
	struct conn *conn = arg_conn(c);
	int error = arg_end(c);

	if (error)
		return error;
	destroy(conn);
	return 0;
}

/* ---- the QP -------------------------------------------------------------- */

int cmd_qp(struct call *c)
{
	static const char *const names[] = {
		[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT",
		[IBV_QPS_RTR] = "RTR", [IBV_QPS_RTS] = "RTS",
		[IBV_QPS_SQD] = "SQD", [IBV_QPS_SQE] = "SQE",
		[IBV_QPS_ERR] = "ERR",
	};
	struct conn *conn = arg_conn_qp(c);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int error = arg_end(c);

	if (error)
		return error;
	error = ibv_query_qp(conn->id->qp, &attr, IBV_QP_STATE, &init);
	if (error)
		return error;
	if (attr.qp_state >= sizeof(names) / sizeof(*names))
		return EPROTO;
	say(c, "%s", names[attr.qp_state]);
	return 0;
}

int cmd_srq_limit(struct call *c)
{
	struct ibv_srq_attr attr = { .srq_limit = arg_number(c, DEPTH_MAX) };
	int error = arg_end(c);

	if (error)
		return error;
	if (!shared)
		return ENOENT;
	return ibv_modify_srq(shared, &attr, IBV_SRQ_LIMIT);
}

int cmd_qp_error(struct call *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct conn *conn = arg_conn_qp(c);
	int error = arg_end(c);

	return error ?: ibv_modify_qp(conn->id->qp, &attr, IBV_QP_STATE);
}
