// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Connection endpoints (RFC 5044 7.1 and 7.2): references, work, states.
 *
 * Everything that happens to an endpoint becomes an event, and events are
 * stepped one at a time under its lock: by its work, or directly by iw_cm's
 * calls, by the listener that accepts it, and by aborts. Callbacks from softirq
 * or under the socket lock, the stream's among them, only note an event under
 * @event_lock.
 */
#include "cep.h"

#include <linux/bitops.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/iw_cm.h>

#include "device/device.h"
#include "device/options.h"
#include "observe/trace.h"
#include "stream/state.h"
#include "stream/stream.h"
#include "stream/table.h"
#include "cep_timer.h"
#include "ceps.h"
#include "conn.h"
#include "event.h"
#include "listen.h"
#include "startup.h"

struct workqueue_struct *tern_cep_wq;

/* ---- lifetime ----------------------------------------------------------- */

static void free_cep(struct kref *ref)
{
	struct tern_cep *cep = container_of(ref, struct tern_cep, ref);

	mutex_destroy(&cep->lock);
	kfree(cep->pd);
	kfree(cep->frame);
	kfree(cep);
}

void tern_cep_get(struct tern_cep *cep)
{
	kref_get(&cep->ref);
}

void tern_cep_put(struct tern_cep *cep)
{
	kref_put(&cep->ref, free_cep);
}

static void set_options(struct tern_cep *cep)
{
	struct tern_mpa_options *opt = &cep->opt;

	*opt = cep->settings.mpa;
	opt->enhanced &= opt->rev == 2;
	opt->ird = TERN_MAX_RD_ATOM;
	opt->ord = TERN_MAX_RD_ATOM;
	opt->max_ird = TERN_MAX_RD_ATOM;
}

/* a responder's QP is known only at accept: check the Request again */
static int apply_options(struct tern_cep *cep)
{
	int rc = tern_options_apply(&cep->stream->setup.options, &cep->settings);

	if (rc)
		return rc;
	set_options(cep);
	if (cep->state == CM_ULP_WAIT &&
	    tern_mpa_gate_request(&cep->opt, &cep->request) != TERN_MPA_GO)
		return -EPFNOSUPPORT;
	return 0;
}

/* the options do not change while the QP is bound */
int tern_cep_take_options(struct tern_cep *cep)
{
	const struct tern_settings device = cep->settings;
	int rc;

	lockdep_assert_held(&cep->lock);
	rc = apply_options(cep);
	if (rc) {
		cep->settings = device;
		set_options(cep);
	}
	return rc;
}

static void work_fn(struct work_struct *work);
static const struct tern_stream_user_ops user_ops;

struct tern_cep *tern_cep_create(struct tern_device *dev, struct net *net)
{
	struct tern_cep *cep = kzalloc_obj(*cep, GFP_KERNEL_ACCOUNT);
	int rc;

	if (!cep)
		return ERR_PTR(-ENOMEM);
	cep->frame = kmalloc(TERN_MPA_FRAME_MAX, GFP_KERNEL_ACCOUNT);
	if (!cep->frame) {
		kfree(cep);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&cep->ref);
	cep->user.ops = &user_ops;
	cep->dev = dev;
	cep->net = net;
	cep->net_cookie = net->net_cookie;
	cep->began = ktime_get_boottime();
	mutex_init(&cep->lock);
	spin_lock_init(&cep->event_lock);
	INIT_LIST_HEAD(&cep->listen_node);
	tern_crowd_join(cep);
	INIT_WORK(&cep->work, work_fn);
	tern_cep_timer_init(cep);
	cep->terms = TERN_NO_TERMS;
	tern_settings_get(&dev->settings, &cep->settings);
	set_options(cep);
	/* an abort that finds the endpoint waits for its first step */
	mutex_lock(&cep->lock);
	rc = tern_ceps_add(cep);
	if (!rc)
		return cep;
	mutex_unlock(&cep->lock);
	tern_cep_put(cep);
	return ERR_PTR(rc);
}

/* once the endpoint is unlisted, the device and the netns may go */
void tern_cep_drop(struct tern_cep *cep)
{
	struct tern_sock *sock = cep->sock;

	lockdep_assert_held(&cep->lock);
	if (cep->state != CM_IDLE)
		tern_conn_remember(cep);
	cep->sock = NULL;
	if (sock) {
		tern_sock_release(sock);
		tern_sock_put(sock);
	}
	tern_ceps_remove(cep);
	tern_cep_put(cep);
}

/* ---- events ------------------------------------------------------------- */

/* run the work, which also checks the socket */
static void queue_cep_work(struct tern_cep *cep)
{
	tern_cep_get(cep);
	if (!queue_work(tern_cep_wq, &cep->work))
		tern_cep_put(cep);
}

void tern_cep_post(struct tern_cep *cep, enum tern_cm_event event)
{
	spin_lock_bh(&cep->event_lock);
	cep->events |= BIT(event);
	spin_unlock_bh(&cep->event_lock);
	queue_cep_work(cep);
}

void tern_cep_decline(struct tern_cep *cep)
{
	WRITE_ONCE(cep->declined, true);
	queue_cep_work(cep);
}

static struct tern_cep *cep_of(struct tern_stream_user *user)
{
	return container_of(user, struct tern_cep, user);
}

static void user_get(struct tern_stream_user *user)
{
	tern_cep_get(cep_of(user));
}

static void user_put(struct tern_stream_user *user)
{
	tern_cep_put(cep_of(user));
}

static void user_event(struct tern_stream_user *user,
		       enum tern_stream_event event,
		       const struct tern_stream_terms *terms)
{
	struct tern_cep *cep = cep_of(user);

	static_assert(CM_EV_STREAM_CLOSING - CM_EV_STREAM_OPEN ==
		      TERN_STREAM_CLOSING);
	static_assert(CM_EV_STREAM_FAILED - CM_EV_STREAM_OPEN ==
		      TERN_STREAM_FAILED);

	spin_lock_bh(&cep->event_lock);
	cep->events |= BIT(CM_EV_STREAM_OPEN + event);
	cep->terms = *terms;
	spin_unlock_bh(&cep->event_lock);
	queue_cep_work(cep);
}

struct tern_stream_terms tern_cep_terms(struct tern_cep *cep)
{
	struct tern_stream_terms terms;

	spin_lock_bh(&cep->event_lock);
	terms = cep->terms;
	spin_unlock_bh(&cep->event_lock);
	return terms;
}

static u32 take_events(struct tern_cep *cep)
{
	u32 events;

	spin_lock_bh(&cep->event_lock);
	events = cep->events;
	cep->events = 0;
	spin_unlock_bh(&cep->event_lock);
	return events;
}

/* in the order of enum tern_cm_event: STREAM_OPEN comes before what waits for it */
static void step_all(struct tern_cep *cep, unsigned long events)
{
	unsigned int event;

	for_each_set_bit(event, &events, CM_EVENT_COUNT) {
		if (tern_cm_defers(cep->state, event))
			cep->deferred |= BIT(event);
		else if (!tern_cep_too_early(cep, event))
			tern_cep_step(cep, event);
	}
}

/* a disk or a file system may wait for this connection, see tern_sock_lock() */
static unsigned int reclaim_scope(const struct tern_cep *cep)
{
	return cep->stream && cep->stream->ctx ? PF_MEMALLOC_NOFS : PF_MEMALLOC_NOIO;
}

static void work_fn(struct work_struct *work)
{
	struct tern_cep *cep = container_of(work, struct tern_cep, work);
	unsigned int scope;
	u32 deferred;

	mutex_lock(&cep->lock);
	scope = memalloc_flags_save(reclaim_scope(cep));
	do {
		deferred = cep->deferred;
		cep->deferred = 0;
		step_all(cep, deferred | take_events(cep));
		/* events of now; later ones queue the work again */
	} while (tern_startup_look(cep) || data_race(READ_ONCE(cep->events)));
	memalloc_flags_restore(scope);
	mutex_unlock(&cep->lock);
	tern_cep_put(cep);
}

/* ---- actions, in the order of CM_ACT_* ---------------------------------- */

static void cep_data_ready(void *owner)
{
	queue_cep_work(owner);
}

static const struct tern_sock_ops cep_sock_ops = {
	.data_ready = cep_data_ready,
	.write_space = cep_data_ready,
	.state_change = cep_data_ready,
};

void tern_cep_own_sock(struct tern_cep *cep)
{
	tern_sock_set_owner(cep->sock, &cep_sock_ops, cep);
}

static void send_fin(struct tern_cep *cep)
{
	tern_sock_lock(cep->sock);
	tern_sock_shutdown_locked(cep->sock);
	tern_sock_unlock(cep->sock);
	queue_cep_work(cep);
}

static void put_stream(struct tern_cep *cep)
{
	cep->rtr = READ_ONCE(cep->stream->rx.rtr);
	cep->decided = tern_stream_features(cep->stream, &cep->features);
	/* a Terminate is counted after the event that it ends the stream with */
	tern_stream_lock(cep->stream);
	cep->messages = tern_stream_messages(cep->stream);
	tern_stream_unlock(cep->stream);
	tern_stream_put(cep->stream);
	cep->stream = NULL;
}

static void unbind_stream(struct tern_cep *cep)
{
	tern_stream_unbind(cep->stream, &cep->user);
	put_stream(cep);
}

/* the stream's last event follows */
static void abort_stream(struct tern_cep *cep)
{
	tern_stream_close(cep->stream, true);
}

/* the startup is over, and the program has the peer's private data */
static void free_frames(struct tern_cep *cep)
{
	cep->request.pd = NULL;
	cep->reply.pd = NULL;
	kfree(cep->pd);
	cep->pd = NULL;
	kfree(cep->frame);
	cep->frame = NULL;
}

static void reply_ok(struct tern_cep *cep)
{
	tern_stat_inc(cep->dev->stats, CM_ESTABLISHED);
	tern_event_reply(cep, 0);
	free_frames(cep);
}

static void reply_err(struct tern_cep *cep)
{
	tern_event_reply(cep, cep->status);
}

static void established_ok(struct tern_cep *cep)
{
	tern_stat_inc(cep->dev->stats, CM_ESTABLISHED);
	tern_event_established(cep, 0);
	free_frames(cep);
}

static void established_err(struct tern_cep *cep)
{
	tern_event_established(cep, cep->status);
}

/* no event follows: release the id */
static void put_id(struct tern_cep *cep)
{
	struct iw_cm_id *id = cep->id;

	cep->id = NULL;
	id->rem_ref(id);
	tern_cep_unwatch_program(cep);
}

static void reset_socket(struct tern_cep *cep)
{
	if (!cep->sock)
		return;
	tern_stat_inc(cep->dev->stats, CM_ABORT);
	tern_sock_abort(cep->sock);
}

static void (*const actions[])(struct tern_cep *cep) = {
	tern_cep_own_sock,
	tern_startup_deny,
	send_fin,
	unbind_stream,
	abort_stream,
	reply_ok,
	reply_err,
	established_ok,
	established_err,
	tern_event_disconnect,
	tern_event_close,
	put_id,
	put_stream,
	reset_socket,
	tern_cep_drop,
};

/*
 * TCP timed out (retransmission, keepalive), or the peer reset the connection
 */
static int broken_status(const struct tern_cep *cep)
{
	if (cep->sock && tern_sock_error(cep->sock) == -ETIMEDOUT)
		return -ETIMEDOUT;
	return -ECONNRESET;
}

/* Return: 0 if the stream ended without an error after the RTR, else the cause */
static int stream_status(struct tern_cep *cep, bool broke)
{
	struct tern_stream_terms terms = tern_cep_terms(cep);

	if (terms.received != TERN_TERM_NONE)
		return -EREMOTEIO;
	if (terms.found != TERN_TERM_NONE)
		return -EPROTO;
	return broke || cep->state == CM_RTR_WAIT ? broken_status(cep) : 0;
}

static int status_of(struct tern_cep *cep, enum tern_cm_event event)
{
	switch (event) {
	case CM_EV_REJECTED:
		return -ECONNREFUSED;
	case CM_EV_TIMER:
		return -ETIMEDOUT;
	case CM_EV_BAD:
		return -EPROTO;
	case CM_EV_REFUSED:
		return -EPROTONOSUPPORT;
	case CM_EV_CROWDED:
		return -EUSERS;
	case CM_EV_UNHEARD:
	case CM_EV_ABORT:
		return -ECONNABORTED;
	case CM_EV_FIN:
		return -ECONNRESET;
	case CM_EV_RESET:
		return broken_status(cep);
	case CM_EV_STREAM_FINISHED:
	case CM_EV_STREAM_FAILED:
		return stream_status(cep, event == CM_EV_STREAM_FAILED);
	default:
		return 0;
	}
}

/* keep the first cause; events in LINGER are no cause */
static void note_status(struct tern_cep *cep, enum tern_cm_event event)
{
	if (!cep->status && cep->state != CM_LINGER)
		cep->status = status_of(cep, event);
}

/* true if the step ends the connection for its users */
static bool ends_connection(enum tern_cm_state from, enum tern_cm_state to)
{
	return from != CM_LINGER && (to == CM_LINGER || to == CM_CLOSED);
}

static void tell_users(struct tern_cep *cep, enum tern_cm_state from)
{
	if (cep->state == CM_OPEN && from != CM_OPEN)
		tern_conn_tell(cep, TERN_CONN_START);
	if (!ends_connection(from, cep->state))
		return;
	tern_conn_tell(cep, TERN_CONN_END);
	if (cep->status)
		tern_conn_tell(cep, TERN_CONN_ERROR);
}

static bool is_passive_startup(enum tern_cm_state state)
{
	return state == CM_REQUEST_WAIT || state == CM_ULP_WAIT;
}

static enum tern_crowd_kind crowd_kind(enum tern_cm_state from,
				       enum tern_cm_state to)
{
	switch (to) {
	case CM_REQUEST_WAIT:
		return TERN_CROWD_QUIET;
	case CM_ULP_WAIT:
		return TERN_CROWD_ASKED;
	case CM_LINGER:
		return from == CM_OPEN || from == CM_CLOSING ||
		       from == CM_RTR_WAIT ? TERN_CROWD_TAIL : TERN_CROWD_QUIET;
	default:
		return TERN_CROWD_NONE;
	}
}

static void count_crowded(struct tern_cep *cep)
{
	tern_stat_inc(cep->dev->stats, CM_HALF_OPEN);
	if (cep->state == CM_LINGER)
		tern_cep_count_close(cep);
}

void tern_cep_step(struct tern_cep *cep, enum tern_cm_event event)
{
	enum tern_cm_state from = cep->state;
	struct tern_cm_step step = tern_cm_fsm(from, event);
	unsigned long todo = step.actions;
	unsigned int i;

	static_assert(BIT(ARRAY_SIZE(actions) - 1) == CM_ACT_DROP);
	lockdep_assert_held(&cep->lock);
	if (!step.valid)
		return;
	trace_tern_cm_state(cep->nr, tern_cm_state_name(from),
			    tern_cm_state_name(step.next),
			    tern_cm_event_name(event));
	if (event == CM_EV_TIMER)
		tern_stat_inc(cep->dev->stats, CM_TIMEOUT);
	if (event == CM_EV_CROWDED)
		count_crowded(cep);
	note_status(cep, event);
	WRITE_ONCE(cep->state, step.next);
	tell_users(cep, from);
	tern_cep_set_timer(cep, step.timer);
	if (from == CM_ULP_WAIT)
		tern_event_forget(cep);
	if (cep->listen && !is_passive_startup(step.next))
		tern_listen_leave(cep);
	/* tern_crowd_let_in() counts a new one, which may be evicted by now */
	if (from != CM_IDLE)
		tern_crowd_move(cep, crowd_kind(from, step.next));
	for_each_set_bit(i, &todo, ARRAY_SIZE(actions))
		actions[i](cep);
}

/* ---- aborts ------------------------------------------------------------- */

static void user_abort(struct tern_stream_user *user, struct tern_stream *s)
{
	struct tern_cep *cep = cep_of(user);

	mutex_lock(&cep->lock);
	if (cep->stream == s)
		tern_cep_step(cep, CM_EV_ABORT);
	mutex_unlock(&cep->lock);
}

static const struct tern_stream_user_ops user_ops = {
	.get = user_get,
	.put = user_put,
	.event = user_event,
	.abort = user_abort,
};

void tern_cep_crowd_out(struct tern_cep *cep)
{
	mutex_lock(&cep->lock);
	tern_startup_look_on(cep);
	/* if the Request arrived, the program answers it */
	if (cep->state != CM_ULP_WAIT)
		tern_cep_step(cep, CM_EV_CROWDED);
	mutex_unlock(&cep->lock);
}

/* ---- module ------------------------------------------------------------- */

int tern_cep_init(void)
{
	tern_cep_wq = alloc_workqueue("tern_cep", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return tern_cep_wq ? 0 : -ENOMEM;
}

void tern_cep_exit(void)
{
	destroy_workqueue(tern_cep_wq);
}
