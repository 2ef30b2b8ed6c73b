/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The iWARP port mapper of the device's host (rdma-core's iwpmd): where a device has
 * ports of its own, not those of the host's TCP, it listens at another port than the
 * program asked for, and a peer learns from the mapper at which.
 */
#ifndef AGENT_MAP_H
#define AGENT_MAP_H

#include <stdint.h>
#include <sys/socket.h>

/* the TCP port, in host order, at which the device listens for @addr, which has its
 * port; the same one where no mapper answers, or it knows of no mapping */
uint16_t map_port(const struct sockaddr_storage *addr);

#endif /* AGENT_MAP_H */
