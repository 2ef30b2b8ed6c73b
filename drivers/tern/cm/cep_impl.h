/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The inside of a connection endpoint, shared by the files of cm: cep.c
 * (object, work, states), cep_timer.c, startup.c (MPA exchange), cm.c (iw_cm's
 * calls), listen.c, event.c, crowd.c and conn.c.
 */
#ifndef TERN_CEP_IMPL_H
#define TERN_CEP_IMPL_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "core/cm_clock.h"
#include "core/cm_fsm.h"
#include "core/mpa.h"
#include "device/settings.h"
#include "stream/sock_open.h"
#include "stream/stream.h"
#include "cep.h"
#include "crowd.h"

struct iw_cm_id;
struct net;
struct pid;
struct tern_listen_id;

/* private data that iw_cm's events can carry: 8 bits of length (Q16) */
#define TERN_UP_PD_MAX		255

/**
 * struct tern_cep - connection endpoint
 * @ref: one while it is listed (from creation to CM_ACT_DROP), one of the stream,
 *	one of each queued @work and armed @timer
 * @user: what the stream knows of the endpoint
 * @nr: number for traces and users, never 0
 * @dev: device; exists while the endpoint is listed
 * @net: netns of @sock, without a reference: its exit drops the endpoint
 * @lock: guards all below up to @event_lock; taken before the socket lock;
 *	readers of the state for users take it too
 * @state: written under @lock
 * @id: iw_cm's, with a reference, from connect or accept to CM_ACT_PUT_ID
 * @program: the process that uses @id, with a reference; NULL for a kernel user
 * @kernel: the QP is, or was, a kernel user's
 * @request_nr: what iw_cm's id holds in CM_ULP_WAIT, see event.c
 * @active: our end is the initiator
 * @stream: bound or attached, with a reference
 * @qpn: its number, kept after @stream is gone; 0 before
 * @sock: the TCP connection; NULL after the drop
 * @listen: passive, in startup: listening id it came from, with a reference
 * @listen_node: in @listen's list
 * @crowd_node: place among @dev's endpoints without a QP, see crowd.c
 * @crowd_kind: what it counts as there
 * @settings: the device's when the endpoint was created, with the QP's options
 * @opt: what we ask the peer for
 * @request: the Request; its @pd is valid during startup only
 * @reply: the Reply; the same
 * @frame_sent: our frame was sent
 * @frame_came: the peer's arrived
 * @agreed: @params is valid
 * @params: what both ends agreed on
 * @rtr: passive: the received RTR, kept after the QP is gone
 * @addr: addresses of both ends
 * @tos: type of service that the user asked for
 * @tos_set: the user asked for one
 * @status: cause of the failure, negative, or 0
 * @retried: this is the plain attempt after an enhanced one
 * @plain: the peer showed by a Reply or a FIN that it takes no enhanced Request
 * @clock: when @timer has to act, in jiffies; a timer that runs early or late
 *	is ignored
 * @timed: @clock is set
 * @pd: active: the ULP's private data
 * @pd_len: bytes at @pd
 * @frame: what came of the peer's frame
 * @frame_len: bytes at @frame
 * @event_lock: guards @events and @terms; BH-safe, the innermost lock
 * @events: BIT(enum tern_cm_event) that @work will step
 * @terms: errors of the stream, and of the startup
 * @work: steps @events and checks the socket
 * @timer: the only timer
 * @all_node: in the list of all, guarded by that list's lock
 * @dev_aborted: an abort of @dev has taken it; guarded by the lock of @dev's
 *	endpoints
 * @net_aborted: an abort of @net has; guarded by the lock of the list of all
 */
struct tern_cep {
	struct kref ref;
	struct tern_stream_user user;
	u32 nr;
	struct tern_device *dev;
	struct net *net;

	struct mutex lock;	/* see above */
	enum tern_cm_state state;
	struct iw_cm_id *id;
	struct pid *program;
	bool kernel;
	u32 request_nr;
	bool active;
	struct tern_stream *stream;
	u32 qpn;
	struct tern_sock *sock;
	struct tern_listen_id *listen;
	struct list_head listen_node;
	struct list_head crowd_node;
	enum tern_crowd_kind crowd_kind;
	struct tern_settings settings;
	struct tern_mpa_options opt;
	struct tern_mpa_msg request;
	struct tern_mpa_msg reply;
	bool frame_sent;
	bool frame_came;
	bool agreed;
	struct tern_mpa_params params;
	u8 rtr;
	struct tern_sock_addr addr;
	u8 tos;
	bool tos_set;
	bool retried;
	bool plain;
	bool timed;
	int status;
	struct tern_cm_clock clock;
	u16 pd_len;
	u8 pd[TERN_MPA_MAX_PD];
	u32 frame_len;
	u8 frame[TERN_MPA_FRAME_MAX];

	spinlock_t event_lock;	/* see above */
	u32 events;
	struct tern_stream_terms terms;
	struct work_struct work;
	struct delayed_work timer;
	struct list_head all_node;
	bool dev_aborted;
	bool net_aborted;
};

/* runs startup, close and listening; no work on it waits for a peer */
extern struct workqueue_struct *tern_cep_wq;

/* ---- cep.c -------------------------------------------------------------- */

/* Context: any */
void tern_cep_get(struct tern_cep *cep);
void tern_cep_put(struct tern_cep *cep);

/**
 * tern_cep_create() - create and list an endpoint in CM_IDLE
 * @dev: its device
 * @net: netns of its socket; must not end before this returns
 *
 * Context: process. Return: the endpoint, locked, with the list's reference, or
 * NULL.
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

/*
 * Evict @cep, which is quiet (crowd.h), for another connection, unless the
 * socket already has its Request. Context: process, no endpoint's lock is held.
 */
void tern_cep_crowd_out(struct tern_cep *cep);

/* errors of the stream and of the startup so far; Context: any BH-safe */
struct tern_stream_terms tern_cep_terms(struct tern_cep *cep);

/* direct the socket's callbacks to @cep */
void tern_cep_own_sock(struct tern_cep *cep);

/* abort the endpoints of a netns, wait until none is left; Context: process */
void tern_cep_abort_net(struct net *net);

int tern_cep_init(void);
void tern_cep_exit(void);

/* ---- cep_timer.c: @cep->lock is held in all -------------------------------- */

void tern_cep_timer_init(struct tern_cep *cep);

/* set, stop or keep the timer, as a step of the state machine says */
void tern_cep_set_timer(struct tern_cep *cep, enum tern_cm_timer timer);

/*
 * True if @event is a timer event that has to be ignored: the timer was stopped
 * or set again since, or it ran only to check the conditions that end a state
 * early. Arms the timer again in these cases, unless it is stopped.
 */
bool tern_cep_too_early(struct tern_cep *cep, enum tern_cm_event event);

/* count a close that is cut off: CM_CLOSE_LOST, CM_CLOSE_SLOW */
void tern_cep_count_close(struct tern_cep *cep);

/*
 * Note who uses @cep->id: the current program or the kernel. If the program
 * dies, the timer is due: iw_cm keeps an id until its connect or accept
 * is decided, so a killed program would hang in the close of its rdma_cm file
 * until the peer's time is up.
 */
void tern_cep_watch_program(struct tern_cep *cep);
void tern_cep_unwatch_program(struct tern_cep *cep);

/* ---- startup.c: @cep->lock is held in all ------------------------------- */

/* open a socket for @cep and start to connect; Return: 0 or an error */
int tern_startup_connect(struct tern_cep *cep);

/* process what the socket has, by state; Return: true if a step was made */
bool tern_startup_look(struct tern_cep *cep);

/**
 * tern_startup_accept() - attach @cep->stream and send the Reply
 * @cep: in CM_ULP_WAIT, bound
 * @pd: private data
 * @pd_len: bytes at @pd, at most tern_startup_room()
 *
 * Return: 0 when the QP is attached, even if the Reply could not be sent; else
 * an error, and nothing was sent.
 */
int tern_startup_accept(struct tern_cep *cep, const void *pd, u16 pd_len);

/* most private data that fits into a frame of this kind */
u16 tern_startup_room(const struct tern_mpa_msg *frame);

/* send a Reply with R=1 */
void tern_startup_reject(struct tern_cep *cep, const void *pd, u16 pd_len);

/*
 * The same if the program was not asked or did not answer. Sent even before the
 * Request arrived: initiators take a bare FIN for a peer of revision 1.
 */
void tern_startup_deny(struct tern_cep *cep);

#endif /* TERN_CEP_IMPL_H */
