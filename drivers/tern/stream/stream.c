// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * How a stream starts and ends, and the callbacks of its socket (RFC 5040 6, RFC
 * 5044 7).
 */
#include "stream.h"

#include "charge.h"
#include "sock.h"
#include "sock_open.h"
#include "state.h"

/* ---- callbacks of the socket -------------------------------------------- */

static void stream_data_ready(void *owner)
{
	struct tern_stream *s = owner;

	/* a worker takes what is left, and this: the same softirq may come here for many packets */
	if (s->rx.more)
		return;
	tern_rx_run(s);
	if (!s->rx.reply)
		return;
	s->rx.reply = false;
	/* reply at once */
	tern_tx_reply(s);
}

static void stream_write_space(void *owner)
{
	tern_stream_kick(owner);
}

static void stream_state_change(void *owner)
{
	struct tern_stream *s = owner;

	stream_data_ready(s);
	tern_stream_step_if_dead(s);
}

static const struct tern_sock_ops stream_ops = {
	.data_ready = stream_data_ready,
	.write_space = stream_write_space,
	.state_change = stream_state_change,
};

/* ---- start and end ------------------------------------------------------ */

void tern_stream_init(struct tern_stream *s)
{
	kref_init(&s->ref);
	spin_lock_init(&s->lock);
	s->state = QP_IDLE;
	s->terms = TERN_NO_TERMS;
	s->tx.term_code = TERN_TERM_NONE;
	tern_setup_init(&s->setup);
	tern_tx_sched_setup(s);
}

void tern_stream_exit(struct tern_stream *s)
{
	tern_setup_exit(&s->setup);
	if (s->sock)
		tern_sock_put(s->sock);
	tern_readq_exit(&s->readq);
}

static int create_readq(struct tern_sock *sock,
			const struct tern_mpa_params *params,
			const struct tern_agree_options *agree,
			struct tern_readq *readq)
{
	/* a worker may run this: charge the cgroup of the program's socket */
	struct mem_cgroup *old = tern_sock_charge(sock);
	bool atomics = params->version && agree->extensions != TERN_EXTENSIONS_OFF;
	int ret = tern_readq_init(readq, params->ird, params->ord, atomics);

	tern_charge_end(old);
	return ret;
}

static void init_engines(struct tern_stream *s, struct tern_sock *sock,
			 const struct tern_mpa_params *params,
			 const struct tern_agree_options *agree)
{
	s->params = *params;
	tern_agree_init(s, agree);
	tern_tx_init(s, tern_sock_mss_locked(sock));
	tern_rx_init(s);
}

/*
 * Both locks are held while the stream lock changes from one to the other, and the
 * socket lock until the callbacks come to the stream, see tern_stream_attach().
 * tern_destroy_qp() ends the stream under this lock: if that comes first, this fails;
 * if it comes later, its tern_stream_detach() sees the socket. Either way no callback
 * comes to the stream after tern_stream_detach(). @readq is the stream's after success.
 */
static int switch_lock(struct tern_stream *s, struct tern_sock *sock,
		       const struct tern_mpa_params *params,
		       const struct tern_agree_options *agree,
		       const struct tern_readq *readq)
{
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (s->state == QP_IDLE && !s->sock) {
		ret = 0;
		s->readq = *readq;
		init_engines(s, sock, params, agree);
		tern_sock_get(sock);
		WRITE_ONCE(sock->swaps, s->ctx);
		/* release: the engines are set up before @sock is visible */
		smp_store_release(&s->sock, sock);
	}
	spin_unlock_bh(&s->lock);
	return ret;
}

/* RFC 5044 7.1.2: no FPDU goes out before the Reply, even if one of the peer has come */
static void begin(struct tern_stream *s, const struct kvec *reply)
{
	tern_stream_step(s, QP_EV_ATTACH);
	if (reply && tern_sock_send_frame_locked(s->sock, reply->iov_base, reply->iov_len))
		tern_stream_step(s, QP_EV_RESET);
	tern_sock_set_owner(s->sock, &stream_ops, s);
	/* as in a callback: TCP must not sleep in the section that the engine reads in */
	local_bh_disable();
	/* receive what came before the callbacks, and send what was posted */
	tern_rx_run(s);
	local_bh_enable();
	s->rx.reply = false;
	tern_tx_reply(s);
	tern_stream_step_if_dead(s);
}

int tern_stream_attach(struct tern_stream *s, struct tern_sock *sock,
		       const struct tern_mpa_params *params,
		       const struct tern_agree_options *agree,
		       const struct kvec *reply)
{
	struct tern_readq readq = {};
	int ret = create_readq(sock, params, agree, &readq);

	if (ret)
		return ret;
	tern_sock_lock(sock);
	ret = switch_lock(s, sock, params, agree, &readq);
	if (!ret)
		begin(s, reply);
	tern_sock_unlock(sock);
	if (ret)
		tern_readq_exit(&readq);
	return ret;
}

/* the one that waited when the error was found, and that of the Terminate */
#define LAST_BURSTS	2
/* the most that a program leaves for a later doorbell, 256 KiB, and one that waited */
#define LEFT_BURSTS	5

/*
 * An owner may abort at the async event, before a Terminate goes out; a program that ends, by
 * SIGKILL too, does not ring for the posts that it left for a later doorbell; and a worker may
 * not have sent yet what a kernel user posted.
 */
static void send_last(struct tern_stream *s)
{
	if (s->state == QP_TERMINATE)
		tern_tx_run(s, LAST_BURSTS);
	else if (s->state == QP_RTS && tern_sq_pending(&s->sq) > 0)
		tern_tx_run(s, LEFT_BURSTS);
}

/*
 * Return: a startup may be in progress, and is to be aborted. @rung: for tern_tx_finish():
 * a program rings for what it posts to a QP that is over already. If it does so too late, its
 * post fails, and must not complete as well.
 */
static bool step_to_close(struct tern_stream *s, bool abrupt, bool *rung)
{
	bool idle;

	tern_stream_lock(s);
	idle = !s->sock;
	*rung = !s->ctx || !tern_stream_is_over(s);
	if (abrupt)
		send_last(s);
	tern_stream_step(s, abrupt ? QP_EV_ABORT : QP_EV_LOCAL_CLOSE);
	tern_stream_unlock(s);
	return idle && abrupt;
}

void tern_stream_close(struct tern_stream *s, bool abrupt)
{
	bool rung, startup = step_to_close(s, abrupt, &rung);

	/* a process can wait: finish the flush of a deep queue here */
	if (abrupt)
		tern_tx_finish(s, rung);
	if (startup)
		tern_stream_abort_startup(s);
}

void tern_stream_be_quiet(struct tern_stream *s)
{
	tern_stream_lock(s);
	s->sq.quiet = true;
	s->rq.quiet = true;
	tern_stream_unlock(s);
}

/* the rest of the flush is softirq's: other programs' QPs are next in the search */
void tern_stream_fatal(struct tern_stream *s)
{
	bool rung;

	if (READ_ONCE(s->state) == QP_ERROR)
		return;
	tern_stream_async_event(s, IB_EVENT_QP_FATAL);
	/* the flush of this step takes what was rung for until now */
	if (step_to_close(s, true, &rung))
		tern_stream_abort_startup(s);
}

void tern_stream_detach(struct tern_stream *s)
{
	/* pairs with the release in switch_lock() */
	struct tern_sock *sock = smp_load_acquire(&s->sock);

	if (sock)
		tern_sock_clear_owner(sock, s);
}

/* ---- extensions ---------------------------------------------------------- */

bool tern_stream_features(const struct tern_stream *s, u16 *features)
{
	const struct tern_hello *hello = &s->agree.hello;
	/* of a moment ago, without the stream lock */
	bool decided = data_race(tern_hello_decided(hello));

	/* likewise */
	*features = data_race(tern_hello_agreed(hello));
	return decided;
}

struct tern_stream_messages tern_stream_messages(const struct tern_stream *s)
{
	struct tern_stream_messages messages;

	/* of a moment ago, without the stream lock */
	messages.sent = data_race(READ_ONCE(s->tx.messages));
	/* likewise */
	messages.received = data_race(READ_ONCE(s->rx.messages));
	return messages;
}
