/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verbs of the device under test, driven through tern-conform-agent, which
 * runs on its host and takes one line of text for each call below (a plain TCP
 * connection, see tern-conform-agent(8)). Calls leave the test through fail() when
 * the agent says no, except those that say otherwise.
 */
#ifndef AGENT_H
#define AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_PORT "5040"

/* For main.c. Connect to the agent at @addr, @port (numeric); Return: 0, or -1 and
 * a line about it on stderr. One connection lasts for the run. */
int agent_open(const char *addr, const char *port);
void agent_close(void);
/* where the device reaches us, if not at our end of that connection */
void agent_peer_address(const char *addr);
/* the device's name */
const char *agent_device(void);
/* which of enum need (NEED_SET, NEED_STATE) the agent has commands for */
unsigned int agent_offers(void);

/* everything is destroyed and the settings are the device's own again; the runner
 * does this after each test */
void agent_reset(void);

/* run the agent's --set command with @words, e.g. "crc off"; skips the test when
 * there is no such command; settings hold until agent_reset() */
void agent_set(const char *words);

/* try it; Return: false when the device refuses the words */
bool agent_try_set(const char *words);

/* The value of @key in what the agent's --state command prints about the
 * connection whose TCP port at our end is @port: lines of `key value`. Return:
 * false when there is none; skips the test when there is no such command. */
bool agent_state(uint16_t port, const char *key, char *value, size_t size);

/* the device's hardware counter (rdma statistic); skips the test if there is none */
uint64_t agent_counter(const char *name);

/* ---- memory: 4096-aligned, filled with AGENT_FILL; PD 0 is the QPs', PD 1 is not */

#define AGENT_FILL	0xa5

struct agent_mr {
	int id;
	uint32_t rkey;
	uint64_t va;
	size_t len;
	bool sink;	/* has the remote write right */
};

/* @access: letters l (local write), r (remote read), w (remote write), a (atomic),
 * b (windows may be bound) */
struct agent_mr agent_mr(size_t len, const char *access);
struct agent_mr agent_mr_pd(size_t len, const char *access, int pd);
void agent_dereg(const struct agent_mr *mr);
void agent_peek(const struct agent_mr *mr, size_t at, void *buf, size_t len);
void agent_poke(const struct agent_mr *mr, size_t at, const void *buf, size_t len);
/* leave the test unless all of it is AGENT_FILL: nothing was placed */
void expect_untouched(const struct agent_mr *mr);
void expect_memory(const struct agent_mr *mr, size_t at, const void *want, size_t len);

/* ---- connections ---- */

/* depths and limits of the QPs that are made from here on (default: 16 sends, 16
 * receives, 4 elements, IRD 8, ORD 8, no SRQ) */
struct agent_qp {
	int send_depth;
	int recv_depth;
	int ird;
	int ord;
	int srq;	/* depth of the shared receive queue, or 0; there is one, and the
			 * first connection that has it says how deep it is */
};

#define AGENT_QP_DEFAULT { .send_depth = 16, .recv_depth = 16, .ird = 8, .ord = 8 }

/* listen on the device's address; Return: the TCP port */
uint16_t agent_listen(void);

struct agent_event {
	char name[32];		/* RDMA_CM_EVENT_ without that, "CONNECT_REQUEST" */
	int conn;		/* connection, >= 0 */
	int status;
	int ird;		/* responder_resources of the event's conn_param */
	int ord;		/* initiator_depth */
	int pd_len;
	uint8_t pd[256];
};

/* next rdma_cm event within @ms; Return: false when none came */
bool agent_event(struct agent_event *ev, int ms);

/* leave the test unless the next event, within the usual time, is @name */
void agent_expect_event(const char *name, struct agent_event *ev);
/* leave the test if any event comes within @ms */
void agent_expect_no_event(int ms);

/* start to connect to our address, @port; Return: the connection. Its QP is made
 * first. Does not wait for the outcome: agent_event(). */
int agent_connect(uint16_t port, const struct agent_qp *qp, const void *pd,
		  size_t pd_len);

/* accept a CONNECT_REQUEST; makes the QP; does not wait for ESTABLISHED */
void agent_accept(int conn, const struct agent_qp *qp, const void *pd, size_t pd_len);
/* Return: errno of the call, 0 when it worked */
int agent_try_accept(int conn, const struct agent_qp *qp, const void *pd,
		     size_t pd_len);
void agent_reject(int conn, const void *pd, size_t pd_len);
void agent_disconnect(int conn);
void agent_destroy(int conn);

/* "RESET" "INIT" "RTR" "RTS" "SQD" "SQE" "ERR" */
const char *agent_qp_state(int conn);
void agent_qp_error(int conn);		/* modify to ERR */

/* an SRQ_LIMIT_REACHED when fewer receives than @n are in the shared queue */
void agent_srq_limit(int n);

/* next ibv async event within @ms: its name without IBV_EVENT_ ("QP_FATAL"), or NULL */
const char *agent_async(int *conn, int ms);

/* ---- work requests and completions ---- */

/* The memory of a Read, its sink, has to have the remote write right: iWARP devices may
 * ask for it, whose sink STag is that of the region. */
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
/* Return: errno of the call, 0 when it worked */
int agent_try_post(int conn, uint64_t wr_id, enum agent_op op, unsigned int flags,
		   const struct agent_mr *mr, size_t at, size_t len, uint32_t rkey,
		   uint64_t raddr);

/* Bind a window of @type (2: to @conn's stream, 1: to its protection domain) to a
 * range of @mr, and wait for it; @access: letters r, w. Return: its STag. Skips the
 * test when the device has no windows. */
uint32_t agent_bind(int conn, int type, const struct agent_mr *mr, size_t at,
		    size_t len, const char *access);

struct agent_wc {
	uint64_t wr_id;
	char status[32];	/* IBV_WC_ without that: "SUCCESS", "WR_FLUSH_ERR" */
	char opcode[32];	/* "SEND" "RDMA_READ" "RECV" ..., valid if SUCCESS */
	uint32_t byte_len;
	uint32_t wc_flags;	/* enum ibv_wc_flags */
	uint32_t invalidated;	/* STag */
	int conn;
};

/* next completion within @ms; Return: false when none came */
bool agent_poll(struct agent_wc *wc, int ms);
/* leave the test unless the next completion is of @wr_id with @status */
void agent_expect_wc(uint64_t wr_id, const char *status, struct agent_wc *wc);
void agent_expect_no_wc(int ms);

/* arm the CQ (solicited only or not), and: did its event come within @ms? */
void agent_arm(bool solicited);
bool agent_cq_event(int ms);

#endif /* AGENT_H */
