/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The startup of a connection: TCP connect and the MPA exchange. Context: process,
 * @cep->lock is held, except in tern_startup_room() and tern_startup_side().
 */
#ifndef TERN_STARTUP_H
#define TERN_STARTUP_H

#include <linux/types.h>

#include "uapi/rdma/tern-abi.h"

struct tern_cep;
struct tern_mpa_msg;

/* what programs and netlink show of a frame; @msg: NULL when there is none */
struct tern_mpa_side tern_startup_side(const struct tern_mpa_msg *msg);

/*
 * Open a socket for @cep and start to connect. The caller looks on once the endpoint
 * is in CM_CONNECTING. Return: 0 or an error
 */
int tern_startup_connect(struct tern_cep *cep);

/* process what the socket has, by state; Return: true if a step was made */
bool tern_startup_look(struct tern_cep *cep);

/* until no step is left: also for what came before the callbacks did */
void tern_startup_look_on(struct tern_cep *cep);

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

#endif /* TERN_STARTUP_H */
