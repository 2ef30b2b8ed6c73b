// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The device as the RDMA core sees it: attributes, table of operations,
 * creation and end.
 */
#include "device.h"

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "cep.h"
#include "cm.h"
#include "conn.h"
#include "cq.h"
#include "cq_ring.h"
#include "crowd.h"
#include "doorbell.h"
#include "mr.h"
#include "mw.h"
#include "pd.h"
#include "qp.h"
#include "restrack.h"
#include "srq.h"
#include "srq_ring.h"
#include "table.h"
#include "ucontext.h"

/* ---- attributes ------------------------------------------------------------ */

/* "trn": there is no hardware vendor, and 0 would read as an unset field */
#define TERN_VENDOR_ID	0x74726e

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	/* newer cores pass NULL when they register the device */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	*attr = (struct ib_device_attr) {
		.fw_ver = (u64)TERN_VERSION_MAJOR << 32 |
			  TERN_VERSION_MINOR << 16,
		.sys_image_guid = ibdev->node_guid,
		.vendor_id = TERN_VENDOR_ID,
		.max_mr_size = TERN_MAX_MR_SIZE,
		.page_size_cap = PAGE_SIZE,
		.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG,
		.max_qp = TERN_MAX_QP,
		.max_qp_wr = TERN_MAX_QP_WR,
		.max_send_sge = TERN_MAX_SGE,
		.max_recv_sge = TERN_MAX_SGE,
		.max_sge_rd = TERN_MAX_SGE,
		.max_cq = TERN_MAX_CQ,
		.max_cqe = TERN_MAX_CQE,
		.max_mr = TERN_MAX_MR,
		.max_mw = TERN_MAX_MW,
		.max_pd = TERN_MAX_PD,
		.max_qp_rd_atom = TERN_MAX_RD_ATOM,
		.max_qp_init_rd_atom = TERN_MAX_RD_ATOM,
		.max_res_rd_atom = TERN_MAX_RD_ATOM * TERN_MAX_QP,
		.atomic_cap = IB_ATOMIC_NONE,
		.masked_atomic_cap = IB_ATOMIC_NONE,
		.max_srq = TERN_MAX_SRQ,
		.max_srq_wr = TERN_MAX_SRQ_WR,
		.max_srq_sge = TERN_MAX_SGE,
		.max_fast_reg_page_list_len = TERN_MAX_FR_PAGES,
		.max_pkeys = 1,
		/* struct tern_cqe: CLOCK_MONOTONIC in ns; the clock in kHz */
		.timestamp_mask = U64_MAX,
		.hca_core_clock = USEC_PER_SEC,
		.cq_caps.max_cq_moderation_count = TERN_MAX_CQ_HOLD,
		.cq_caps.max_cq_moderation_period = TERN_MAX_CQ_HOLD,
	};
	return 0;
}

/* ib_get_eth_speed() logs a warning for a netdev that reports no speed */
static void fill_speed(struct ib_device *ibdev, u32 port,
		       struct net_device *netdev, struct ib_port_attr *attr)
{
	const struct ethtool_ops *ops = netdev->ethtool_ops;

	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	if (ops && ops->get_link_ksettings)
		ib_get_eth_speed(ibdev, port, &attr->active_speed,
				 &attr->active_width);
}

static int query_port(struct ib_device *ibdev, u32 port,
		      struct ib_port_attr *attr)
{
	struct net_device *netdev = to_tern_dev(ibdev)->netdev;
	bool up = netif_running(netdev) && netif_carrier_ok(netdev);

	fill_speed(ibdev, port, netdev, attr);
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = U32_MAX;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

static int query_gid(struct ib_device *ibdev, u32 port, int index,
		     union ib_gid *gid)
{
	struct tern_device *dev = to_tern_dev(ibdev);

	if (index)
		return -EINVAL;
	spin_lock_bh(&dev->settings.lock);
	*gid = dev->gid;
	spin_unlock_bh(&dev->settings.lock);
	return 0;
}

/* iWARP has no partitions: report the default P_Key */
static int query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = 0xffff;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static void get_fw_str(struct ib_device *ibdev, char *str)
{
	/* three words, as in query_device() */
	strscpy(str, TERN_VERSION ".0", IB_FW_VERSION_NAME_MAX);
}

static struct rdma_hw_stats *alloc_hw_port_stats(struct ib_device *ibdev,
						 u32 port_num)
{
	return rdma_alloc_hw_stats_struct(tern_stat_descs,
					  ARRAY_SIZE(tern_stat_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
			u32 port_num, int index)
{
	const struct tern_device *dev = to_tern_dev(ibdev);
	enum tern_stat id;

	if (!port_num)
		return -EOPNOTSUPP;
	for (id = 0; id < TERN_STAT_COUNT; id++)
		stats->value[id] = tern_stat_sum(dev->stats, id);
	return TERN_STAT_COUNT;
}

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "0x0\n");
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "tern\n");
}
static DEVICE_ATTR_RO(hca_type);

static struct attribute *tern_attrs[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	NULL,
};

static const struct attribute_group attr_group = {
	.attrs = tern_attrs,
};

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

/* no one uses the device any more, but endpoints may still linger in a close */
static void dealloc_driver(struct ib_device *ibdev)
{
	struct tern_device *dev = to_tern_dev(ibdev);

	tern_cep_abort_device(dev);
	tern_stream_table_exit(&dev->streams);
	xa_destroy(&dev->ceps);
	tern_crowd_exit(dev);
	tern_conn_exit(dev);
	tern_mem_table_exit(&dev->mem);
	free_percpu(dev->stats);
}

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.uverbs_abi_ver = TERN_ABI_VERSION,
	.driver_id = (enum rdma_driver_id)TERN_DRIVER_ID,
	.device_group = &attr_group,

	.alloc_hw_port_stats = alloc_hw_port_stats,
	.alloc_mr = tern_alloc_mr,
	.alloc_mw = tern_alloc_mw,
	.alloc_pd = tern_alloc_pd,
	.alloc_ucontext = tern_alloc_ucontext,
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
	.fill_res_cq_entry = tern_fill_res_cq,
	.fill_res_mr_entry = tern_fill_res_mr,
	.fill_res_qp_entry = tern_fill_res_qp,
	.fill_res_srq_entry = tern_fill_res_srq,
	.get_dev_fw_str = get_fw_str,
	.get_dma_mr = tern_get_dma_mr,
	.get_hw_stats = get_hw_stats,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
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
	.query_device = query_device,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_port = query_port,
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

/* loopback and tunnels have no MAC address */
static bool has_mac(const struct net_device *netdev)
{
	return netdev->addr_len == ETH_ALEN &&
	       is_valid_ether_addr(netdev->dev_addr);
}

static __be64 make_guid(const struct net_device *netdev)
{
	__be64 guid;

	if (has_mac(netdev))
		addrconf_addr_eui48((u8 *)&guid, netdev->dev_addr);
	else
		guid = (__force __be64)get_random_u64();
	/* 0 is no GUID: the "locally administered" bit alone takes its place */
	return guid ?: cpu_to_be64(0x02ULL << 56);
}

void tern_device_set_gid(struct tern_device *dev)
{
	union ib_gid gid = {};

	if (has_mac(dev->netdev))
		ether_addr_copy(gid.raw, dev->netdev->dev_addr);
	else
		gid.global.subnet_prefix = dev->ibdev.node_guid;
	gid.global.interface_id = dev->ibdev.node_guid;
	spin_lock_bh(&dev->settings.lock);
	dev->gid = gid;
	spin_unlock_bh(&dev->settings.lock);
}

static void init_ibdev(struct ib_device *ibdev, struct net_device *netdev)
{
	ibdev->node_type = RDMA_NODE_RNIC;
	ibdev->node_guid = make_guid(netdev);
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
	return 0;

err_crowd:
	tern_crowd_exit(dev);
err_conn:
	tern_conn_exit(dev);
err_mem:
	tern_mem_table_exit(&dev->mem);
	return ret;
}

static int register_device(struct tern_device *dev, const char *name)
{
	int ret;

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
