// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Events of rdma_cm and of the device: wait for them, queue them, report them. */
#define _GNU_SOURCE
#include "agent_event.h"
#include "agent_conn.h"
#include "agent_dev.h"

#include <errno.h>
#include <string.h>

#define QUEUE_MAX	256

/* an rdma_cm event, as the agent reports it */
struct event {
	enum rdma_cm_event_type type;
	int conn;
	int status;
	int ird;
	int ord;
	int pd_len;
	uint8_t pd[256];
};

/* events of other connections that came while a command waited for its own */
static struct event queue[QUEUE_MAX];
static int queued;

static void copy(struct event *e, const struct rdma_cm_event *from)
{
	const struct rdma_conn_param *p = &from->param.conn;

	memset(e, 0, sizeof(*e));
	e->type = from->event;
	e->status = from->status;
	e->conn = conn_of_id(from->id);
	e->ird = p->responder_resources;
	e->ord = p->initiator_depth;
	e->pd_len = p->private_data ? p->private_data_len : 0;
	memcpy(e->pd, p->private_data ?: e->pd, e->pd_len);
}

/* receive one event into @e within @ms; Return: 0, EAGAIN if none came, or an errno */
static int receive(struct event *e, int ms)
{
	struct rdma_cm_event *event;

	if (!wait_readable(dev.events->fd, ms))
		return EAGAIN;
	if (rdma_get_cm_event(dev.events, &event))
		return errno;
	copy(e, event);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		struct rdma_cm_id *id = event->id;

		e->conn = conn_add(id);
		rdma_ack_cm_event(event);
		if (e->conn >= 0)
			return 0;
		rdma_destroy_id(id);
		return ENOSPC;
	}
	rdma_ack_cm_event(event);
	return 0;
}

static void keep(const struct event *e)
{
	if (queued < QUEUE_MAX)
		queue[queued++] = *e;
}

int event_await(const struct rdma_cm_id *id, enum rdma_cm_event_type type, int ms)
{
	uint64_t now, end = clock_ms() + ms;
	int conn = conn_of_id(id);
	struct event e;

	while ((now = clock_ms()) < end) {
		int error = receive(&e, end - now);

		if (error)
			return error == EAGAIN ? ETIMEDOUT : error;
		if (e.conn != conn) {
			keep(&e);
			continue;
		}
		if (e.type == type)
			return 0;
		return e.status < 0 ? -e.status : EPROTO;
	}
	return ETIMEDOUT;
}

static void tell(struct call *c, const struct event *e)
{
	const char *name = rdma_event_str(e->type);
	static const char prefix[] = "RDMA_CM_EVENT_";

	if (!strncmp(name, prefix, sizeof(prefix) - 1))
		name += sizeof(prefix) - 1;
	say(c, "%s %d %d %d %d", name, e->conn, e->status, e->ird, e->ord);
	say_bytes(c, e->pd, e->pd_len);
}

int cmd_event(struct call *c)
{
	int ms = arg_number(c, CALL_MS_MAX);
	int error = arg_end(c) ?: dev_open();
	struct event e;

	if (error)
		return error;
	if (queued) {
		e = queue[0];
		memmove(queue, queue + 1, --queued * sizeof(*queue));
	} else {
		error = receive(&e, ms);
		if (error)
			return error == EAGAIN ? CALL_NONE : error;
	}
	tell(c, &e);
	return 0;
}

void event_forget(int conn)
{
	int i, kept = 0;

	for (i = 0; i < queued; i++)
		if (queue[i].conn != conn)
			queue[kept++] = queue[i];
	queued = kept;
}

/* ---- events of the device ------------------------------------------------------- */

#define NAME(x) [IBV_EVENT_##x] = #x

static const char *const async_names[] = {
	NAME(CQ_ERR), NAME(QP_FATAL), NAME(QP_REQ_ERR), NAME(QP_ACCESS_ERR),
	NAME(COMM_EST), NAME(SQ_DRAINED), NAME(SRQ_ERR), NAME(SRQ_LIMIT_REACHED),
	NAME(QP_LAST_WQE_REACHED),
};

/* Return: the number of the event's QP, -1 if a CQ or SRQ has it, -2 if no queue has */
static int async_conn(const struct ibv_async_event *e)
{
	switch (e->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return conn_of_qp(e->element.qp);
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return -1;
	default:
		return -2;
	}
}

/* Receive one event within @ms, which the caller acknowledges; Return: 0, EAGAIN or an
 * errno. */
static int receive_async(struct ibv_async_event *e, int ms)
{
	if (!wait_readable(dev.verbs->async_fd, ms))
		return EAGAIN;
	if (ibv_get_async_event(dev.verbs, e))
		return errno;
	if (e->event_type == IBV_EVENT_CQ_ERR)
		dev.spoilt = true;
	return 0;
}

int cmd_async(struct call *c)
{
	uint64_t end = clock_ms() + arg_number(c, CALL_MS_MAX);
	int error = arg_end(c);

	if (error || !dev.verbs)
		return error ?: ENODEV;
	do {
		struct ibv_async_event e;
		uint64_t now = clock_ms();
		int conn;

		error = receive_async(&e, now < end ? end - now : 0);
		if (error)
			return error == EAGAIN ? CALL_NONE : error;
		conn = async_conn(&e);
		if (conn > -2)
			say(c, "%s %d", async_names[e.event_type], conn);
		ibv_ack_async_event(&e);
	} while (!c->out_len);
	return 0;
}

void event_reset(void)
{
	struct ibv_async_event e;

	queued = 0;
	while (dev.verbs && !receive_async(&e, 0))
		ibv_ack_async_event(&e);
}
