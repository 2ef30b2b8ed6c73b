// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues. */
#include <rdma/uverbs_ioctl.h>

#include "core/ring.h"
#include "cq.h"
#include "device.h"
#include "qp.h"
#include "trace.h"
#include "ucontext.h"

/* ---- completions in ----------------------------------------------------- */

static bool is_solicited(const struct tern_cqe *cqe)
{
	return (cqe->flags & TERN_CQE_SOLICITED) ||
	       cqe->status != IB_WC_SUCCESS;
}

/* take the arm word if this batch raises the event */
static bool take_arm(struct tern_cq *cq, bool solicited)
{
	u32 *word = &cq->q.hdr->flags;
	u32 arm;

	lockdep_assert_held(&cq->lock);
	/*
	 * The producer index before the arm word, as the program has the word
	 * before its last look at the index: one sees the other's store.
	 */
	smp_mb();
	arm = READ_ONCE(*word);
	if (arm == TERN_CQ_ARM_NONE ||
	    (arm == TERN_CQ_ARM_SOLICITED && !solicited))
		return false;
	xchg(word, TERN_CQ_ARM_NONE);
	WRITE_ONCE(cq->q.hdr->event, cq->prod);
	return true;
}

/* returns how many found room; @solicited tells whether one of them was so */
static u32 fill(struct tern_cq *cq, const struct tern_cqe *cqes, u32 n,
		bool *solicited)
{
	u64 now = cq->timestamps ? ktime_get_ns() : 0;
	struct tern_cqe *slot;
	int space;
	u32 i;

	lockdep_assert_held(&cq->lock);
	space = tern_ring_space(cq->prod, &cq->q.hdr->cons, cq->q.size);
	n = min_t(u32, n, max(space, 0));
	for (i = 0; i < n; i++) {
		slot = tern_queue_entry(&cq->q, cq->prod + i);
		*slot = cqes[i];
		slot->timestamp = now;
		*solicited |= is_solicited(&cqes[i]);
		trace_tern_cqe(cq->cqn, cqes[i].qpn, cqes[i].opcode,
			       cqes[i].status, cqes[i].byte_len);
	}
	cq->prod += n;
	tern_ring_publish(&cq->q.hdr->prod, cq->prod);
	return n;
}

static void raise_overflow(struct tern_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

void tern_cq_push(struct tern_cq *cq, const struct tern_cqe *cqes, u32 n)
{
	bool solicited = false, notify = false, first = false, full;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	full = cq->overflow || fill(cq, cqes, n, &solicited) < n;
	if (full) {
		first = !cq->overflow;
		cq->overflow = true;
	}
	/* a program that sleeps has to find out, whatever it waits for */
	notify = take_arm(cq, solicited || full);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (notify && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (!full)
		return;
	tern_stat_inc(cq->dev, CQ_OVERFLOW);
	if (first)
		raise_overflow(cq);
	/* each time: a QP may have been made on this CQ since the first */
	queue_work(system_dfl_wq, &cq->overflow_work);
}

static void overflow_work(struct work_struct *work)
{
	struct tern_cq *cq = container_of(work, struct tern_cq, overflow_work);
	struct tern_qp *entry, *qp;
	unsigned long qpn;

	xa_for_each(&cq->dev->qps, qpn, entry) {
		qp = tern_qp_find(cq->dev, qpn);
		if (!qp)
			continue;
		if (qp->scq == cq || qp->rcq == cq)
			tern_qp_fatal(qp);
		tern_qp_put(qp);
	}
}

/* ---- completions out: kernel users -------------------------------------- */

static const enum ib_wc_opcode wc_opcodes[] = {
	[TERN_WR_SEND] = IB_WC_SEND,
	[TERN_WR_SEND_WITH_INV] = IB_WC_SEND,
	[TERN_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[TERN_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[TERN_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[TERN_WR_REG_MR] = IB_WC_REG_MR,
	[TERN_WR_READ_WITH_INV] = IB_WC_RDMA_READ,
	[TERN_WR_RECV] = IB_WC_RECV,
};

static void fill_wc(const struct tern_cqe *cqe, struct ib_qp *ibqp,
		    struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = wc_opcodes[cqe->opcode];
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = ibqp;
	wc->port_num = 1;
	if (cqe->flags & TERN_CQE_WITH_INV) {
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->inv_stag;
	}
}

/* the completions of a QP that is destroyed are gone with it */
static bool poll_one(struct tern_cq *cq, struct ib_wc *wc)
{
	const struct tern_cqe *cqe = tern_queue_entry(&cq->q, cq->cons++);
	struct tern_qp *qp;

	lockdep_assert_held(&cq->lock);
	rcu_read_lock();
	qp = xa_load(&cq->dev->qps, cqe->qpn);
	if (qp)
		fill_wc(cqe, &qp->ibqp, wc);
	rcu_read_unlock();
	return qp;
}

int tern_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	unsigned long flags;
	int n = 0;

	/* a program polls by itself */
	if (cq->q.mmap_entry)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	while (n < num_entries && cq->cons != cq->prod)
		n += poll_one(cq, &wc[n]);
	tern_ring_publish(&cq->q.hdr->cons, cq->cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/*
 * Completions that a program has not polled, one of them fit for the event. The
 * consumer index is the program's word: at worst it is told of nothing.
 */
static bool has_unpolled(const struct tern_cq *cq)
{
	u32 level = cq->prod - READ_ONCE(cq->q.hdr->cons);
	u32 i;

	lockdep_assert_held(&cq->lock);
	if (READ_ONCE(cq->q.hdr->flags) == TERN_CQ_ARM_NEXT)
		return level;
	for (i = 1; i <= min(level, cq->q.size); i++)
		if (is_solicited(tern_queue_entry(&cq->q, cq->prod - i)))
			return true;
	return false;
}

int tern_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	u32 arm = TERN_CQ_ARM_SOLICITED;
	bool missed, notify = false;
	unsigned long irqflags;

	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		arm = TERN_CQ_ARM_NEXT;
	spin_lock_irqsave(&cq->lock, irqflags);
	if (READ_ONCE(cq->q.hdr->flags) < arm)
		xchg(&cq->q.hdr->flags, arm);
	missed = READ_ONCE(cq->q.hdr->cons) != cq->prod;
	/* enum tern_cq_arm: a program calls to be told of what is there */
	if (cq->q.mmap_entry && has_unpolled(cq))
		notify = take_arm(cq, true);
	spin_unlock_irqrestore(&cq->lock, irqflags);
	if (notify && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	return (flags & IB_CQ_REPORT_MISSED_EVENTS) && missed;
}

/* ---- life ---------------------------------------------------------------- */

static int check_init(const struct ib_cq *ibcq,
		      const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > TERN_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	return 0;
}

static int answer_create(struct tern_cq *cq, struct ib_udata *udata)
{
	struct tern_uresp_create_cq resp = { .cqn = cq->cqn };

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	tern_queue_describe(&cq->q, &resp.ring);
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int tern_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct tern_ucontext *uctx = rdma_udata_to_drv_context(udata,
						struct tern_ucontext, ibctx);
	struct tern_device *dev = to_tern_dev(ibcq->device);
	struct tern_cq *cq = to_tern_cq(ibcq);
	int ret;

	ret = check_init(ibcq, attr);
	if (ret)
		return ret;
	if (!atomic_add_unless(&dev->num_cq, 1, TERN_MAX_CQ))
		return -ENOMEM;
	cq->dev = dev;
	cq->cqn = atomic_inc_return(&dev->next_cqn);
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	spin_lock_init(&cq->lock);
	INIT_WORK(&cq->overflow_work, overflow_work);
	ret = tern_queue_create(&cq->q, uctx, attr->cqe,
				sizeof(struct tern_cqe));
	if (ret)
		goto err_count;
	ret = answer_create(cq, udata);
	if (ret)
		goto err_queue;
	ibcq->cqe = cq->q.size;
	return 0;

err_queue:
	tern_queue_destroy(&cq->q);
err_count:
	atomic_dec(&dev->num_cq);
	return ret;
}

/* no QP completes here any more; only the work may still look at the CQ */
int tern_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct tern_cq *cq = to_tern_cq(ibcq);

	cancel_work_sync(&cq->overflow_work);
	tern_queue_destroy(&cq->q);
	atomic_dec(&cq->dev->num_cq);
	return 0;
}
