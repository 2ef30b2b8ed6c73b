/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Connection endpoint: one connection as iw_cm sees it, from the TCP connect or
 * accept to the last event. The files of cm share it: cep.c has its states and its
 * work, ceps.c the list of all, cep_timer.c its timer, startup.c the MPA exchange.
 */
#ifndef TERN_CEP_H
#define TERN_CEP_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "core/cm_fsm.h"
#include "core/mpa.h"
#include "core/mpa_frame.h"
#include "device/settings.h"
#include "stream/sock_open.h"
#include "stream/stream.h"
#include "stream/user.h"
#include "cep_timer.h"
#include "ceps.h"
#include "crowd.h"

struct iw_cm_id;
struct net;
struct tern_listen_id;

/* private data that iw_cm's events can carry: 8 bits of length (Q16) */
#define TERN_UP_PD_MAX		255

/**
 * struct tern_cep - connection endpoint
 * @ref: one while it is listed (from creation to CM_ACT_DROP), one of the stream,
 *	one of each queued @work, one of the armed @timer
 * @user: what the stream knows of the endpoint
 * @nr: number for traces and users, never 0
 * @dev: device; exists while the endpoint is listed
 * @net: netns of @sock, without a reference: its exit drops the endpoint
 * @net_cookie: of @net
 * @lock: guards all below up to @event_lock; taken before the socket lock;
 *	readers of the state for users take it too
 * @state: written under @lock
 * @deferred: BIT(enum tern_cm_event) that came too soon, see tern_cm_defers()
 * @id: iw_cm's, with a reference, from connect or accept to CM_ACT_PUT_ID
 * @request_nr: what iw_cm's id holds in CM_ULP_WAIT, see event.c
 * @active: our end is the initiator
 * @stream: bound or attached, with a reference
 * @qpn: its number, kept after @stream is gone; 0 before
 * @sock: the TCP connection; NULL after the drop
 * @listen: passive, in startup: listening id it came from, with a reference
 * @listen_node: in @listen's list
 * @crowd: place among @dev's endpoints without a QP
 * @settings: the device's when the endpoint was created, with the QP's options
 * @opt: what we ask the peer for
 * @request: the Request; its @pd is valid during startup only
 * @reply: the Reply; the same
 * @frame_sent: our frame was sent
 * @frame_came: the peer's arrived
 * @agreed: @params is valid
 * @params: what both ends agreed on
 * @rtr: passive: the received RTR, kept after the QP is gone
 * @decided: @features is final
 * @features: enum tern_feature that both ends agreed on, kept likewise
 * @messages: how many went each way, kept likewise
 * @began: when it was created, of the boot clock
 * @addr: addresses of both ends
 * @sock_options: active: TOS and VRF of @sock
 * @status: cause of the failure, negative, or 0
 * @retried: this is the plain attempt after an enhanced one
 * @plain: the peer showed by a Reply or a FIN that it takes no enhanced Request
 * @declined: passive: the ULP rejected without private data, and the work is to send the
 *	Reply; set without @lock
 * @pd: active: the ULP's private data; freed, as @frame is, when the program was told
 *	that it is connected
 * @pd_len: bytes at @pd
 * @frame: what came of the peer's frame, room for TERN_MPA_FRAME_MAX bytes
 * @frame_len: bytes at @frame
 * @event_lock: guards @events and @terms; BH-safe, the innermost lock
 * @events: BIT(enum tern_cm_event) that @work will step
 * @terms: errors of the stream, and of the startup
 * @work: steps @events and checks the socket
 * @timer: the only timer; all but its work is guarded by @lock
 * @node: place among all endpoints
 */
struct tern_cep {
	struct kref ref;
	struct tern_stream_user user;
	u32 nr;
	struct tern_device *dev;
	struct net *net;
	u64 net_cookie;

	struct mutex lock;	/* see above */
	enum tern_cm_state state;
	u32 deferred;
	struct iw_cm_id *id;
	unsigned long request_nr;
	bool active;
	struct tern_stream *stream;
	u32 qpn;
	struct tern_sock *sock;
	struct tern_listen_id *listen;
	struct list_head listen_node;
	struct tern_crowd_place crowd;
	struct tern_settings settings;
	struct tern_mpa_options opt;
	struct tern_mpa_msg request;
	struct tern_mpa_msg reply;
	bool frame_sent;
	bool frame_came;
	bool agreed;
	struct tern_mpa_params params;
	u8 rtr;
	bool decided;
	u16 features;
	struct tern_stream_messages messages;
	ktime_t began;
	struct tern_sock_addr addr;
	struct tern_sock_options sock_options;
	bool retried;
	bool plain;
	bool declined;
	int status;
	u16 pd_len;
	u8 *pd;
	u32 frame_len;
	u8 *frame;

	spinlock_t event_lock;	/* see above */
	u32 events;
	struct tern_stream_terms terms;
	struct work_struct work;
	struct tern_cep_timer timer;
	struct tern_ceps_node node;
};

/* runs startup, close and listening; no work on it waits for a peer */
extern struct workqueue_struct *tern_cep_wq;

/* Context: any */
void tern_cep_get(struct tern_cep *cep);
void tern_cep_put(struct tern_cep *cep);

/**
 * tern_cep_create() - create and list an endpoint in CM_IDLE
 * @dev: its device
 * @net: netns of its socket; must not end before this returns
 *
 * Context: process. Return: the endpoint, locked, with the list's reference; or -ENOMEM, or
 * -ENODEV: @dev is removed.
 */
struct tern_cep *tern_cep_create(struct tern_device *dev, struct net *net);

/* step the state machine and run its actions; @cep->lock is held */
void tern_cep_step(struct tern_cep *cep, enum tern_cm_event event);

/* CM_ACT_DROP; also undoes tern_cep_create(); @cep->lock is held */
void tern_cep_drop(struct tern_cep *cep);

/**
 * tern_cep_take_options() - apply the options of the QP that was just bound
 * @cep: endpoint, bound to its QP
 *
 * Resets @opt, the depths included. Return: 0, or the error of
 * tern_options_apply(), also if the Request does not fit them; on an error the
 * device's settings stay. Context: @cep->lock is held.
 */
int tern_cep_take_options(struct tern_cep *cep);

/* make the work step @event; Context: any BH-safe */
void tern_cep_post(struct tern_cep *cep, enum tern_cm_event event);

/* make the work reject the Request, if that is still to be answered; Context: any BH-safe */
void tern_cep_decline(struct tern_cep *cep);

/*
 * Evict @cep, which is quiet (crowd.h), for another connection, unless the
 * socket already has its Request. Context: process, no endpoint's lock is held.
 */
void tern_cep_crowd_out(struct tern_cep *cep);

/* errors of the stream and of the startup so far; Context: any BH-safe */
struct tern_stream_terms tern_cep_terms(struct tern_cep *cep);

/* direct the socket's callbacks to @cep; what came before is for tern_startup_look_on() */
void tern_cep_own_sock(struct tern_cep *cep);

int tern_cep_init(void);
void tern_cep_exit(void);

#endif /* TERN_CEP_H */
