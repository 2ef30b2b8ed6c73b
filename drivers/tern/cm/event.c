// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Events for iw_cm: connect requests and replies (RFC 5044 7.1.2, RFC 6581
 * 9.1), and ends of connections.
 */
#include "event.h"

#include <linux/xarray.h>
#include <rdma/iw_cm.h>

#include "device/device.h"
#include "cep.h"
#include "listen.h"

/*
 * Requests that the ULP has not answered. An id refers to its endpoint by
 * number only: if the listener is destroyed, iw_cm drops the event and the
 * request is never answered; and a connection may end long before its answer
 * comes. So no number may come again: an id that was kept for so long would answer
 * the request of another program.
 */
static DEFINE_XARRAY(requests);
static atomic_long_t next_request;

static int add_request(struct tern_cep *cep)
{
	int rc;

	/* 2^32 on a machine of 32 bits: there a number that is in use is passed over */
	do {
		cep->request_nr = atomic_long_inc_return(&next_request);
		rc = xa_insert(&requests, cep->request_nr, cep, GFP_KERNEL);
	} while (rc == -EBUSY);
	return rc;
}

/* iw_cm has 8 bits: larger values and "not negotiated" are reported as 255 (Q16) */
static u8 up_depth(u16 word)
{
	return min_t(u16, word & TERN_MPA_DEPTH_MASK, U8_MAX);
}

/*
 * The peer's depths as rdma_cm wants them: @ird is what it accepts (our
 * initiator_depth), @ord what it may send (our responder_resources). A plain
 * frame has none, so report our own values.
 */
static void set_depths(struct iw_cm_event *event,
		       const struct tern_mpa_msg *peer, u16 own_ird,
		       u16 own_ord)
{
	event->ird = up_depth(peer->enhanced ? peer->ird : own_ord);
	event->ord = up_depth(peer->enhanced ? peer->ord : own_ird);
}

static void set_private_data(struct iw_cm_event *event,
			     const struct tern_mpa_msg *peer)
{
	event->private_data = (void *)peer->pd;
	event->private_data_len = min_t(u16, peer->pd_len, TERN_UP_PD_MAX);
}

int tern_event_request(struct tern_cep *cep)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = cep->addr.local,
		.remote_addr = cep->addr.remote,
	};
	struct iw_cm_id *id = tern_listen_iw(cep->listen);
	int rc;

	lockdep_assert_held(&cep->lock);
	if (!id)
		return -ECONNABORTED;
	if (!tern_listen_keeps(cep->listen, &cep->addr.local)) {
		tern_stat_inc(cep->dev->stats, CM_DENIED);
		return -EADDRNOTAVAIL;
	}
	rc = add_request(cep);
	if (rc)
		return rc;
	event.provider_data = (void *)cep->request_nr;
	set_depths(&event, &cep->request, TERN_MAX_RD_ATOM, TERN_MAX_RD_ATOM);
	set_private_data(&event, &cep->request);
	rc = id->event_handler(id, &event);
	if (rc)
		tern_event_forget(cep);
	return rc;
}

void tern_event_forget(struct tern_cep *cep)
{
	lockdep_assert_held(&cep->lock);
	xa_erase(&requests, cep->request_nr);
}

struct tern_cep *tern_event_find(const struct iw_cm_id *id)
{
	struct tern_cep *cep;

	xa_lock(&requests);
	cep = xa_load(&requests, (unsigned long)id->provider_data);
	if (cep)
		tern_cep_get(cep);
	xa_unlock(&requests);
	return cep;
}

void tern_event_reply(struct tern_cep *cep, int status)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY,
		.status = status,
		.local_addr = cep->addr.local,
		.remote_addr = cep->addr.remote,
	};

	lockdep_assert_held(&cep->lock);
	/* only a whole Reply, accepting or rejecting, has data for the ULP */
	if (!status || status == -ECONNREFUSED) {
		set_depths(&event, &cep->reply, cep->params.ird,
			   cep->params.ord);
		set_private_data(&event, &cep->reply);
	}
	/* iw_cm had no memory to copy the data: report the end without it */
	if (cep->id->event_handler(cep->id, &event)) {
		event.private_data_len = 0;
		cep->id->event_handler(cep->id, &event);
	}
}

static void raise_event(struct tern_cep *cep, struct iw_cm_event *event)
{
	lockdep_assert_held(&cep->lock);
	event->local_addr = cep->addr.local;
	event->remote_addr = cep->addr.remote;
	cep->id->event_handler(cep->id, event);
}

void tern_event_established(struct tern_cep *cep, int status)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_ESTABLISHED,
		.status = status,
		.ird = up_depth(cep->params.ord),
		.ord = up_depth(cep->params.ird),
	};

	raise_event(cep, &event);
}

void tern_event_disconnect(struct tern_cep *cep)
{
	struct iw_cm_event event = { .event = IW_CM_EVENT_DISCONNECT };

	raise_event(cep, &event);
}

void tern_event_close(struct tern_cep *cep)
{
	/* rdma_cm leaves the status out of its DISCONNECTED */
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CLOSE,
		.status = cep->status,
	};

	raise_event(cep, &event);
}
