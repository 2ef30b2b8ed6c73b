/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What rdma_cm's id tells about an iw_cm id: its netns, its VRF, and its QPs. */
#ifndef TERN_RDMA_ID_H
#define TERN_RDMA_ID_H

#include <rdma/iw_cm.h>

struct net;
struct tern_sock_options;
struct tern_stream;

/* the netns of the id, which holds it, or NULL; Context: any */
struct net *tern_rdma_id_net(const struct iw_cm_id *iw);

/*
 * True if the netdev of the id's device is in the id's netns now. It may leave
 * later, so open sockets in tern_rdma_id_net(), never in the netns of the
 * netdev.
 * Context: any.
 */
bool tern_rdma_id_is_local(const struct iw_cm_id *iw);

/*
 * True if both ids, which listen at the wildcard address, are of one server: rdma_cm makes
 * such an id on each device.
 * Context: any.
 */
bool tern_rdma_id_same_server(const struct iw_cm_id *a, const struct iw_cm_id *b);

/* TOS and VRF of the socket of an id that connects or listens; Context: any */
void tern_rdma_id_sock_options(const struct iw_cm_id *iw,
			       struct tern_sock_options *options);

/**
 * tern_rdma_id_may_have() - whether a connection of the id may use a QP
 * @iw: the id that connects or accepts
 * @s: stream of the QP that the user named by number; the caller has a reference
 *
 * A kernel user's id may use its own QP and no other. A program's id may use
 * the QPs of a context whose uverbs file the program has open.
 *
 * Context: process, from connect or accept, may sleep.
 */
bool tern_rdma_id_may_have(const struct iw_cm_id *iw,
			   const struct tern_stream *s);

#endif /* TERN_RDMA_ID_H */
