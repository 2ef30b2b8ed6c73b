// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* A device's table of operations, its creation and its end. */
#include "ops.h"

#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "cm/ceps.h"
#include "cm/cm.h"
#include "cm/conn.h"
#include "cm/crowd.h"
#include "device/device.h"
#include "device/perf.h"
#include "mem/stags.h"
#include "queue/cq.h"
#include "queue/srq.h"
#include "stream/table.h"
#include "uapi/rdma/tern-abi.h"
#include "verbs/counter.h"
#include "verbs/cq.h"
#include "verbs/doorbell.h"
#include "verbs/mr.h"
#include "verbs/mw.h"
#include "verbs/pd.h"
#include "verbs/qp.h"
#include "verbs/restrack.h"
#include "verbs/srq.h"
#include "verbs/ucontext.h"

/* ---- operations -------------------------------------------------------------- */

static void qp_add_ref(struct ib_qp *ibqp)
{
	tern_stream_get(tern_stream_of(ibqp));
}

static void qp_rem_ref(struct ib_qp *ibqp)
{
	tern_stream_put(tern_stream_of(ibqp));
}

/*
 * The number may come from a program, and the QP be another's: the id is not
 * passed here, and cm.c checks whether it may use the QP. The caller gets no
 * reference. But iw_cm holds a spinlock, interrupts off, from before this call
 * until it has taken its own reference. tern_destroy_qp() erases the number and
 * waits for a grace period, and so for iw_cm, before it drops the first
 * reference.
 */
static struct ib_qp *qp_get(struct ib_device *ibdev, int qpn)
{
	struct tern_stream *s = tern_stream_find(&to_tern_dev(ibdev)->streams,
						 qpn);

	if (!s)
		return NULL;
	tern_stream_put(s);
	return &tern_qp_of(s)->ibqp;
}

static int counter_bind_qp(struct rdma_counter *counter, TERN_COUNTER_QP)
{
	return tern_counter_bind_qp(counter, ibqp);
}

static int counter_unbind_qp(TERN_COUNTER_QP)
{
	return tern_counter_unbind_qp(ibqp);
}

/* it is new, or moves to another netns: before all clients, in the task that adds them */
static int enable_driver(struct ib_device *ibdev)
{
	struct tern_device *dev = to_tern_dev(ibdev);

	WRITE_ONCE(dev->registrar, current);
	tern_ceps_let_in(dev);
	return 0;
}

/* no one uses the device any more, but endpoints may still linger in a close */
static void dealloc_driver(struct ib_device *ibdev)
{
	struct tern_device *dev = to_tern_dev(ibdev);

	tern_cep_abort_device(dev);
	tern_stream_table_exit(&dev->streams);
	xa_destroy(&dev->ceps);
	tern_counters_exit(dev);
	tern_crowd_exit(dev);
	tern_conn_exit(dev);
	tern_mem_table_exit(&dev->mem);
	free_percpu(dev->stats);
}

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.uverbs_abi_ver = TERN_ABI_VERSION,
	.driver_id = (enum rdma_driver_id)TERN_DRIVER_ID,

	.alloc_mr = tern_alloc_mr,
	.alloc_mw = tern_alloc_mw,
	.alloc_pd = tern_alloc_pd,
	.alloc_ucontext = tern_alloc_ucontext,
	.counter_alloc_stats = tern_counter_alloc_stats,
	.counter_bind_qp = counter_bind_qp,
	.counter_dealloc = tern_counter_dealloc,
	.counter_unbind_qp = counter_unbind_qp,
	.counter_update_stats = tern_counter_update_stats,
	TERN_COUNTER_INIT_OPS
	.create_cq = tern_create_cq,
	.create_qp = tern_create_qp,
	.create_srq = tern_create_srq,
	.dealloc_driver = dealloc_driver,
	.dealloc_mw = tern_dealloc_mw,
	.dealloc_pd = tern_dealloc_pd,
	.dealloc_ucontext = tern_dealloc_ucontext,
	.dereg_mr = tern_dereg_mr,
	.destroy_cq = tern_destroy_cq,
	.destroy_qp = tern_destroy_qp,
	.destroy_srq = tern_destroy_srq,
	.disassociate_ucontext = tern_disassociate_ucontext,
	.enable_driver = enable_driver,
	.fill_res_cq_entry = tern_fill_res_cq,
	.fill_res_mr_entry = tern_fill_res_mr,
	.fill_res_qp_entry = tern_fill_res_qp,
	.fill_res_srq_entry = tern_fill_res_srq,
	.get_dma_mr = tern_get_dma_mr,
	.iw_accept = tern_cm_accept,
	.iw_add_ref = qp_add_ref,
	.iw_connect = tern_cm_connect,
	.iw_create_listen = tern_cm_create_listen,
	.iw_destroy_listen = tern_cm_destroy_listen,
	.iw_get_qp = qp_get,
	.iw_reject = tern_cm_reject,
	.iw_rem_ref = qp_rem_ref,
	.map_mr_sg = tern_map_mr_sg,
	.mmap = tern_queue_mmap,
	.mmap_free = tern_queue_mmap_free,
	.modify_cq = tern_modify_cq,
	.modify_qp = tern_modify_qp,
	.modify_srq = tern_modify_srq,
	.poll_cq = tern_poll_cq,
	.post_recv = tern_post_recv,
	.post_send = tern_post_send,
	.post_srq_recv = tern_post_srq_recv,
	.process_mad = tern_process_mad,
	.query_qp = tern_query_qp,
	.query_srq = tern_query_srq,
	.reg_user_mr = tern_reg_user_mr,
	.reg_user_mr_dmabuf = tern_reg_user_mr_dmabuf,
	.req_notify_cq = tern_req_notify_cq,
	.TERN_RESIZE_CQ_OP = tern_resize_cq,
	.rereg_user_mr = tern_rereg_user_mr,

	INIT_RDMA_OBJ_SIZE(ib_cq, tern_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, tern_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, tern_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, tern_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, tern_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, tern_ucontext, ibctx),
};

/* ---- life ---------------------------------------------------------------------- */

static void init_ibdev(struct ib_device *ibdev, struct net_device *netdev)
{
	ibdev->node_type = RDMA_NODE_RNIC;
	ibdev->node_guid = tern_device_guid(netdev);
	strscpy(ibdev->node_desc, "tern software RNIC");
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	strscpy(ibdev->iw_ifname, netdev->name);
	/* enum tern_cq_arm says when a program calls it */
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	ibdev->driver_def = tern_uapi_defs;
}

/* dealloc_driver() undoes this */
static int init_device(struct tern_device *dev, struct net_device *netdev)
{
	int ret;

	dev->netdev = netdev;
	dev->port_up = netif_running(netdev) && netif_carrier_ok(netdev);
	tern_settings_init(&dev->settings);
	tern_stream_table_init(&dev->streams);
	xa_init(&dev->ceps);
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	init_ibdev(&dev->ibdev, netdev);
	tern_device_set_gid(dev);
	ret = tern_mem_table_init(&dev->mem);
	if (ret)
		return ret;
	ret = tern_conn_init(dev);
	if (ret)
		goto err_mem;
	ret = tern_crowd_init(dev);
	if (ret)
		goto err_conn;
	dev->stats = alloc_percpu(struct tern_stats);
	if (!dev->stats) {
		ret = -ENOMEM;
		goto err_crowd;
	}
	ib_set_device_ops(&dev->ibdev, &device_ops);
	ib_set_device_ops(&dev->ibdev, &tern_device_attr_ops);
	return 0;

err_crowd:
	tern_crowd_exit(dev);
err_conn:
	tern_conn_exit(dev);
err_mem:
	tern_mem_table_exit(&dev->mem);
	return ret;
}

/* rdma-core's udev rule renames devices, but not those that a user has named */
static int register_device(struct tern_device *dev, const char *name)
{
	int ret;

	ib_mark_name_assigned_by_user(&dev->ibdev);
	ret = ib_device_set_netdev(&dev->ibdev, dev->netdev, 1);
	if (!ret)
		ret = ib_register_device(&dev->ibdev, name, NULL);
	/* the core returns -ENFILE when the name is in use */
	return ret == -ENFILE ? -EEXIST : ret;
}

static int create_in(struct net *net, const char *name,
		     struct net_device *netdev)
{
	struct tern_device *dev;
	int ret;

	dev = ib_alloc_device_with_net(tern_device, ibdev, net);
	if (!dev)
		return -ENOMEM;
	ret = init_device(dev, netdev);
	if (!ret)
		ret = register_device(dev, name);
	if (ret)
		ib_dealloc_device(&dev->ibdev);
	return ret;
}

/* hold the netns until the device is registered: the netdev may leave it */
int tern_device_create(const char *name, struct net_device *netdev)
{
	struct net *net;
	int ret;

	rcu_read_lock();
	net = maybe_get_net(dev_net(netdev));
	rcu_read_unlock();
	if (!net)
		return -ENODEV;
	ret = create_in(net, name, netdev);
	put_net(net);
	return ret;
}
