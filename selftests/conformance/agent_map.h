/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The iWARP port mapper of the device's host (rdma-core's iwpmd). A device whose ports
 * are not those of the host's TCP listens at another port than the program asked for;
 * the mapper tells the peer which.
 */
#ifndef AGENT_MAP_H
#define AGENT_MAP_H

#include <stdint.h>
#include <sys/socket.h>

/* Return: the TCP port, in host order, at which the device listens for @addr and its
 * port; the same port when no mapper answers or it has no mapping */
uint16_t map_port(const struct sockaddr_storage *addr);

#endif /* AGENT_MAP_H */
