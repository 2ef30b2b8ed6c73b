/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The verbs of the device under test. Each call below is one line of text to
 * tern-conform-agent on the device's host, over a plain TCP connection: see
 * tern-conform-agent(8). A call leaves the test through must() when the agent refuses,
 * unless its comment says otherwise.
 */
#ifndef AGENT_H
#define AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_PORT "5040"

/* For main.c. Connect to the agent at @addr, @port (numeric); Return: 0, or -1 after
 * printing a line to stderr. One connection serves the whole run. */
int agent_open(const char *addr, const char *port);
void agent_close(void);
/* the address at which the device reaches us; default: our end of that connection */
void agent_peer_address(const char *addr);
/* the device's name */
const char *agent_device(void);
/* Return: the hooks that the agent has: NEED_SET, NEED_STATE of enum need */
unsigned int agent_offers(void);

/* Destroy everything and restore the device's own settings. The runner calls this
 * after each test. */
void agent_reset(void);

/* Run the agent's --set command with @words, e.g. "crc off". The setting holds until
 * agent_reset(). Skips the test when the agent has no such command. */
void agent_set(const char *words);

/* the same; Return: false when the device refuses the words */
bool agent_try_set(const char *words);

/* Look up @key in the `key value` lines that the agent's --state command prints for
 * the connection whose TCP port at our end is @port. Return: false when @key is not
 * there. Skips the test when the agent has no such command. */
bool agent_state(uint16_t port, const char *key, char *value, size_t size);

/* the device's hardware counter @name (rdma statistic); skips the test if there is
 * none */
uint64_t agent_counter(const char *name);

/* ---- memory: 4096-aligned, filled with AGENT_FILL; QPs are of PD 0, not of PD 1 */

#define AGENT_FILL	0xa5

struct agent_mr {
	int id;
	uint32_t rkey;
	uint64_t va;
	size_t len;
	bool sink;	/* has the remote write right */
};

/* @access: letters l (local write), r (remote read), w (remote write), a (atomic), b
 * (windows may be bound) */
struct agent_mr agent_mr(size_t len, const char *access);
struct agent_mr agent_mr_pd(size_t len, const char *access, int pd);
void agent_dereg(const struct agent_mr *mr);
void agent_peek(const struct agent_mr *mr, size_t at, void *buf, size_t len);
void agent_poke(const struct agent_mr *mr, size_t at, const void *buf, size_t len);
/* leave the test unless every byte of @mr is AGENT_FILL: nothing was placed */
void must_be_untouched(const struct agent_mr *mr);
void must_have_memory(const struct agent_mr *mr, size_t at, const void *want, size_t len);

/* ---- connections ---- */

/* Depths and limits of the QP that a connection gets. Default: 16 sends, 16 receives,
 * 4 elements, IRD 8, ORD 8, no SRQ. */
struct agent_qp {
	int send_depth;
	int recv_depth;
	int ird;
	int ord;
	int srq;	/* depth of the one shared receive queue, or 0 to not use
			 * it; the first connection that uses it sets the depth */
};

#define AGENT_QP_DEFAULT { .send_depth = 16, .recv_depth = 16, .ird = 8, .ord = 8 }

/* listen on the device's address; Return: the TCP port */
uint16_t agent_listen(void);

struct agent_event {
	char name[32];		/* without RDMA_CM_EVENT_: "CONNECT_REQUEST" */
	int conn;		/* connection, >= 0 */
	int status;
	int ird;		/* responder_resources of the event's conn_param */
	int ord;		/* initiator_depth */
	int pd_len;
	uint8_t pd[256];
};

/* the next rdma_cm event within @ms; Return: false when none came */
bool agent_event(struct agent_event *ev, int ms);

/* leave the test unless the next event, within the usual time, is @name */
void agent_must_get_event(const char *name, struct agent_event *ev);
/* leave the test if any event comes within @ms */
void agent_must_get_no_event(int ms);

/* Create a QP and start to connect it to our address, @port; Return: the connection.
 * Does not wait for the outcome: agent_event() gets it. */
int agent_connect(uint16_t port, const struct agent_qp *qp, const void *pd,
		  size_t pd_len);

/* create the QP and accept a CONNECT_REQUEST; does not wait for ESTABLISHED */
void agent_accept(int conn, const struct agent_qp *qp, const void *pd, size_t pd_len);
/* Return: 0, or the errno of the call */
int agent_try_accept(int conn, const struct agent_qp *qp, const void *pd,
		     size_t pd_len);
void agent_reject(int conn, const void *pd, size_t pd_len);
void agent_disconnect(int conn);
void agent_destroy(int conn);

/* "RESET" "INIT" "RTR" "RTS" "SQD" "SQE" "ERR" */
const char *agent_qp_state(int conn);
void agent_qp_error(int conn);		/* modify to ERR */

/* ask for SRQ_LIMIT_REACHED when the shared queue has fewer than @n receives */
void agent_srq_limit(int n);

/* the next ibv async event within @ms: its name without IBV_EVENT_ ("QP_FATAL"), or
 * NULL */
const char *agent_async(int *conn, int ms);

/* ---- work requests and completions ---- */

/* The memory of a Read (its sink) needs the remote write right: a device whose sink
 * STag is that of the region may require it. */
enum agent_op { AG_SEND, AG_SEND_INV, AG_WRITE, AG_READ };

#define AG_SIGNALED	1
#define AG_SOLICITED	2
#define AG_FENCE	4
#define AG_INLINE	8

void agent_recv(int conn, uint64_t wr_id, const struct agent_mr *mr, size_t at,
		size_t len);

/* @rkey, @raddr: of Write and Read; @rkey: the STag of AG_SEND_INV */
void agent_post(int conn, uint64_t wr_id, enum agent_op op, unsigned int flags,
		const struct agent_mr *mr, size_t at, size_t len, uint32_t rkey,
		uint64_t raddr);
/* Return: 0, or the errno of the call */
int agent_try_post(int conn, uint64_t wr_id, enum agent_op op, unsigned int flags,
		   const struct agent_mr *mr, size_t at, size_t len, uint32_t rkey,
		   uint64_t raddr);

/* Bind a window of @type (2: to @conn's stream, 1: to its protection domain) to a
 * range of @mr, and wait until it is bound; @access: letters r, w. Return: the
 * window's STag. Skips the test when the device has no windows. */
uint32_t agent_bind(int conn, int type, const struct agent_mr *mr, size_t at,
		    size_t len, const char *access);

struct agent_wc {
	uint64_t wr_id;
	char status[32];	/* without IBV_WC_: "SUCCESS", "WR_FLUSH_ERR" */
	char opcode[32];	/* "SEND" "RDMA_READ" "RECV" ..., valid if SUCCESS */
	uint32_t byte_len;
	uint32_t wc_flags;	/* enum ibv_wc_flags */
	uint32_t invalidated;	/* STag */
	int conn;
	uint8_t imm[8];
	size_t imm_len;		/* bytes of it that the agent knows: 0, 4 or 8 */
};

/* the next completion within @ms; Return: false when none came */
bool agent_poll(struct agent_wc *wc, int ms);
/* leave the test unless the next completion is of @wr_id with @status */
void agent_must_get_wc(uint64_t wr_id, const char *status, struct agent_wc *wc);
void agent_must_get_no_wc(int ms);

/* arm the CQ, for @solicited events only or for all; has its event come within @ms? */
void agent_arm(bool solicited);
bool agent_cq_event(int ms);

#endif /* AGENT_H */
