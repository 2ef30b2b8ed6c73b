// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "tx_sched.h"

#include <linux/workqueue.h>

#include "complete.h"
#include "qp.h"
#include "sock.h"

/* bursts sent before the socket lock is released to let received data in */
#define BURSTS_PER_LOCK	4

/*
 * Beside system_bh_wq, for what must be able to wait for a socket. Two queues
 * and two work items: one item must not be queued to a thread and to a BH queue
 * both.
 */
static struct workqueue_struct *wq;

int tern_tx_sched_init(void)
{
	/* NFS and NVMe write back through us under memory pressure */
	wq = alloc_workqueue("tern-tx", WQ_MEM_RECLAIM | WQ_HIGHPRI |
			     WQ_PERCPU, 0);
	return wq ? 0 : -ENOMEM;
}

void tern_tx_sched_exit(void)
{
	destroy_workqueue(wq);
}

static bool is_flushed(const struct tern_qp *qp)
{
	return qp->state == QP_TERMINATE || qp->state == QP_ERROR;
}

/* the stream lock is ours */
static enum tern_tx_result run_locked(struct tern_qp *qp)
{
	if (is_flushed(qp))
		tern_flush(qp);
	return tern_tx_run(qp, BURSTS_PER_LOCK);
}

void tern_tx_kick(struct tern_qp *qp)
{
	queue_work(system_bh_wq, &qp->bh_work);
}

void tern_tx_sched(struct tern_qp *qp, enum tern_tx_result result)
{
	if (result == TERN_TX_MORE)
		queue_work(system_bh_wq, &qp->bh_work);
	else if (result == TERN_TX_NOMEM)
		queue_delayed_work(wq, &qp->work, 1);
}

static void bh_work_fn(struct work_struct *work)
{
	struct tern_qp *qp = container_of(work, struct tern_qp, bh_work);
	/* pairs with the release in tern_qp_attach() */
	struct tern_sock *s = smp_load_acquire(&qp->sock);

	if (s && tern_sock_trylock_bh(s)) {
		tern_tx_sched(qp, run_locked(qp));
		tern_sock_unlock_bh(s);
		return;
	}
	/* a process has the socket, or there is none: one must wait for it */
	queue_delayed_work(wq, &qp->work, 0);
}

void tern_tx_run_here(struct tern_qp *qp)
{
	enum tern_tx_result result;

	do {
		tern_qp_lock(qp);
		result = run_locked(qp);
		tern_qp_unlock(qp);
		cond_resched();
	} while (result == TERN_TX_MORE);
	tern_tx_sched(qp, result);
}

static void work_fn(struct work_struct *work)
{
	tern_tx_run_here(container_of(to_delayed_work(work), struct tern_qp,
				      work));
}

void tern_tx_sched_init_qp(struct tern_qp *qp)
{
	INIT_WORK(&qp->bh_work, bh_work_fn);
	INIT_DELAYED_WORK(&qp->work, work_fn);
}

void tern_tx_sched_exit_qp(struct tern_qp *qp)
{
	/* either may queue the other: disabled, they stay off */
	disable_work_sync(&qp->bh_work);
	disable_delayed_work_sync(&qp->work);
}
