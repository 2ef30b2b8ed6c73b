// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Query a device, its port and its clock. */

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "tern.h"

int tern_device_query(struct ibv_context *ctx,
		      const struct ibv_query_device_ex_input *input,
		      struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int err;

	err = ibv_cmd_query_device_any(ctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (err)
		return err;

	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(fw >> 32 & 0xffff),
		 (unsigned int)(fw >> 16 & 0xffff),
		 (unsigned int)(fw & 0xffff));
	return 0;
}

int tern_port_query(struct ibv_context *ctx, uint8_t port,
		    struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(ctx, port, attr, &cmd, sizeof(cmd));
}

/*
 * The device's clock is CLOCK_MONOTONIC in nanoseconds, as in the timestamps of
 * completions. Like other providers, return all ticks in tv_nsec, comparable with
 * ibv_wc_read_completion_ts(). In a program of 32 bits that is too short for them.
 */
int tern_clock_query(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	struct timespec ts;

	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	if (!values->comp_mask)
		return EINVAL;
	if (sizeof(values->raw_clock.tv_nsec) < sizeof(uint64_t))
		return EOPNOTSUPP;

	if (clock_gettime(CLOCK_MONOTONIC, &ts))
		return errno;
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = ts.tv_sec * 1000000000L + ts.tv_nsec;
	return 0;
}
