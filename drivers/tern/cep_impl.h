/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The inside of a connection endpoint, for cep.c (object, work, states),
 * startup.c (MPA exchange), cm.c (iw_cm's calls), listen.c and event.c.
 */
#ifndef TERN_CEP_IMPL_H
#define TERN_CEP_IMPL_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "cep.h"
#include "core/cm_clock.h"
#include "core/cm_fsm.h"
#include "core/mpa.h"
#include "crowd.h"
#include "settings.h"
#include "sock.h"
#include "stream.h"

struct iw_cm_id;
struct net;
struct pid;
struct tern_listen_id;

/* private data that iw_cm's events have room for (checklist-mpa 4.32) */
#define TERN_UP_PD_MAX		255

/**
 * struct tern_cep - connection endpoint
 * @ref: one while it is listed (from creation to CM_ACT_DROP), one of the QP,
 *	one of each queued @work and armed @timer
 * @user: what the stream knows of it
 * @nr: number for traces and users, never 0
 * @dev: device; does not end while the endpoint is listed
 * @net: netns of @sock, without a reference: its end drops the endpoint
 * @lock: guards all below up to @event_lock; taken before the socket lock;
 *	readers of the state for users take it too
 * @state: written under @lock
 * @id: iw_cm's, with a reference, from connect or accept to CM_ACT_PUT_ID
 * @program: the process that has @id, with a reference; NULL for a kernel user's
 * @kernel: its stream is, or was, a kernel user's
 * @request_nr: what iw_cm's id knows us by in CM_ULP_WAIT, see event.c
 * @active: our end connects
 * @qp: bound or attached, with a reference
 * @qpn: its number, also when it is gone; 0 before
 * @sock: the TCP connection; NULL once dropped
 * @listen: passive, in startup: where it came from, with a reference
 * @listen_node: in its list
 * @crowd_node, @crowd_kind: among @dev's endpoints without a QP, see crowd.c
 * @settings: of the device when the endpoint was made, and what the QP wishes
 * @wish: what we ask for
 * @request, @reply: the frames; their @pd is good during startup only
 * @frame_sent, @frame_came: our frame and the peer's are in @request and @reply
 * @agreed: @params is valid
 * @params: what was agreed on
 * @rtr: passive: the RTR that came, once the QP is gone
 * @addr: addresses
 * @tos, @tos_set: what the user asked for
 * @status: why it failed, negative, or 0
 * @retried: this is the plain attempt after an enhanced one
 * @plain: the peer showed by a Reply or a FIN that it takes no enhanced Request
 * @p2p_meant: the program itself asked for the peer-to-peer model: it may let
 *	the peer speak first, so there is no plain attempt (4.5)
 * @clock: when @timer is to act, in jiffies; a timer that ran early or late is ignored
 * @timed: @clock is set
 * @pd, @pd_len: active: the ULP's private data
 * @frame, @frame_len: octets of the peer's frame so far
 * @event_lock: guards @events and @terms; BH-safe, the innermost lock
 * @events: BIT(enum tern_cm_event) to be stepped by @work
 * @terms: errors of the stream, and of the startup
 * @work: steps @events and looks at the socket
 * @timer: the one timer
 * @all_node: in the list of all, guarded by that list's lock
 * @dev_aborted, @net_aborted: seen by an abort of @dev or @net; guarded by the
 *	lock of @dev's endpoints and of that list
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
	struct tern_qp *qp;
	u32 qpn;
	struct tern_sock *sock;
	struct tern_listen_id *listen;
	struct list_head listen_node;
	struct list_head crowd_node;
	enum tern_crowd_kind crowd_kind;
	struct tern_settings settings;
	struct tern_mpa_wish wish;
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
	bool p2p_meant;
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

/* startup, close and listening run here; nothing in it waits for a peer */
extern struct workqueue_struct *tern_cep_wq;

/* ---- cep.c -------------------------------------------------------------- */

/* Context: any */
void tern_cep_get(struct tern_cep *cep);
void tern_cep_put(struct tern_cep *cep);

/**
 * tern_cep_create() - a listed endpoint in CM_IDLE
 * @dev: its device
 * @net: netns of its socket; must not end before this returns
 *
 * Context: process. Return: it, locked, with the list's reference, or NULL.
 */
struct tern_cep *tern_cep_create(struct tern_device *dev, struct net *net);

/* step the state machine and do what it says; @cep->lock is held */
void tern_cep_step(struct tern_cep *cep, enum tern_cm_event event);

/* CM_ACT_DROP, also what undoes tern_cep_create(); @cep->lock is held */
void tern_cep_drop(struct tern_cep *cep);

/**
 * tern_cep_take_wishes() - the wishes of the QP that was just bound
 *
 * Resets @wish, the depths included. Return: 0, or the error of
 * tern_wishes_apply(), also for a Request that they do not fit; then the
 * device's settings hold on. Context: @cep->lock is held.
 */
int tern_cep_take_wishes(struct tern_cep *cep);

/* have the work step @event, or look at the socket; Context: any BH-safe */
void tern_cep_post(struct tern_cep *cep, enum tern_cm_event event);
void tern_cep_kick(struct tern_cep *cep);

/*
 * Another connection needs the place of @cep, which is quiet (crowd.h): what the
 * socket has counts first. Context: process, no endpoint's lock is held.
 */
void tern_cep_crowd_out(struct tern_cep *cep);

/* errors of the stream and of the startup so far; Context: any BH-safe */
struct tern_stream_terms tern_cep_terms(struct tern_cep *cep);

/* the socket's callbacks come to @cep */
void tern_cep_own_sock(struct tern_cep *cep);

/* a netns ends: end its endpoints, and wait for that; Context: process */
void tern_cep_abort_net(struct net *net);

int tern_cep_init(void);
void tern_cep_exit(void);

/* ---- cep_timer.c: @cep->lock is held in all -------------------------------- */

void tern_cep_timer_init(struct tern_cep *cep);

/* as a step of the state machine says: anew, off, or as it was */
void tern_cep_set_timer(struct tern_cep *cep, enum tern_cm_timer timer);

/*
 * Was the timer set anew, or off, behind @event, or does it only look for those
 * whose time is up before? It is armed again then.
 */
bool tern_cep_too_early(struct tern_cep *cep, enum tern_cm_event event);

/* a close ends before its time: does it lose what TCP had taken, and completed? */
void tern_cep_count_close(struct tern_cep *cep);

/*
 * The program that runs now, or the kernel, has @cep->id. When a program dies, the
 * timer is due: iw_cm lets no id go before its connect or accept is decided, so a
 * program that is killed would hang in the close of its rdma_cm file until the
 * peer's time is up.
 */
void tern_cep_watch_program(struct tern_cep *cep);
void tern_cep_unwatch_program(struct tern_cep *cep);

/* ---- startup.c: @cep->lock is held in all ------------------------------- */

/* bind a socket to @cep and begin to connect; Return: 0 or an error */
int tern_startup_connect(struct tern_cep *cep);

/* see what the socket has for the state; Return: true when it was stepped */
bool tern_startup_look(struct tern_cep *cep);

/**
 * tern_startup_accept() - attach @cep->qp and send the Reply
 * @cep: in CM_ULP_WAIT, bound
 * @pd: private data
 * @pd_len: its octets, as many as a Reply to this Request has room for
 *
 * Return: 0 when the QP is attached, whatever becomes of the Reply; else an
 * error, and nothing was sent.
 */
int tern_startup_accept(struct tern_cep *cep, const void *pd, u16 pd_len);

/* most private data that a Reply to the Request has room for */
u16 tern_startup_room(const struct tern_mpa_msg *frame);

/* send a Reply with R=1 */
void tern_startup_reject(struct tern_cep *cep, const void *pd, u16 pd_len);

/*
 * The same where the program was not asked, or did not answer. It goes out also
 * before the Request came: initiators take a bare end for a peer of revision 1.
 */
void tern_startup_deny(struct tern_cep *cep);

#endif /* TERN_CEP_IMPL_H */
