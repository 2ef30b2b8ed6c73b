/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A QP whose rings the test corrupts, beside a pair that must keep working. */
#ifndef VERBS_VANDAL_H
#define VERBS_VANDAL_H

#include "pair.h"
#include "tern-abi.h"

#define ENTRIES 16		/* in the vandal's SQ and RQ, unless a test wants more */
#define CQ_ENTRIES 256

extern struct end v, w;		/* the vandal, of a's device, and its peer */
extern struct tern_ring_hdr *scq, *rcq, *sq, *rq;
extern uint32_t sq_stride, rq_stride;

/* connect a and b, v and w, and find v's rings */
void vandal_up(void);
/* the same with that many entries in v's SQ, a power of two */
void vandal_up_with(uint32_t send_entries);
/* v without a peer, not connected; and its end */
void vandal_alone(uint32_t send_entries);
void vandal_alone_down(void);
/* check that the pair works, destroy v and w, and check it again */
void vandal_down(void);
/* check that v and its peer are in ERROR; then vandal_down() */
void expect_caught(void);
void expect_unharmed(void);

/* find @scq again after the CQ was resized to @cqe entries */
void refind_scq(uint32_t cqe);

struct tern_sqe *sqe_at(uint32_t index);
struct tern_rqe *rqe_at(uint32_t index);
/* store the producer index and ring the doorbell */
void publish(struct tern_ring_hdr *hdr, uint32_t prod);
/* size of a ring's mapping */
size_t ring_bytes(uint32_t n, uint32_t stride);

/* the provider's doorbell file */
int doorbell_fd(void);
/* ring the doorbell; Return: 0 or an errno */
int ring(uint32_t qpn);

#endif /* VERBS_VANDAL_H */
