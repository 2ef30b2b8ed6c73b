/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Peers that refused an enhanced Request and then answered a plain one (Q3, RFC
 * 6581 10): for 60 seconds the first Request to them is plain.
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
