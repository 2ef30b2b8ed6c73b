// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The objects of a kernel user's connection, made and closed. */
#include <linux/nsproxy.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "near_kernel.h"

#define RESOLVE_MS	5000

/* ---- events ------------------------------------------------------------------------- */

static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct near *n = id->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (n->id)
			return -EBUSY;
		n->id = id;
	} else if (event->event == RDMA_CM_EVENT_ESTABLISHED) {
		WRITE_ONCE(n->connected, true);
	} else if (event->event != RDMA_CM_EVENT_ADDR_RESOLVED &&
		   event->event != RDMA_CM_EVENT_ROUTE_RESOLVED) {
		WRITE_ONCE(n->over, true);
	}
	n->event = event->event;
	WRITE_ONCE(n->ready, true);
	wake_up(&n->wait);
	return 0;
}

static int wait_for(struct near *n, enum rdma_cm_event_type want)
{
	int ret = wait_event_interruptible(n->wait, READ_ONCE(n->ready) || READ_ONCE(n->over));

	if (ret)
		return ret;
	WRITE_ONCE(n->ready, false);
	return n->event == want ? 0 : -ECONNREFUSED;
}

static void ends(struct near *n)
{
	WRITE_ONCE(n->over, true);
	wake_up(&n->wait);
}

static void async_event(struct ib_event *event, void *context)
{
	ends(context);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct near *n = container_of(wc->wr_cqe, struct near, cqe);

	if (wc->status) {
		ends(n);
		return;
	}
	atomic_inc(&n->good);
	if (n->state->next && !READ_ONCE(n->stop))
		n->state->next(n, wc);
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct near *n = container_of(wc->wr_cqe, struct near, recv_cqe);

	if (wc->status)
		ends(n);
	else if (n->state->next_recv && !READ_ONCE(n->stop))
		n->state->next_recv(n);
}

/* ---- objects ------------------------------------------------------------------------ */

static int make_buffer(struct near *n)
{
	struct ib_device *dev = n->id->device;

	n->buf = kzalloc(NEAR_LEN, GFP_KERNEL);
	if (!n->buf)
		return -ENOMEM;
	n->dma = ib_dma_map_single(dev, n->buf, NEAR_LEN, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(dev, n->dma))
		return 0;
	kfree(n->buf);
	n->buf = NULL;
	return -ENOMEM;
}

static int make_mr(struct near *n)
{
	int i;

	n->mr = ib_alloc_mr(n->pd, IB_MR_TYPE_MEM_REG, NEAR_MR_PAGES);
	if (IS_ERR(n->mr)) {
		int ret = PTR_ERR(n->mr);

		n->mr = NULL;
		return ret;
	}
	n->sg = kcalloc(NEAR_MR_PAGES, sizeof(*n->sg), GFP_KERNEL);
	if (!n->sg)
		return -ENOMEM;
	sg_init_table(n->sg, NEAR_MR_PAGES);
	/* one page in each place: only the number matters */
	for (i = 0; i < NEAR_MR_PAGES; i++)
		sg_set_page(&n->sg[i], virt_to_page(n->buf), PAGE_SIZE, 0);
	if (ib_dma_map_sg(n->id->device, n->sg, NEAR_MR_PAGES, DMA_BIDIRECTIONAL) !=
	    NEAR_MR_PAGES) {
		kfree(n->sg);
		n->sg = NULL;
		return -ENOMEM;
	}
	return ib_map_mr_sg(n->mr, n->sg, NEAR_MR_PAGES, NULL, PAGE_SIZE) ==
	       NEAR_MR_PAGES ? 0 : -EINVAL;
}

static int make_srq(struct near *n)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = NEAR_DEPTH, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_srq *srq;

	if (!n->state->srq)
		return 0;
	srq = ib_create_srq(n->pd, &attr);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	n->srq = srq;
	return 0;
}

static int make_qp(struct near *n)
{
	struct ib_qp_init_attr attr = {
		.event_handler = async_event,
		.qp_context = n,
		.send_cq = n->cq,
		.recv_cq = n->cq,
		.srq = n->srq,
		.cap = {
			/* ib_drain_qp() posts one more to each queue */
			.max_send_wr = NEAR_DEPTH + 1,
			.max_recv_wr = n->srq ? 0 : NEAR_DEPTH + 1,
			.max_send_sge = 1,
			.max_recv_sge = n->srq ? 0 : 1,
		},
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_RC,
	};
	int ret = rdma_create_qp(n->id, n->pd, &attr);

	if (!ret)
		n->qp = n->id->qp;
	return ret;
}

static int make_objects(struct near *n)
{
	bool direct = n->state->direct;
	struct ib_pd *pd = ib_alloc_pd(n->id->device, 0);
	struct ib_cq *cq;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	n->pd = pd;
	cq = ib_alloc_cq(n->id->device, n, direct ? NEAR_TOKENS : 3 * NEAR_DEPTH, 0,
			 direct ? IB_POLL_DIRECT : IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	n->cq = cq;
	n->cqe.done = send_done;
	n->recv_cqe.done = recv_done;
	return make_buffer(n) ?: make_mr(n) ?: make_srq(n) ?: make_qp(n);
}

/* ---- connecting ---------------------------------------------------------------------- */

static struct rdma_cm_id *new_id(struct near *n)
{
	return rdma_create_id(current->nsproxy->net_ns, cm_handler, n, RDMA_PS_TCP, IB_QPT_RC);
}

static int open_initiator(struct near *n, const struct sockaddr_storage *addr)
{
	struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
	struct rdma_cm_id *id = new_id(n);
	struct sockaddr_storage to = *addr;
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	n->id = id;
	ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, RESOLVE_MS) ?:
	      wait_for(n, RDMA_CM_EVENT_ADDR_RESOLVED) ?:
	      rdma_resolve_route(id, RESOLVE_MS) ?:
	      wait_for(n, RDMA_CM_EVENT_ROUTE_RESOLVED) ?: make_objects(n) ?:
	      rdma_connect(id, &param);
	if (ret || !n->state->open)
		return ret;
	return wait_for(n, RDMA_CM_EVENT_ESTABLISHED) ?:
	       (n->state->enter ? n->state->enter(n) : 0);
}

static int accept(struct near *n)
{
	struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
	int ret;

	if (!n->state->accept)
		return 0;
	rdma_lock_handler(n->id);
	ret = rdma_accept(n->id, &param);
	rdma_unlock_handler(n->id);
	return ret;
}

static int open_responder(struct near *n, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage at = *addr;
	struct rdma_cm_id *door = new_id(n);
	int ret;

	if (IS_ERR(door))
		return PTR_ERR(door);
	n->door = door;
	ret = rdma_bind_addr(door, (struct sockaddr *)&at) ?: rdma_listen(door, 4);
	if (ret)
		return ret;
	near_say("listening");
	return wait_for(n, RDMA_CM_EVENT_CONNECT_REQUEST) ?: make_objects(n) ?: accept(n);
}

int near_open(struct near *n, const struct sockaddr_storage *addr)
{
	return n->state->listen ? open_responder(n, addr) : open_initiator(n, addr);
}

/* ---- closing ------------------------------------------------------------------------- */

/*
 * A user that overflows its CQ, or does not poll it, cannot drain. Before the connection is
 * up rdma_disconnect() would wait for that in iw_cm; the end of the QP ends the startup.
 */
static void close_qp(struct near *n, bool drain)
{
	if (!n->qp)
		return;
	if (drain && READ_ONCE(n->connected))
		rdma_disconnect(n->id);
	if (drain && !n->state->direct)
		ib_drain_qp(n->qp);
	rdma_destroy_qp(n->id);
	n->qp = NULL;
}

static void close_mr(struct near *n)
{
	if (n->mr)
		ib_dereg_mr(n->mr);
	n->mr = NULL;
}

static void free_memory(struct near *n)
{
	struct ib_device *dev = n->id->device;

	if (n->sg)
		ib_dma_unmap_sg(dev, n->sg, NEAR_MR_PAGES, DMA_BIDIRECTIONAL);
	if (n->buf)
		ib_dma_unmap_single(dev, n->dma, NEAR_LEN, DMA_BIDIRECTIONAL);
	kfree(n->sg);
	kfree(n->buf);
}

/* destroy the id last: after that rdma_cm lets the device be removed */
void near_close(struct near *n, const char *first)
{
	WRITE_ONCE(n->stop, true);
	if (!strcmp(first, "mr"))
		close_mr(n);
	close_qp(n, strcmp(first, "qp"));
	if (n->srq)
		ib_destroy_srq(n->srq);
	if (n->cq)
		ib_free_cq(n->cq);
	close_mr(n);
	if (n->id)
		free_memory(n);
	if (n->pd)
		ib_dealloc_pd(n->pd);
	if (n->id)
		rdma_destroy_id(n->id);
	if (n->door)
		rdma_destroy_id(n->door);
}
