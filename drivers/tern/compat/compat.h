/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The differences between kernel releases; Kbuild includes it before everything
 * else, and no other file knows them. TERN_HAVE_* come from Kbuild.probe. Each
 * entry names the interface as tern uses it; remove it with the last kernel
 * that needs it.
 */
#ifndef TERN_COMPAT_H
#define TERN_COMPAT_H

#include <linux/crc32c.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

/* reg_user_mr() and its dma-buf form take a DMA handle, which tern refuses */
#ifdef TERN_HAVE_DMAH
#define TERN_DMAH_PARAM		struct ib_dmah *dmah,
#define tern_dmah_given()	(!!dmah)
#else
#define TERN_DMAH_PARAM
#define tern_dmah_given()	false
#endif

/*
 * MODULE_IMPORT_NS() takes a string in newer kernels; the modinfo is the same
 */
#define TERN_IMPORT_NS(ns)	MODULE_INFO(import_ns, ns)

/* ib_umem_get() was renamed to ib_umem_get_va() */
#ifndef TERN_HAVE_UMEM_GET_VA
#define ib_umem_get_va(device, addr, size, access) \
	ib_umem_get(device, addr, size, access)
#endif

/*
 * In exclusive RDMA namespace mode a new link starts in its netdev's namespace,
 * or in init_net on kernels that cannot do that.
 */
#ifndef ib_alloc_device_with_net
#define ib_alloc_device_with_net(type, member, net) \
	((void)(net), ib_alloc_device(type, member))
#endif

/* newer cores report a port's state themselves, each change once */
static inline void tern_compat_port_event(struct ib_device *ibdev,
					  struct net_device *netdev, bool up)
{
#ifdef TERN_HAVE_PORT_STATE_EVENT
	ib_dispatch_port_state_event(ibdev, netdev);
#else
	struct ib_event event = {
		.device = ibdev,
		.element.port_num = 1,
		.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ib_dispatch_event(&event);
#endif
}

/* allocation by type; in older kernels the flags have no default */
#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp)	kzalloc(sizeof(obj), gfp)
#endif

/* newer kernels want per-CPU workqueues to be marked as such */
#ifndef TERN_HAVE_WQ_PERCPU
#define WQ_PERCPU		0
#endif

/* system_unbound_wq was renamed */
#ifndef TERN_HAVE_DFL_WQ
#define system_dfl_wq		system_unbound_wq
#endif

/* type of the address of kernel_bind() and kernel_connect() */
#ifdef TERN_HAVE_SOCKADDR_UNSIZED
#define tern_sockaddr(sa)	((struct sockaddr_unsized *)(sa))
#else
#define tern_sockaddr(sa)	((struct sockaddr *)(sa))
#endif

/* in newer kernels the method resizes CQs of programs only, with a new type */
#ifdef TERN_HAVE_RESIZE_USER_CQ
#define TERN_RESIZE_CQ_OP	resize_user_cq
#define TERN_RESIZE_CQE	unsigned int
#else
#define TERN_RESIZE_CQ_OP	resize_cq
#define TERN_RESIZE_CQE	int
#endif

/*
 * Newer cores name the port when a QP is bound to a counter, and let the driver say how large
 * the core's counter is, and begin it.
 */
#ifdef TERN_HAVE_COUNTER_INIT
#define TERN_COUNTER_QP		struct ib_qp *ibqp, u32 port
#define TERN_COUNTER_INIT_OPS	.counter_init = tern_counter_init, \
				.size_rdma_counter = sizeof(struct rdma_counter),
#else
#define TERN_COUNTER_QP		struct ib_qp *ibqp
#define TERN_COUNTER_INIT_OPS
#endif

/* newer kernels set up a timer in one call */
#ifndef TERN_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}
#endif

/*
 * Older kernels' crc32c() goes through the crypto API with a descriptor for any hash,
 * which it clears for each call: that costs more than the checksum of a small message.
 */
#ifdef TERN_HAVE_CRC32C_BY_SHASH
int tern_compat_init(void);
void tern_compat_exit(void);
u32 tern_compat_crc32c(u32 crc, const void *data, unsigned int len);
#define crc32c tern_compat_crc32c
#else
static inline int tern_compat_init(void)
{
	return 0;
}

static inline void tern_compat_exit(void)
{
}
#endif

#endif /* TERN_COMPAT_H */
