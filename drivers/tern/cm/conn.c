// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Copies of a connection's values for netlink, and of ended ones: each Terminate is shown
 * by its triplet (Q17).
 */
#include "conn.h"

#include <linux/slab.h>

#include "core/fpdu_tx.h"
#include "device/device.h"
#include "stream/stream.h"
#include "cep.h"
#include "ceps.h"
#include "startup.h"

/**
 * struct tern_conn_ring - connections that ended recently
 * @lock: guards the others
 * @count: how many ended so far; the last ones are kept
 * @conns: the n-th that ended is at n % TERN_CONN_ENDED
 */
struct tern_conn_ring {
	spinlock_t lock;	/* see above */
	unsigned long count;
	struct tern_conn conns[TERN_CONN_ENDED];
};

static void (*listener)(struct tern_cep *cep, enum tern_conn_news news);

/* ---- copy the values ---------------------------------------------------- */

static void copy_frames(const struct tern_cep *cep, struct tern_conn *conn)
{
	const struct tern_mpa_msg *own, *peer;

	own = cep->active ? &cep->request : &cep->reply;
	peer = cep->active ? &cep->reply : &cep->request;
	conn->own = tern_startup_side(cep->frame_sent ? own : NULL);
	conn->peer = tern_startup_side(cep->frame_came ? peer : NULL);
}

/* the initiator chose its RTR, the responder knows it once it arrives */
static u8 rtr_of(const struct tern_cep *cep)
{
	if (cep->active)
		return cep->params.rtr;
	return cep->stream ? READ_ONCE(cep->stream->rx.rtr) : cep->rtr;
}

static void copy_features(const struct tern_cep *cep, struct tern_conn *conn)
{
	if (cep->stream) {
		conn->decided = tern_stream_features(cep->stream, &conn->features);
	} else {
		conn->decided = cep->decided;
		conn->features = cep->features;
	}
}

static u32 mulpdu_of(const struct tern_conn *conn, u32 max_fpdu)
{
	bool markers = conn->params.tx_markers;

	return conn->features & TERN_FEATURE_LONG_FPDU ?
		       tern_fpdu_mulpdu_long(conn->mss, markers, max_fpdu) :
		       tern_fpdu_mulpdu(conn->mss, markers);
}

static void copy_flow(struct tern_cep *cep, struct tern_conn *conn)
{
	conn->messages = cep->stream ? tern_stream_messages(cep->stream) : cep->messages;
	if (!cep->sock)
		return;
	conn->mss = tern_sock_mss(cep->sock);
	tern_sock_flow(cep->sock, &conn->flow);
}

void tern_conn_copy(struct tern_cep *cep, struct tern_conn *conn)
{
	lockdep_assert_held(&cep->lock);
	*conn = (struct tern_conn) {
		.nr = cep->nr,
		.net_cookie = cep->net_cookie,
		.qpn = cep->qpn,
		.state = tern_cm_state_name(cep->state),
		.ended = cep->state == CM_CLOSED,
		.active = cep->active,
		.addr = cep->addr,
		.agreed = cep->agreed,
		.params = cep->params,
		.terms = tern_cep_terms(cep),
		.error = cep->status,
		.began = cep->began,
	};
	conn->params.rtr = rtr_of(cep);
	copy_frames(cep, conn);
	copy_features(cep, conn);
	copy_flow(cep, conn);
	if (conn->mss)
		conn->mulpdu = mulpdu_of(conn, cep->settings.max_fpdu);
}

/* ---- ended connections -------------------------------------------------- */

void tern_conn_remember(struct tern_cep *cep)
{
	struct tern_conn_ring *ring = cep->dev->ended;
	struct tern_conn conn;

	tern_conn_copy(cep, &conn);
	conn.over = ktime_get_boottime();
	spin_lock(&ring->lock);
	ring->conns[ring->count++ % TERN_CONN_ENDED] = conn;
	spin_unlock(&ring->lock);
}

static bool find_ended(struct tern_conn_ring *ring, unsigned long from,
		       struct tern_conn *conn)
{
	const struct tern_conn *c, *found = NULL;
	unsigned int i;

	spin_lock(&ring->lock);
	for (i = 0; i < TERN_CONN_ENDED; i++) {
		c = &ring->conns[i];
		if (c->nr && c->nr >= from && (!found || c->nr < found->nr))
			found = c;
	}
	if (found)
		*conn = *found;
	spin_unlock(&ring->lock);
	return found;
}

/* ---- all connections ---------------------------------------------------- */

static struct tern_cep *find_living(struct tern_device *dev, unsigned long from)
{
	struct tern_cep *cep;

	xa_lock(&dev->ceps);
	cep = xa_find(&dev->ceps, &from, ULONG_MAX, XA_PRESENT);
	if (cep)
		tern_cep_get(cep);
	xa_unlock(&dev->ceps);
	return cep;
}

/*
 * Return: false if it was dropped since it was found. It is among the ended ones then, unless it
 * never left CM_IDLE.
 */
static bool copy_living(struct tern_cep *cep, struct tern_conn *conn)
{
	bool listed;

	mutex_lock(&cep->lock);
	listed = tern_ceps_has(cep);
	if (listed)
		tern_conn_copy(cep, conn);
	mutex_unlock(&cep->lock);
	return listed;
}

bool tern_conn_next(struct tern_device *dev, unsigned long from,
		    struct tern_conn *conn)
{
	bool ended, found;
	struct tern_cep *cep;

	do {
		/* living ones first: one that ends is remembered before it is unlisted */
		cep = find_living(dev, from);
		ended = find_ended(dev->ended, from, conn);
		if (!cep)
			return ended;
		found = (ended && conn->nr <= cep->nr) || copy_living(cep, conn);
		tern_cep_put(cep);
	} while (!found);
	return true;
}

/* ---- news --------------------------------------------------------------- */

void tern_conn_tell(struct tern_cep *cep, enum tern_conn_news news)
{
	lockdep_assert_held(&cep->lock);
	if (listener)
		listener(cep, news);
}

void tern_conn_set_listener(void (*notify)(struct tern_cep *cep,
					   enum tern_conn_news news))
{
	listener = notify;
}

/* ---- init and exit ------------------------------------------------------ */

int tern_conn_init(struct tern_device *dev)
{
	dev->ended = kzalloc_obj(*dev->ended, GFP_KERNEL);
	if (!dev->ended)
		return -ENOMEM;
	spin_lock_init(&dev->ended->lock);
	return 0;
}

void tern_conn_exit(struct tern_device *dev)
{
	kfree(dev->ended);
}
