/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Local addresses of connections and listeners: IPv4 and IPv6, in network byte order.
 * Context: any.
 */
#ifndef TERN_CM_ADDR_H
#define TERN_CM_ADDR_H

#include <linux/socket.h>
#include <linux/types.h>

struct tern_device;

/* an address that belongs to no host */
bool tern_is_wildcard(const struct sockaddr_storage *addr);

bool tern_is_loopback(const struct sockaddr_storage *addr);

/* the netdev of @dev has the address, or is lo and that is a loopback address */
bool tern_owns_addr(const struct tern_device *dev, const struct sockaddr_storage *addr);

/* the same address and port, and in IPv6 the same scope */
bool tern_same_addr(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

#endif /* TERN_CM_ADDR_H */
