/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Terminates octet for octet: what the device must send for an offender, and the
 * pieces of it that more than one group of tests needs.
 */
#ifndef TERMINATE_H
#define TERMINATE_H

#include "session.h"

/* layer, error type and code as one number */
#define TRIPLET(layer, etype, code)	((layer) << 12 | (etype) << 8 | (code))
#define NO_TRIPLET			(-1)

#define TRIPLET_LAYER(t)	((t) >> 12)
#define TRIPLET_ETYPE(t)	((t) >> 8 & 0xf)
#define TRIPLET_CODE(t)		((t) & 0xff)

/* an STag that no device has made for us */
#define WILD_STAG	0x5bd1e995

/* bits of the third octet of a Terminate's body */
#define HDRCT_M		0x80
#define HDRCT_D		0x40
#define HDRCT_R		0x20

/**
 * struct terminate - one that the device sent, copied
 * @ulpdu: the DDP segment
 * @len: its octets
 * @triplet: TRIPLET()
 */
struct terminate {
	uint8_t ulpdu[TERM_MAX];
	uint32_t len;
	int triplet;
};

/* The device's Terminate; messages in front of it are skipped if @skip_others.
 * Leaves the test when something else comes, or its DDP header is wrong. */
void recv_terminate(struct peer *p, bool skip_others, struct terminate *t);

/* The next FPDU is the Terminate @triplet (or @alt, if that is none of NO_TRIPLET)
 * with the copies that belong to it when @offender, @len octets, is the DDP segment
 * at fault; NULL when none is. Does not look at what follows. */
void expect_terminate_for(struct peer *p, int triplet, int alt,
			  const void *offender, uint32_t len);

/* the same for one that was received already */
void check_terminate(const struct peer *p, const struct terminate *t, int triplet,
		     int alt, const void *offender, uint32_t len);

/* a Write that no device can place: Return: octets at @out */
uint32_t seg_wild_write(struct peer *p, void *out);

/* A connection whose device cannot get rid of a Read Response of STUCK_LEN octets,
 * because we do not read; Return: its source. TCP's buffers grow only while octets
 * flow, so this is many times what they hold; a small receive buffer of ours would
 * make the rest of the test crawl. */
#define STUCK_LEN	(2 << 20)
struct agent_mr session_stuck(struct session *s);

/* the device's Read Request: expects it as the next FPDU */
struct open_read {
	uint32_t msn;
	uint32_t stag;
	uint64_t to;
	uint32_t size;
	uint8_t ulpdu[READ_REQ_LEN];
};

struct open_read expect_read_request(struct peer *p);

/* completions that must come, in whatever order; a row without a status ends them;
 * at most 32 */
struct want_wc {
	uint64_t wr_id;
	const char *status;
};

void expect_wcs(const struct want_wc *want);

/* the QP ends in ERR and rdma_cm says that the connection is over */
void expect_qp_ended(int conn);

/* is @want, of @conn's QP, among the async events within the usual time? */
void expect_async(int conn, const char *want);

#endif /* TERMINATE_H */
