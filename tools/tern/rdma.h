/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The RDMA core's netlink: links, owners of QPs, counters. */
#ifndef TERN_TOOL_RDMA_H
#define TERN_TOOL_RDMA_H

#include <stdint.h>

/* add a link of type tern; the kernel loads the module. Return: 0 or a negative errno */
int rdma_link_add(const char *name, const char *netdev);

/* @index: the RDMA core's number of the device. Return: 0 or a negative errno */
int rdma_link_delete(uint32_t index);

/**
 * struct rdma_owner - of a QP
 * @qpn: its number
 * @pid: of its program, 0 for one that the caller cannot see, or the kernel
 * @user: name of the kernel's user, else ""
 */
struct rdma_owner {
	uint32_t qpn;
	uint32_t pid;
	char user[64];
};

/* call @each for each QP of a device; Return: 0 or a negative errno */
int rdma_qp_owners(uint32_t index, void (*each)(const struct rdma_owner *owner, void *arg),
		   void *arg);

/**
 * struct rdma_counter - of a port
 * @name: as rdma-statistic(8) shows it
 * @value: so far
 */
struct rdma_counter {
	char name[48];
	uint64_t value;
};

/* call @each for each counter of a device's port; Return: 0 or a negative errno */
int rdma_port_counters(uint32_t index,
		       void (*each)(const struct rdma_counter *counter, void *arg), void *arg);

#endif /* TERN_TOOL_RDMA_H */
