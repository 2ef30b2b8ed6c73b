/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A QP whose rings the test may abuse, beside a pair that must not notice. */
#ifndef VERBS_VANDAL_H
#define VERBS_VANDAL_H

#include "pair.h"
#include "tern-abi.h"

#define ENTRIES 16		/* of the vandal's SQ and RQ */
#define CQ_ENTRIES 256

extern struct end v, w;		/* the vandal, of a's device, and its peer */
extern struct tern_ring_hdr *scq, *rcq, *sq, *rq;
extern uint32_t sq_stride, rq_stride;

/* the pair a and b, v and w, and v's rings found */
void vandal_up(void);
/* the pair still works, before and after v is gone */
void vandal_down(void);
/* v is in ERROR, its peer learns it; vandal_down() */
void expect_caught(void);
void expect_unharmed(void);

/* after its CQ was resized to @cqe entries: find @scq once more */
void refind_scq(uint32_t cqe);

struct tern_sqe *sqe_at(uint32_t index);
struct tern_rqe *rqe_at(uint32_t index);
/* store the producer index, and ring */
void publish(struct tern_ring_hdr *hdr, uint32_t prod);
/* bytes of a mapping */
size_t ring_bytes(uint32_t n, uint32_t stride);

/* the provider's doorbell file */
int doorbell_fd(void);
/* 0 or an errno */
int ring(uint32_t qpn);

#endif /* VERBS_VANDAL_H */
