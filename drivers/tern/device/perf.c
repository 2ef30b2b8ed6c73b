// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The counters that programs expect of any RDMA port. The core makes their folder for
 * devices that answer management datagrams, and asks for each value by one that never
 * leaves the machine. An iWARP port has no management agents (rdma_cap_ib_mad()), so no
 * other datagram comes here.
 */
#include "perf.h"

#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "observe/stats.h"
#include "device.h"

/* 64 bits, and no count of multicast, which iWARP does not have */
static void fill_info(struct ib_pma_mad *out)
{
	struct ib_class_port_info *info = (void *)out->data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
}

/* data is counted in units of 4 bytes (IBTA 16.1.4.11) */
static void fill_extended(struct tern_device *dev, struct ib_pma_mad *out)
{
	struct ib_pma_portcounters_ext *c = (void *)out->data;

	c->port_select = 1;
	c->port_xmit_data = cpu_to_be64(tern_device_stat(dev, TERN_STAT_TX_BYTES) / 4);
	c->port_rcv_data = cpu_to_be64(tern_device_stat(dev, TERN_STAT_RX_BYTES) / 4);
	c->port_xmit_packets = cpu_to_be64(tern_device_stat(dev, TERN_STAT_TX_FPDU));
	c->port_rcv_packets = cpu_to_be64(tern_device_stat(dev, TERN_STAT_RX_FPDU));
}

/* the others are about links of InfiniBand, and stay 0 */
static void fill_errors(struct tern_device *dev, struct ib_pma_mad *out)
{
	struct ib_pma_portcounters *c = (void *)out->data;
	u64 errors = tern_device_stat(dev, TERN_STAT_RX_CRC_ERR) +
		     tern_device_stat(dev, TERN_STAT_RX_MARKER_ERR) +
		     tern_device_stat(dev, TERN_STAT_RX_DDP_ERR) +
		     tern_device_stat(dev, TERN_STAT_RX_RDMAP_ERR);

	c->port_select = 1;
	c->port_rcv_errors = cpu_to_be16(min_t(u64, errors, U16_MAX));
}

int tern_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		     const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_size, u16 *out_pkey_index)
{
	struct tern_device *dev = to_tern_dev(ibdev);
	struct ib_pma_mad *answer = (void *)out;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_FAILURE;
	memset(answer, 0, sizeof(*answer));
	answer->mad_hdr = in->mad_hdr;
	answer->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		fill_info(answer);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		fill_extended(dev, answer);
		break;
	case IB_PMA_PORT_COUNTERS:
		fill_errors(dev, answer);
		break;
	default:
		return IB_MAD_RESULT_FAILURE;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
