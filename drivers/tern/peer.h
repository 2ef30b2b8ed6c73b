/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Peers that did not take an enhanced Request and then answered a plain one
 * (checklist-mpa 4.5): for a while they are asked plainly at once.
 */
#ifndef TERN_PEER_H
#define TERN_PEER_H

#include <linux/socket.h>
#include <linux/types.h>

struct net;

bool tern_peer_is_plain(const struct net *net,
			const struct sockaddr_storage *addr);
void tern_peer_set_plain(const struct net *net,
			 const struct sockaddr_storage *addr);

#endif /* TERN_PEER_H */
