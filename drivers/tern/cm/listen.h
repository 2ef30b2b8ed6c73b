/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Listening. rdma_cm creates a wildcard listener on every device, so the
 * devices of one netns share TCP listeners, which are bound to no device. A
 * connection goes to the device that has its local address.
 */
#ifndef TERN_LISTEN_H
#define TERN_LISTEN_H

#include <rdma/iw_cm.h>

struct net;
struct sockaddr_storage;
struct tern_cep;
struct tern_listen_id;

int tern_listen_create(struct iw_cm_id *id, int backlog);
void tern_listen_destroy(struct iw_cm_id *id);

/* the id to report a request to; NULL once it is destroyed */
struct iw_cm_id *tern_listen_iw(struct tern_listen_id *lid);

/* tern_rdma_id_keeps() of the id; false once it is destroyed; Context: any */
bool tern_listen_keeps(struct tern_listen_id *lid, const struct sockaddr_storage *local);

/* the startup of @cep is decided: unlink it from its id; @cep->lock is held */
void tern_listen_leave(struct tern_cep *cep);

/* a netns ends: close its listeners; Context: process */
void tern_listen_abort_net(struct net *net);

int tern_listen_init(void);
/* no listener is left */
void tern_listen_exit(void);

#endif /* TERN_LISTEN_H */
