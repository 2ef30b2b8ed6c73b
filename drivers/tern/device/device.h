/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A device: one RNIC on one netdev, and its limits. */
#ifndef TERN_DEVICE_H
#define TERN_DEVICE_H

#include <linux/netdevice.h>
#include <linux/stringify.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "mem/stags.h"
#include "observe/stats.h"
#include "stream/table.h"
#include "settings.h"

struct tern_conn_ring;
struct tern_crowd;

/**
 * struct tern_counter - what QPs count that the core's counter of this number is bound to
 * @stats: per CPU
 */
struct tern_counter {
	struct tern_stats __percpu *stats;
};

/**
 * struct tern_device - one RNIC on one netdev
 * @ibdev: the core's part
 * @netdev: the Ethernet (or any IP) device below; a reference is held through
 *	ib_device_set_netdev()
 * @gid: the one GID: its upper half is the MAC (or random where the netdev has
 *	none), its lower half the node GUID, which is never zero
 * @settings: settings; their lock guards @gid, too
 * @link: in the list of registered devices (devices.c)
 * @name: copy of the device's name, guarded by that list's lock
 * @port_up: last reported state of the port; under RTNL
 * @added: `rdma link add` has registered it
 * @registrar: the task that registered it, or moved it to another netns, last: to compare with,
 *	see is_registering()
 * @mem: STag table
 * @streams: those of its QPs
 * @stats: counters, per CPU; without those of QPs that are bound to one of @counters
 * @counters: struct tern_counter by the number of the core's counter
 * @past: what counters counted that are no more; under @counters' lock
 * @ceps: connection endpoints of this device by their numbers; its lock guards
 *	their removal, and @dev_aborted of each
 * @leaving: the device is removed: no endpoint is added any more; no lock
 * @ended: connections that ended recently, see conn.h
 * @crowd: endpoints without a QP, see crowd.h
 * @num_pd: PDs in use, for the limit
 * @num_mr: MRs in use
 * @num_mw: memory windows in use
 * @num_cq: CQs in use
 * @num_qp: QPs in use
 * @num_srq: SRQs in use
 * @num_ctx: contexts in use
 * @next_cqn: number of the newest CQ
 * @next_srqn: number of the newest SRQ
 */
struct tern_device {
	struct ib_device ibdev;
	struct net_device *netdev;
	union ib_gid gid;
	struct tern_device_settings settings;
	struct list_head link;
	char name[IB_DEVICE_NAME_MAX];
	bool port_up;
	bool added;
	struct task_struct *registrar;
	struct tern_mem_table mem;
	struct tern_stream_table streams;
	struct tern_stats __percpu *stats;
	struct xarray counters;
	struct tern_stats past;
	struct xarray ceps;
	bool leaving;
	struct tern_conn_ring *ended;
	struct tern_crowd *crowd;
	atomic_t num_pd;
	atomic_t num_mr;
	atomic_t num_mw;
	atomic_t num_cq;
	atomic_t num_qp;
	atomic_t num_srq;
	atomic_t num_ctx;
	atomic_t next_cqn;
	atomic_t next_srqn;
};

static inline struct tern_device *to_tern_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct tern_device, ibdev);
}

/* limits that query_device reports; each is enforced at creation */
#define TERN_MAX_QP		(64 * 1024)
#define TERN_MAX_QP_WR		(32 * 1024)
#define TERN_MAX_CQ		(128 * 1024)
#define TERN_MAX_CQE		(1024 * 1024)
#define TERN_MAX_SRQ		(16 * 1024)
#define TERN_MAX_SRQ_WR		(256 * 1024)
#define TERN_MAX_MR		(1024 * 1024)
#define TERN_MAX_MW		(1024 * 1024)
#define TERN_MAX_MR_SIZE	(512ULL << 30)
#define TERN_MAX_PD		(128 * 1024)
#define TERN_MAX_CTX		(64 * 1024)
#define TERN_MAX_RD_ATOM	128	/* IRD and ORD of a QP */
#define TERN_MAX_FR_PAGES	512	/* fast registration page list */

#define TERN_MAX_CQ_HOLD	U16_MAX	/* moderation: completions, microseconds */

#define TERN_VERSION_MAJOR	0
#define TERN_VERSION_MINOR	1
#define TERN_VERSION		__stringify(TERN_VERSION_MAJOR) "." \
				__stringify(TERN_VERSION_MINOR)

/* the part of the operations that reads attributes */
extern const struct ib_device_ops tern_device_attr_ops;

/* is the netdev in @net at the moment? It may move to another one */
bool tern_device_is_in(const struct tern_device *dev, const struct net *net);

/* node GUID: from the MAC address, or random where the netdev has none; never 0 */
__be64 tern_device_guid(const struct net_device *netdev);

/* derive the GID from the MAC address, at the start and when that changed */
void tern_device_set_gid(struct tern_device *dev);

/*
 * tern_device_tell_atomics() - the settings of extensions may have changed
 *
 * The core keeps the attributes of the registration, for kernel users and for
 * ibv_query_device(). Context: @dev->settings.lock held.
 */
void tern_device_tell_atomics(struct tern_device *dev);

/* a counter's value with what all QPs counted; Context: process */
u64 tern_device_stat(struct tern_device *dev, enum tern_stat id);

#endif /* TERN_DEVICE_H */
