// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues. */
#include "cq.h"

#include <rdma/uverbs_ioctl.h>

#include "core/ring.h"
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

/* how many nobody has polled; the index is the program's word */
static u32 unpolled(const struct tern_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	return cq->prod - READ_ONCE(cq->q.hdr->cons);
}

/* would a completion, a solicited one or any, raise the event now? */
static bool is_due(const struct tern_cq *cq, bool solicited)
{
	u32 arm;

	lockdep_assert_held(&cq->lock);
	/*
	 * The producer index before the arm word, as the program has the word
	 * before its last look at the index: one sees the other's store.
	 */
	smp_mb();
	arm = READ_ONCE(cq->q.hdr->flags);
	return arm != TERN_CQ_ARM_NONE &&
	       (arm != TERN_CQ_ARM_SOLICITED || solicited);
}

/* take the arm word: the event is raised, and one that was held back is it */
static void take_arm(struct tern_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	xchg(&cq->q.hdr->flags, TERN_CQ_ARM_NONE);
	cq->told = cq->prod;
	WRITE_ONCE(cq->q.hdr->event, cq->told);
	if (cq->held)
		hrtimer_try_to_cancel(&cq->hold_timer);
	cq->held = 0;
}

/* returns how many found room */
static u32 fill(struct tern_cq *cq, const struct tern_cqe *cqes, u32 n)
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
		if (is_solicited(&cqes[i]))
			cq->solicited = cq->prod + i + 1;
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

static void call_handler(struct tern_cq *cq)
{
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/*
 * The event is due for @n completions: may it wait for more? Not until the ring
 * is full: who sleeps for the event would lose some.
 */
static bool hold_event(struct tern_cq *cq, u32 n)
{
	lockdep_assert_held(&cq->lock);
	if (cq->held + n >= cq->hold_count || unpolled(cq) >= cq->q.size / 2)
		return false;
	if (!cq->held)
		hrtimer_start(&cq->hold_timer,
			      ns_to_ktime(cq->hold_us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	cq->held += n;
	return true;
}

void tern_cq_push(struct tern_cq *cq, const struct tern_cqe *cqes, u32 n)
{
	bool notify = false, first = false, full, tell;
	unsigned long flags;
	u32 solicited;

	spin_lock_irqsave(&cq->lock, flags);
	solicited = cq->solicited;
	full = cq->overflow || fill(cq, cqes, n) < n;
	if (full) {
		first = !cq->overflow;
		cq->overflow = true;
	}
	/*
	 * A program that sleeps has to find out, whatever it waits for, and when it
	 * arms the CQ after the overflow, too. Once: what is lost later is no
	 * completion that it could find.
	 */
	tell = full && !cq->overflow_told;
	if (full == tell &&
	    is_due(cq, cq->solicited != solicited || tell || cq->held))
		notify = tell || !hold_event(cq, n);
	if (notify) {
		cq->overflow_told |= tell;
		take_arm(cq);
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (notify)
		call_handler(cq);
	if (!full)
		return;
	tern_stat_inc(cq->stats, CQ_OVERFLOW);
	if (first)
		raise_overflow(cq);
	/* each time: a QP may have been made on this CQ since the first */
	queue_work(system_dfl_wq, &cq->overflow_work);
}

u32 tern_cq_polled(struct tern_cq *cq, u32 *backlog)
{
	unsigned long flags;
	u32 prod;

	/* the ring may be replaced */
	spin_lock_irqsave(&cq->lock, flags);
	prod = cq->prod;
	*backlog = unpolled(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	return prod - *backlog;
}

static void overflow_work(struct work_struct *work)
{
	struct tern_cq *cq = container_of(work, struct tern_cq, overflow_work);
	struct tern_device *dev = to_tern_dev(cq->ibcq.device);
	struct tern_qp *entry, *qp;
	unsigned long qpn;

	xa_for_each(&dev->qps, qpn, entry) {
		qp = tern_qp_find(dev, qpn);
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
	qp = xa_load(&to_tern_dev(cq->ibcq.device)->qps, cqe->qpn);
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
	if (ibcq->uobject)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	while (n < num_entries && cq->cons != cq->prod)
		n += poll_one(cq, &wc[n]);
	tern_ring_publish(&cq->q.hdr->cons, cq->cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/*
 * Completions that no event was raised for and that the program has not polled, one
 * of them fit for the event. What is polled is the program's word: if it lied, at
 * worst it is told of nothing. An event is memory of the core's until the program
 * fetches it, so there is never one without a completion that is new.
 */
static bool has_news(const struct tern_cq *cq)
{
	u32 level = min(unpolled(cq), cq->prod - cq->told);

	if (READ_ONCE(cq->q.hdr->flags) == TERN_CQ_ARM_NEXT)
		return level;
	return cq->prod - cq->solicited < level;
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
	if (ibcq->uobject && has_news(cq)) {
		take_arm(cq);
		notify = true;
	}
	spin_unlock_irqrestore(&cq->lock, irqflags);
	if (notify)
		call_handler(cq);
	return (flags & IB_CQ_REPORT_MISSED_EVENTS) && missed;
}

/* ---- moderation ----------------------------------------------------------- */

/* a held event waited long enough; where all was polled, nobody waits for it */
static enum hrtimer_restart hold_timer_fn(struct hrtimer *timer)
{
	struct tern_cq *cq = container_of(timer, struct tern_cq, hold_timer);
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&cq->lock, flags);
	notify = cq->held && is_due(cq, true) && has_news(cq);
	cq->held = 0;
	if (notify)
		take_arm(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		call_handler(cq);
	return HRTIMER_NORESTART;
}

/* an event that is held back just now keeps its timer */
int tern_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	bool off = !count || !period;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	WRITE_ONCE(cq->hold_count, off ? 0 : count);
	WRITE_ONCE(cq->hold_us, off ? 0 : period);
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
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

/* tell the program of @q, which is or becomes @cq's */
static int answer(const struct tern_cq *cq, const struct tern_queue *q,
		  struct ib_udata *udata)
{
	struct tern_uresp_create_cq resp = { .cqn = cq->cqn };

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	tern_queue_describe(q, &resp.ring);
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int tern_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct ib_ucontext *ctx = tern_udata_context(udata);
	struct tern_device *dev = to_tern_dev(ibcq->device);
	struct tern_cq *cq = to_tern_cq(ibcq);
	int ret;

	ret = check_init(ibcq, attr);
	if (ret)
		return ret;
	if (!atomic_add_unless(&dev->num_cq, 1, TERN_MAX_CQ))
		return -ENOMEM;
	cq->stats = dev->stats;
	cq->cqn = atomic_inc_return(&dev->next_cqn);
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	hrtimer_setup(&cq->hold_timer, hold_timer_fn, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	INIT_WORK(&cq->overflow_work, overflow_work);
	ret = tern_queue_create(&cq->q, ctx, attr->cqe,
				sizeof(struct tern_cqe));
	if (ret)
		goto err_count;
	ret = answer(cq, &cq->q, udata);
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

/*
 * No QP completes here any more: what may still look at the CQ is the work, and
 * the timer of an event that nobody will wait for.
 */
int tern_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct tern_cq *cq = to_tern_cq(ibcq);

	hrtimer_cancel(&cq->hold_timer);
	cancel_work_sync(&cq->overflow_work);
	tern_queue_retire(&cq->q, &cq->lock);
	mutex_destroy(&cq->resize_lock);
	atomic_dec(&to_tern_dev(ibcq->device)->num_cq);
	return 0;
}

/* ---- resize --------------------------------------------------------------- */

/* the @n entries before @end, oldest first: of too many the newest stay */
static void copy_entries(const struct tern_queue *to,
			 const struct tern_queue *from, u32 end, u32 n)
{
	u32 i;

	for (i = end - n; i != end; i++)
		memcpy(tern_queue_entry(to, i), tern_queue_entry(from, i),
		       sizeof(struct tern_cqe));
}

/*
 * Most entries are copied while completions come and are polled: they change no
 * more, but for those that are polled meanwhile, which nobody needs. Return: the
 * index before which that is done.
 */
static u32 copy_early(struct tern_cq *cq, const struct tern_queue *new)
{
	unsigned long flags;
	u32 end, n;

	lockdep_assert_held(&cq->resize_lock);
	spin_lock_irqsave(&cq->lock, flags);
	end = cq->prod;
	n = unpolled(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	copy_entries(new, &cq->q, end, min3(n, cq->q.size, new->size));
	return end;
}

/* copy what came behind @done, and change the rings; @new is then the old one */
static int switch_rings(struct tern_cq *cq, struct tern_queue *new, u32 done)
{
	struct tern_ring_hdr *from = cq->q.hdr, *to = new->hdr;
	u32 n = unpolled(cq);

	if (n > cq->q.size || n > new->size)
		return -EINVAL;
	copy_entries(new, &cq->q, cq->prod, min(n, cq->prod - done));
	to->prod = cq->prod;
	to->cons = cq->prod - n;
	to->flags = READ_ONCE(from->flags);
	to->event = cq->told;
	swap(cq->q, *new);
	cq->ibcq.cqe = cq->q.size;
	return 0;
}

/*
 * The indices go on where they are, so neither end notices but by the new
 * memory. A program is told of that before it is in use, and may neither poll
 * nor arm until it has mapped it.
 */
static int replace_ring(struct tern_cq *cq, struct tern_queue *new,
			struct ib_udata *udata)
{
	unsigned long flags;
	u32 done;
	int ret;

	ret = answer(cq, new, udata);
	if (ret)
		return ret;
	done = copy_early(cq, new);
	spin_lock_irqsave(&cq->lock, flags);
	ret = switch_rings(cq, new, done);
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}

int tern_resize_cq(struct ib_cq *ibcq, TERN_RESIZE_CQE cqe,
		   struct ib_udata *udata)
{
	struct ib_ucontext *ctx = tern_udata_context(udata);
	struct tern_cq *cq = to_tern_cq(ibcq);
	struct tern_queue other = {};
	int ret;

	/* of older kernels' signed type, negative ones are too large */
	if (!cqe || (u32)cqe > TERN_MAX_CQE)
		return -EINVAL;
	ret = tern_queue_create(&other, ctx, cqe, sizeof(struct tern_cqe));
	if (ret)
		return ret;
	mutex_lock(&cq->resize_lock);
	ret = replace_ring(cq, &other, udata);
	mutex_unlock(&cq->resize_lock);
	/* the old one; if it is still in use, the new one */
	tern_queue_destroy(&other);
	return ret;
}
