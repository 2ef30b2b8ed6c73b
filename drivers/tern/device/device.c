// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The device as data: its attributes, counters and addresses. */
#include "device.h"

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "uapi/rdma/tern-abi.h"

/* ---- attributes ------------------------------------------------------------ */

/* "trn": there is no hardware vendor, and 0 would read as an unset field */
#define TERN_VENDOR_ID	0x74726e

/* by the CPU's atomics: exact for accesses of all tern devices, and of programs */
static enum ib_atomic_cap atomic_cap(const struct tern_settings *s)
{
	return s->extensions == TERN_EXTENSIONS_OFF || !(s->features & TERN_FEATURE_7306) ?
		       IB_ATOMIC_NONE : IB_ATOMIC_GLOB;
}

void tern_device_tell_atomics(struct tern_device *dev)
{
	enum ib_atomic_cap cap = atomic_cap(&dev->settings.now);

	lockdep_assert_held(&dev->settings.lock);

	WRITE_ONCE(dev->ibdev.attrs.atomic_cap, cap);
	WRITE_ONCE(dev->ibdev.attrs.masked_atomic_cap, cap);
}

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct tern_settings settings;

	/* newer cores pass NULL when they register the device */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	tern_settings_get(&to_tern_dev(ibdev)->settings, &settings);
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
		.atomic_cap = atomic_cap(&settings),
		.masked_atomic_cap = atomic_cap(&settings),
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

/* A netdev that is about to go may have lost the one below it, which it would ask. */
static bool knows_speed(struct net_device *netdev)
{
	struct ethtool_link_ksettings settings;
	bool knows;

	rtnl_lock();
	knows = READ_ONCE(netdev->reg_state) == NETREG_REGISTERED &&
		!__ethtool_get_link_ksettings(netdev, &settings);
	rtnl_unlock();
	return knows;
}

/* ib_get_eth_speed() logs a warning for a netdev that reports no speed, each time */
static void fill_speed(struct ib_device *ibdev, u32 port,
		       struct net_device *netdev, struct ib_port_attr *attr)
{
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	if (knows_speed(netdev))
		ib_get_eth_speed(ibdev, port, &attr->active_speed,
				 &attr->active_width);
}

static int query_port(struct ib_device *ibdev, u32 port,
		      struct ib_port_attr *attr)
{
	/* a reader in sysfs may come after the core has put the device's reference */
	struct net_device *netdev = ib_device_get_netdev(ibdev, port);
	bool up;

	if (!netdev)
		return -ENODEV;
	up = netif_running(netdev) && netif_carrier_ok(netdev);
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
	dev_put(netdev);
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

u64 tern_device_stat(struct tern_device *dev, enum tern_stat id)
{
	struct tern_counter *c;
	unsigned long nr;
	u64 sum;

	xa_lock(&dev->counters);
	sum = tern_stat_sum(dev->stats, id) + dev->past.v[id];
	xa_for_each(&dev->counters, nr, c)
		sum += tern_stat_sum(c->stats, id);
	xa_unlock(&dev->counters);
	return sum;
}

/* the core adds what its counters have, and had */
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

const struct ib_device_ops tern_device_attr_ops = {
	.device_group = &attr_group,

	.alloc_hw_port_stats = alloc_hw_port_stats,
	.get_dev_fw_str = get_fw_str,
	.get_hw_stats = get_hw_stats,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.query_device = query_device,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_port = query_port,
};

/* ---- netns -------------------------------------------------------------- */

bool tern_device_is_in(const struct tern_device *dev, const struct net *net)
{
	bool is_in;

	/* a netns that the netdev leaves may end while we look */
	rcu_read_lock();
	is_in = net_eq(net, dev_net(dev->netdev));
	rcu_read_unlock();
	return is_in;
}

/* ---- addresses ---------------------------------------------------------- */

/* loopback and tunnels have no MAC address */
static bool has_mac(const struct net_device *netdev)
{
	return netdev->addr_len == ETH_ALEN &&
	       is_valid_ether_addr(netdev->dev_addr);
}

__be64 tern_device_guid(const struct net_device *netdev)
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
