/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Terminates byte for byte: what the device must send for an offending segment, and
 * the steps that several groups of tests share.
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

/* an STag that the device has not created for us */
#define WILD_STAG	0x5bd1e995

/* the header control bits M, D and R, in the third byte of a Terminate's body */
#define HDRCT_M		0x80
#define HDRCT_D		0x40
#define HDRCT_R		0x20

/**
 * struct terminate - a copy of a Terminate that the device sent
 * @ulpdu: the DDP segment
 * @len: its length in bytes
 * @triplet: TRIPLET()
 */
struct terminate {
	uint8_t ulpdu[TERM_MAX];
	uint32_t len;
	int triplet;
};

/* Receive the device's Terminate; messages before it are skipped if @skip_others.
 * Leaves the test when something else comes, or its DDP header is wrong. */
void recv_terminate(struct peer *p, bool skip_others, struct terminate *t);

/* The next FPDU is the Terminate @triplet, or @alt unless that is NO_TRIPLET, with the
 * copies that it needs. @offender of @len bytes is the DDP segment at fault, or NULL.
 * Does not check what follows. */
void must_get_terminate_for(struct peer *p, int triplet, int alt,
			    const void *offender, uint32_t len);

/* the same for a Terminate that was received already */
void check_terminate(const struct peer *p, const struct terminate *t, int triplet,
		     int alt, const void *offender, uint32_t len);

/* a Write that no device can place; Return: bytes at @out */
uint32_t seg_wild_write(struct peer *p, void *out);

/* A connection whose device cannot send all of a Read Response of STUCK_LEN bytes,
 * since we do not read; Return: the Response's source. TCP's buffers grow only while
 * data flows, so this is many times what they hold; a small receive buffer of ours
 * would make the rest of the test slow. */
#define STUCK_LEN	(2 << 20)
struct agent_mr session_stuck(struct session *s);

/* the device's Read Request; must_get_read_request() takes it as the next FPDU */
struct open_read {
	uint32_t msn;
	uint32_t stag;
	uint64_t to;
	uint32_t size;
	uint8_t ulpdu[READ_REQ_LEN];
};

struct open_read must_get_read_request(struct peer *p);

/* these completions must come, in any order; a row without a status ends them; at most
 * 32 */
struct want_wc {
	uint64_t wr_id;
	const char *status;
};

void must_get_wcs(const struct want_wc *want);

/* the QP ends in ERR, and rdma_cm reports the end of the connection */
void must_have_ended_qp(int conn);

/* @want, for @conn's QP, is among the async events within the usual time */
void must_get_async(int conn, const char *want);

#endif /* TERMINATE_H */
