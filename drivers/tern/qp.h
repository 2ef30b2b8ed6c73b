/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A queue pair, its stream and engines, and the calls of a stream. */
#ifndef TERN_QP_H
#define TERN_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "core/ddp.h"
#include "core/fpdu_rx.h"
#include "core/fpdu_tx.h"
#include "core/mpa.h"
#include "core/qp_fsm.h"
#include "burst.h"
#include "mem.h"
#include "readq.h"
#include "rq.h"
#include "sgl.h"
#include "sq.h"

struct tern_device;
struct tern_sock;
struct tern_stream_ops;
struct tern_stream_user;

enum tern_tx_source {
	TERN_TX_NONE,		/* between two messages */
	TERN_TX_WQE,		/* a send queue entry */
	TERN_TX_RESPONSE,	/* the oldest inbound Read */
	TERN_TX_TERMINATE,
	TERN_TX_RTR,
};

/**
 * struct tern_tx - send engine of one stream; all of it guarded by the socket
 * lock
 * @fpdu: framing
 * @msg: message in progress
 * @source: where @msg comes from
 * @wqe: copy of the entry, with @source TERN_TX_WQE
 * @sgl: the part of its payload that is still to be read
 * @send_msn, @read_msn: next MSN of queues 0 and 1
 * @active: the engine is running: a nested call only sets @again
 * @again: look again before the end
 * @stalled: the entry at the head of the SQ waits for an event of the stream,
 *	which will run the engine
 * @yielded: the burst ends here and more is due: too many entries sent nothing,
 *	or the next one fails, and has to complete after the burst
 * @locals: entries of this burst that sent nothing
 * @idle_at: when the program was last told to ring, tern_tx_now(); a hint
 * @burst: FPDUs built and not yet taken by TCP
 * @burst_head: SQ entries before this index are done when @burst is sent
 * @prefer_wqe: the last message was a Response: an SQ entry is next
 * @term_code: Terminate to be sent, TERN_TERM_NONE for none
 * @term_hdr, @term_hdr_len, @term_seg_len: headers of the offending segment
 * @term_sent: the one Terminate went out
 * @rtr: RTR to be sent first
 */
struct tern_tx {
	struct tern_fpdu_tx fpdu;
	struct tern_tx_msg msg;
	enum tern_tx_source source;
	struct tern_wqe wqe;
	struct tern_sgl sgl;
	u32 send_msn;
	u32 read_msn;
	bool active;
	bool again;
	bool stalled;
	bool yielded;
	u32 locals;
	u32 idle_at;
	struct tern_burst burst;
	u32 burst_head;
	bool prefer_wqe;
	int term_code;
	u8 term_hdr[TERN_HDR_MAX + 2];
	u32 term_hdr_len;
	u32 term_seg_len;
	bool term_sent;
	u8 rtr;
};

/**
 * struct tern_rx - receive engine of one stream; guarded by the socket lock
 * @fpdu: framing
 * @ddp: MSN, MO and message state
 * @cur, @seg: the current FPDU; on the stack they would be zeroed each time
 * @skip: bytes of a handled FPDU still to be consumed from the queue
 * @fence: responder: no valid FPDU came yet
 * @rtr_accept: see struct tern_mpa_params
 * @rtr: the RTR that opened the fence, or TERN_MPA_RTR_NONE
 * @sgl: where the next byte of the Send under reassembly goes
 * @too_long: the message does not fit into its receive entry
 * @discard: drop what comes: an error was reported, or the stream was closed
 * @eof: the peer's FIN was handled
 * @reply: a Read Request was queued or a Read completed: run the send engine
 */
struct tern_rx {
	struct tern_fpdu_rx fpdu;
	struct tern_ddp_rx ddp;
	struct tern_fpdu cur;
	struct tern_seg seg;
	u32 skip;
	bool fence;
	u8 rtr_accept;
	u8 rtr;
	struct tern_sgl sgl;
	bool too_long;
	bool discard;
	bool eof;
	bool reply;
};

/**
 * struct tern_startup - the last startup of a QP, also when it failed
 * @own, @peer: the frames, raw
 * @initiator: @own is the Request
 * @retried: it is the plain attempt after an enhanced one
 * @term_tx, @term_rx: Terminate in place of our, or the peer's, first FPDU
 */
struct tern_startup {
	struct tern_mpa_side own;
	struct tern_mpa_side peer;
	bool initiator;
	bool retried;
	int term_tx;
	int term_rx;
};

/**
 * struct tern_qp - queue pair
 * @ibqp: the core's part
 * @ops: what its stream calls
 * @dev: device
 * @scope: keys that its send queue, and its peer, may name; the serial number in it is
 *	never used again, unlike the number or the address of a QP
 * @recv_scope: keys that its receive entries may name: those of an SRQ are of the SRQ's
 *	PD
 * @ref: references of iw_cm, of doorbells in flight and of work; destroy waits
 *	until the last is dropped
 * @released: completed with the last reference
 * @uctx: the program's context, NULL for a kernel user
 * @state_lock: guards @user, @wishes, @startup and @rights_said; BH-safe
 * @idle_lock: the stream lock before there is a socket
 * @state: guarded by the stream lock; read without it where a stale value is
 *	good enough
 * @user: the endpoint that connects or has connected it, with a reference
 * @sock: the connection, set once at attach (release), good until destroy
 * @sq, @rq: its queues, and where they complete
 * @tx, @rx, @readq: engines
 * @access: TERN_ACCESS_* rights of the peer (qp_access_flags)
 * @rights_said: modify_qp has set @access
 * @term_rx: Terminate received, or TERN_TERM_NONE
 * @term_tx: error found, and sent as a Terminate unless the fence is shut
 * @bh_work: runs the send engine in BH context
 * @work: runs it in a process, which can wait for the socket
 * @linger: runs it some microseconds after a doorbell, see tern_tx_doorbell()
 * @doorbells: length of the run of doorbells, see is_stream(); like @polled a
 *	hint that no lock guards
 * @polled: how far the program had polled the CQ of @sq at the last doorbell
 * @ib_state: IB_QPS_RESET, INIT or RTR while @state is IDLE
 * @params: of the stream, its depths at most TERN_MAX_RD_ATOM
 * @wishes: options in place of the device's settings; they do not change while
 *	a @user is set
 * @startup: written by @user
 */
struct tern_qp {
	struct ib_qp ibqp;
	const struct tern_stream_ops *ops;
	struct tern_device *dev;
	struct tern_scope scope;
	struct tern_scope recv_scope;
	struct kref ref;
	struct completion released;
	struct tern_ucontext *uctx;
	spinlock_t state_lock;		/* see above */
	struct mutex idle_lock;		/* see above */
	enum tern_qp_state state;
	struct tern_stream_user *user;
	struct tern_sock *sock;
	struct tern_sq sq;
	struct tern_rq rq;
	struct tern_tx tx;
	struct tern_rx rx;
	struct tern_readq readq;
	u32 access;
	bool rights_said;
	int term_rx;
	int term_tx;
	struct work_struct bh_work;
	struct delayed_work work;
	struct hrtimer linger;
	u8 doorbells;
	u32 polled;
	enum ib_qp_state ib_state;
	struct tern_mpa_params params;
	struct tern_qp_wishes wishes;
	struct tern_startup startup;
};

static inline struct tern_qp *to_tern_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct tern_qp, ibqp);
}

static inline u32 tern_qpn(const struct tern_qp *qp)
{
	return qp->ibqp.qp_num;
}

/* find a QP by number, with a reference; Context: any */
struct tern_qp *tern_qp_find(struct tern_device *dev, u32 qpn);
void tern_qp_get(struct tern_qp *qp);
void tern_qp_put(struct tern_qp *qp);

/**
 * tern_qp_lock() - take the stream lock: the socket lock, or, before there is a
 * socket, @idle_lock
 *
 * All state of the engines, the send queue's slots and @state are guarded by
 * it. The socket's callbacks hold it when they run. Context: process.
 */
void tern_qp_lock(struct tern_qp *qp);
void tern_qp_unlock(struct tern_qp *qp);
void tern_qp_assert_locked(const struct tern_qp *qp);

/**
 * tern_qp_event() - step the state machine and execute its actions
 * @qp: queue pair
 * @event: what happened
 *
 * Context: the stream lock is held.
 */
void tern_qp_event(struct tern_qp *qp, enum tern_qp_event event);

/* responder: the first valid FPDU came; Context: the socket lock is held */
void tern_qp_opened(struct tern_qp *qp);

/* raise an async event of the QP; Context: any */
void tern_qp_async_event(struct tern_qp *qp, enum ib_event_type type);

/**
 * tern_qp_bind() - a startup begins for this QP
 *
 * Takes a reference on @user. Context: process. Return: 0, -EISCONN when the QP
 * has a user already or is not in IDLE.
 */
int tern_qp_bind(struct tern_qp *qp, struct tern_stream_user *user);

/* the startup failed: forget @user (drops the reference); the QP stays IDLE */
void tern_qp_unbind(struct tern_qp *qp, struct tern_stream_user *user);

/**
 * tern_qp_attach() - Full Operation begins: IDLE to RTS
 * @qp: bound to its user
 * @sock: its connection (it takes a reference); callbacks are routed to it
 * @params: what MPA agreed on, its depths at most TERN_MAX_RD_ATOM
 *
 * Responder: before the Reply is sent; nothing is sent until the first valid
 * FPDU came. Initiator: after the Reply was read; the RTR goes out first.
 * Context: process, socket lock not held. Return: 0, -ENOMEM, or -EINVAL when
 * the QP is no longer in IDLE.
 */
int tern_qp_attach(struct tern_qp *qp, struct tern_sock *sock,
		   const struct tern_mpa_params *params);

/**
 * tern_qp_close() - the ULP, the user or the device ends the stream
 * @qp: attached or not
 * @abrupt: false: send what is queued, then FIN; true: flush now
 *
 * Context: process. The user learns of the end by an event.
 */
void tern_qp_close(struct tern_qp *qp, bool abrupt);

/**
 * tern_qp_error() - we found an error: Terminate, flush, async event
 * @qp: attached
 * @code: triplet to send, TERN_TERM_NONE for none
 * @seg: headers of the offending segment, or NULL
 * @seg_hdr_len: bytes at @seg
 * @seg_len: its ULPDU_Length
 *
 * Context: the stream lock is held.
 */
void tern_qp_error(struct tern_qp *qp, int code, const u8 *seg,
		   u32 seg_hdr_len, u32 seg_len);

/**
 * tern_flush() - complete some of the posted entries in error
 * @qp: in TERMINATE or ERROR, or going there
 * @rung: something was posted, or the flush begins: flush what was posted until
 *	now. Else only what is left of that.
 *
 * Some hundred entries at most, in order. Context: the stream lock is held. Return:
 * true when more is left: call again soon, with the lock released in between.
 */
bool tern_flush(struct tern_qp *qp, bool rung);

/* CQ overflow and other faults of our own; Context: process */
void tern_qp_fatal(struct tern_qp *qp);

/* verbs */
int tern_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		   struct ib_udata *udata);
int tern_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);
int tern_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int tern_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int tern_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int tern_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);

#endif /* TERN_QP_H */
