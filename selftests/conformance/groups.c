// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The groups of tests, each a file, in the order in which they run. */
#include "conform.h"

const struct conform_group *const conform_groups[] = {
	&self_group, &self_ext_group, &frame_group, &private_data_group, &startup_group,
	&gate_group, &answer_group, &retry_group, &enhanced_group, &depth_group,
	&rtr_group, &first_group, &fence_group, &rdmac_group, &marker_group, &crc_group,
	&size_group, &stream_group, &close_group, &ddp_group, &untagged_group,
	&precedence_group, &write_group, &read_group, &response_group, &send_group,
	&source_group, &term_group, &term_ddp_group, &term_end_group, &term_recv_group,
	&order_group, &security_group, &stag_group, &window_group, &imm_group,
	&imm_send_group, &atomic_group, &atomic_bad_group, &atomic_post_group,
	&hello_group, &hello_offer_group, &v2_group, &v2_read_group, &long_group,
	&series_group, NULL
};
