/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Two connected ends in one process, a in netns a and b in netns b, and functions for
 * tests of verbs: post, expect a completion.
 */
#ifndef VERBS_PAIR_H
#define VERBS_PAIR_H

#include "conn.h"
#include "tap.h"

extern struct end a, b;		/* client and server of the test that runs */
extern bool over_siw;		/* the device is siw's, some of whose bugs are known */

/* the lab's checked kernel, which is slow */
bool is_checked(void);

/* the lab's own kernel, whose memory the host maps */
bool is_uml(void);

/* the test ends here unless the kernel is the lab's own, which has tools/upstream/mends */
void need_mended_core(void);

#define IP_A getenv("IP_A")
#define IP_B getenv("IP_B")
#define IP6_A getenv("IP6_A")
#define IP6_B getenv("IP6_B")

/* all attributes that every kernel accepts in ibv_query_qp() */
#define ALL_ATTRS (IBV_QP_RATE_LIMIT - 1)

/* a TCP port; each test has 50 of its own, in turn */
int new_port(void);

/* connect @x at @from to @y, which listens at @to; @wx or @wy NULL: defaults */
void connect_ends(struct end *x, struct end *y, const char *from,
		  const char *to, const struct want *wx, const struct want *wy);

/* run a line of a shell, or the test ends */
void must_run(const char *line);

/* apply settings, in the tool's syntax, to the device of "a" or "b" */
void set_device(const char *host, const char *settings);

/* what "a" or "b" sends is as bad as netem makes it, until mend() */
void impair(const char *host, const char *netem);
void mend(const char *host);

/* of the monotonic clock */
long long now_us(void);

/* a counter of the device's port, or -1 where the device is gone */
long long read_counter(const char *device, const char *name);

/* a and b */
void pair_up(const struct want *wa, const struct want *wb);
void pair_up6(void);
void pair_down(void);

/*
 * A second connection between a's and b's device, which replaces an earlier second one;
 * b2 shares b's PD and memory. another_down() ends it and the pair.
 */
extern struct end a2, b2;
void another(void);
void another_down(void);

/* build end a without connecting it: its id has resolved an address, so it has a device */
void solo_up(const struct want *want);

/* ---- posting: ranges of the end's buffer --------------------------------- */

struct ibv_sge sge_at(const struct end *e, size_t off, uint32_t len);
int try_send(struct end *e, struct ibv_send_wr *wr);
void post(struct end *e, struct ibv_send_wr *wr);
void post_recv(struct end *e, uint64_t id, size_t off, uint32_t len);
void post_recv_sge(struct end *e, uint64_t id, struct ibv_sge *sge, int n);
void post_send(struct end *e, uint64_t id, size_t off, uint32_t len, int flags);
/* Write or Read; the peer's range starts at offset @at of its buffer */
void post_rdma(struct end *e, const struct end *peer, enum ibv_wr_opcode op,
	       uint64_t id, size_t off, uint32_t len, size_t at, int flags);

/* ---- completions --------------------------------------------------------- */

/* the next completion of @cq, or the test ends */
struct ibv_wc next_wc(struct ibv_cq *cq);
/* Return: no completion comes for a while */
bool no_wc(struct ibv_cq *cq);
void expect_wc(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status);

/* ---- the peer's memory, by its advertised key and address ----------------- */

/* a Terminate's triplet as vendor_err has it */
#define TERM(layer, etype, code) ((layer) << 12 | (etype) << 8 | (code))

/* a signalled request whose id is its opcode */
void post_at(struct end *e, enum ibv_wr_opcode op, uint32_t rkey, uint64_t addr,
	     struct ibv_sge sge);
/* @n unsignalled Writes of @e's first @len bytes, without waiting */
void post_writes(struct end *e, int n, uint32_t len, uint32_t rkey,
		 uint64_t addr);
/* check that @e can write to this memory and read it back */
void expect_reach(struct end *e, uint32_t rkey, uint64_t addr, uint32_t len);
/* check that @e's access ends the stream with Terminate @term */
void expect_no_read(struct end *e, uint32_t rkey, uint64_t addr, uint32_t term);
void expect_no_write(struct end *e, uint32_t rkey, uint64_t addr,
		     uint32_t term);
/* the next receive completion has @id, length @len and opcode RECV */
void expect_recv(struct end *e, uint64_t id, uint32_t len);
/* check that the QP moves to ERROR within patience_ms() */
void expect_error_state(struct end *e);
enum ibv_qp_state state_of(struct end *e);
/* wait up to @ms for a completion event of a CQ of @e, and acknowledge it */
bool got_event(struct end *e, int ms);
/* check that @e's device raises an async event of this type */
void expect_async(struct end *e, enum ibv_event_type type);
void drop_async(struct end *e);

/* ---- payload -------------------------------------------------------------- */

void fill(uint8_t *p, size_t len, uint32_t seed);
bool filled(const uint8_t *p, size_t len, uint32_t seed);
bool all_are(const uint8_t *p, size_t len, uint8_t value);

/* tables of tests */
extern const struct tap_theme data_theme, queue_theme, rights_theme, limit_theme;
extern const struct tap_theme answer_theme, mapper_theme, cm_theme, mr_theme, dmabuf_theme,
	mw_theme, mw_rights_theme, charge_theme, grace_theme, cut_theme, fallback_theme,
	hole_theme, idle_theme;

#endif /* VERBS_PAIR_H */
