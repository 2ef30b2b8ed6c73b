/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What rdma_cm's id tells about an iw_cm id: its netns, its VRF, and its QPs. */
#ifndef TERN_RDMA_ID_H
#define TERN_RDMA_ID_H

#include <rdma/iw_cm.h>

struct net;
struct sockaddr_storage;
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

/**
 * tern_rdma_id_set_port() - have rdma_cm try the device of an id that listens first
 * @iw: the id, at the start of listening
 *
 * rdma_cm gives no port to the ids that it makes for a wildcard server, one on each device. For
 * a request it then does not know the id's own device, and takes the first one that could have
 * the address: that of a trunk for a VLAN's, or another driver's at the same netdev.
 *
 * Context: process, in iw_create_listen.
 */
void tern_rdma_id_set_port(struct iw_cm_id *iw);

/**
 * tern_rdma_id_keeps() - whether rdma_cm will give a request to the device that took it
 * @iw: the id that listens
 * @local: address of the connection at this end
 *
 * For a request, rdma_cm looks for a device by the local address alone. If it finds another one,
 * as that of a netdev with the same address, it gives the request to that one, while iw_cm's
 * new id refers to @iw's device. Nothing tells rdma_cm then that this device goes, and its answer
 * would call into freed memory.
 *
 * Context: any; the id is not destroyed before the end. Return: false as well where it finds
 * none, and rdma_cm would drop the request.
 */
bool tern_rdma_id_keeps(const struct iw_cm_id *iw, const struct sockaddr_storage *local);

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
