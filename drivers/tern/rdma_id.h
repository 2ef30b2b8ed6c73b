/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What rdma_cm's id says of an iw_cm id: its netns, and which QP it may have. */
#ifndef TERN_RDMA_ID_H
#define TERN_RDMA_ID_H

#include <rdma/iw_cm.h>

struct net;
struct tern_qp;

/* the netns of the id, which holds it, or NULL; Context: any */
struct net *tern_rdma_id_net(const struct iw_cm_id *iw);

/*
 * The netdev below the id's device is in the id's netns now. It may leave later,
 * so a socket is opened in tern_rdma_id_net(), and never in that of the netdev.
 * Context: any.
 */
bool tern_rdma_id_is_local(const struct iw_cm_id *iw);

/**
 * tern_rdma_id_may_have() - whether a connection of the id may use a QP
 * @iw: the id that connects or accepts
 * @qp: what its user named by its number; the caller has a reference
 *
 * A kernel user's id may have its own QP and no other. A program's id may have
 * the QPs of a context whose uverbs file the program has open.
 *
 * Context: process, in iw_cm's call of connect or accept, may sleep.
 */
bool tern_rdma_id_may_have(const struct iw_cm_id *iw, const struct tern_qp *qp);

#endif /* TERN_RDMA_ID_H */
