/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What rdma_cm's id says of an iw_cm id: its netns. */
#ifndef TERN_RDMA_ID_H
#define TERN_RDMA_ID_H

#include <rdma/iw_cm.h>

struct net;

/* the netns of the id, which holds it, or NULL; Context: any */
struct net *tern_rdma_id_net(const struct iw_cm_id *iw);

/*
 * The netdev below the id's device is in the id's netns now. It may leave later,
 * so a socket is opened in tern_rdma_id_net(), and never in that of the netdev.
 * Context: any.
 */
bool tern_rdma_id_is_local(const struct iw_cm_id *iw);

#endif /* TERN_RDMA_ID_H */
