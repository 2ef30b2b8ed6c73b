// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* terndv.h: translate between its structs and those of tern-abi.h. */

#include <errno.h>
#include <string.h>
#include <infiniband/cmd_ioctl.h>

#include "qp.h"
#include "tern.h"
#include "terndv.h"

#define SAME(abi, bit) \
	static_assert((int)TERN_OPTION_##abi == (int)TERNDV_QP_##bit, #bit)
SAME(MARKERS, MARKERS);
SAME(CRC, CRC);
SAME(VERSION, VERSION);
SAME(MPA_REV, MPA_REV);
SAME(ENHANCED, ENHANCED);
SAME(P2P, P2P);
SAME(RTR, RTR);
SAME(RTR_MS, RTR_TIMEOUT);
SAME(EXTENSIONS, EXTENSIONS);
SAME(FEATURES, FEATURES);
SAME(MAX_FPDU, MAX_FPDU);
static_assert((int)TERN_ABI_RTR_WRITE == (int)TERNDV_RTR_WRITE &&
	      (int)TERN_ABI_RTR_READ == (int)TERNDV_RTR_READ &&
	      (int)TERN_ABI_RTR_SEND == (int)TERNDV_RTR_SEND, "RTR types");
static_assert((int)TERN_OPTION_RTR_TYPES == (int)TERNDV_RTR_TYPES, "RTR list");
static_assert((int)TERN_EXTENSIONS_OFF == (int)TERNDV_EXTENSIONS_OFF &&
	      (int)TERN_EXTENSIONS_NEGOTIATE ==
		      (int)TERNDV_EXTENSIONS_NEGOTIATE &&
	      (int)TERN_EXTENSIONS_ASSUME_7306 ==
		      (int)TERNDV_EXTENSIONS_ASSUME_7306, "extensions");
static_assert((int)TERN_FEATURE_7306 == (int)TERNDV_FEATURE_7306 &&
	      (int)TERN_FEATURE_V2 == (int)TERNDV_FEATURE_V2 &&
	      (int)TERN_FEATURE_LONG_FPDU == (int)TERNDV_FEATURE_LONG_FPDU,
	      "features");
/* what programs of TERN_1.0 have allocated */
static_assert(sizeof(struct terndv_qp_init_attr) == 40 &&
	      offsetof(struct terndv_qp_init_attr, rtr_timeout_ms) == 20 &&
	      offsetof(struct terndv_qp_init_attr, max_fpdu) == 24,
	      "options");
static_assert(offsetof(struct terndv_device_attr, max_pd_enhanced) == 70 &&
	      offsetof(struct terndv_qp_attr, term_rx) == 88,
	      "fields are added at the end");

/* ---- the two kinds of structs ---------------------------------------------- */

/*
 * Older programs have padding, or reserved bytes, at extensions, features and max_fpdu,
 * which may hold anything. The kernel wants zero there without their bits.
 */
static void options_to_kernel(const struct terndv_qp_init_attr *from,
			      struct tern_qp_options *to)
{
	bool extensions = from->comp_mask & TERNDV_QP_EXTENSIONS;
	bool features = from->comp_mask & TERNDV_QP_FEATURES;
	bool max_fpdu = from->comp_mask & TERNDV_QP_MAX_FPDU;

	*to = (struct tern_qp_options){
		.mask = from->comp_mask,
		.markers = from->markers,
		.crc = from->crc,
		.version = from->version,
		.mpa_rev = from->mpa_rev,
		.enhanced = from->enhanced,
		.p2p = from->p2p,
		.extensions = extensions ? from->extensions : 0,
		.features = features ? from->features : 0,
		.rtr_ms = from->rtr_timeout_ms,
		.max_fpdu = max_fpdu ? from->max_fpdu : 0,
	};
	memcpy(to->rtr, from->rtr, sizeof(to->rtr));
}

static void options_from_kernel(const struct tern_qp_options *from,
				struct terndv_qp_init_attr *to)
{
	*to = (struct terndv_qp_init_attr){
		/* a newer kernel may have options that we cannot set */
		.comp_mask = from->mask & TERN_OPTION_ALL,
		.markers = from->markers,
		.crc = from->crc,
		.version = from->version,
		.mpa_rev = from->mpa_rev,
		.enhanced = from->enhanced,
		.p2p = from->p2p,
		.extensions = from->extensions,
		.features = from->features,
		.rtr_timeout_ms = from->rtr_ms,
		.max_fpdu = from->max_fpdu,
	};
	memcpy(to->rtr, from->rtr, sizeof(to->rtr));
}

static struct terndv_mpa_frame frame(const struct tern_mpa_side *side)
{
	return (struct terndv_mpa_frame){
		.there = side->there,
		.rev = side->rev,
		.flags = side->flags,
		.enhanced = side->enhanced,
		.ird = side->ird,
		.ord = side->ord,
		.pd_len = side->pd_len,
	};
}

static void report(const struct tern_qp_report *r, struct terndv_qp_attr *attr)
{
	*attr = (struct terndv_qp_attr){
		.own = frame(&r->own),
		.peer = frame(&r->peer),
		.initiator = r->flags & TERN_REPORT_INITIATOR,
		.retried = r->flags & TERN_REPORT_RETRIED,
		.term_sent = r->flags & TERN_REPORT_TERM_TX,
		.term_received = r->flags & TERN_REPORT_TERM_RX,
		.connected = r->flags & TERN_REPORT_CONNECTED,
		.crc = r->flags & TERN_REPORT_CRC,
		.tx_markers = r->flags & TERN_REPORT_TX_MARKERS,
		.rx_markers = r->flags & TERN_REPORT_RX_MARKERS,
		.p2p = r->flags & TERN_REPORT_P2P,
		.version = r->version,
		.mpa_rev = r->mpa_rev,
		.rtr = r->rtr,
		.ird = r->ird,
		.ord = r->ord,
		.emss = r->emss,
		.mulpdu = r->mulpdu,
		.term_tx = r->term_tx,
		.term_rx = r->term_rx,
		.features = r->features,
		.decided = r->flags & TERN_REPORT_DECIDED,
	};
	options_from_kernel(&r->asked, &attr->asked);
}

/* The program's struct may be older and shorter, or newer and longer. */
static void hand_out(void *to, size_t to_size, const void *from, size_t size)
{
	memset(to, 0, to_size);
	memcpy(to, from, to_size < size ? to_size : size);
}

/* ---- the kernel's methods ---------------------------------------------------- */

/* a module that is older than terndv.h answers EPROTONOSUPPORT */
static int run(struct ibv_context *ctx, struct ibv_command_buffer *cmd)
{
	int err = execute_ioctl(ctx, cmd);

	return err == EPROTONOSUPPORT ? EOPNOTSUPP : err;
}

static int set_options(struct ibv_qp *qp,
		       const struct terndv_qp_init_attr *options)
{
	DECLARE_COMMAND_BUFFER(cmd, TERN_OBJECT_DV, TERN_METHOD_DV_SET_OPTIONS, 2);
	struct tern_qp_options w;

	if (!check_comp_mask(options->comp_mask, TERN_OPTION_ALL))
		return EOPNOTSUPP;
	options_to_kernel(options, &w);
	fill_attr_in_obj(cmd, TERN_ATTR_DV_OPTIONS_QP, qp->handle);
	fill_attr_in_ptr(cmd, TERN_ATTR_DV_OPTIONS_IN, &w);
	return run(qp->context, cmd);
}

static int get_report(struct ibv_qp *qp, struct tern_qp_report *r)
{
	DECLARE_COMMAND_BUFFER(cmd, TERN_OBJECT_DV, TERN_METHOD_DV_REPORT, 2);

	memset(r, 0, sizeof(*r));
	fill_attr_in_obj(cmd, TERN_ATTR_DV_REPORT_QP, qp->handle);
	fill_attr_out_ptr(cmd, TERN_ATTR_DV_REPORT_OUT, r);
	return run(qp->context, cmd);
}

static int get_device(struct ibv_context *ctx, struct tern_dv_device *d)
{
	DECLARE_COMMAND_BUFFER(cmd, TERN_OBJECT_DV, TERN_METHOD_DV_DEVICE, 1);

	memset(d, 0, sizeof(*d));
	fill_attr_out_ptr(cmd, TERN_ATTR_DV_DEVICE_OUT, d);
	return run(ctx, cmd);
}

/* ---- terndv.h ------------------------------------------------------------------ */

bool terndv_is_supported(struct ibv_device *device)
{
	return tern_is_ours(device);
}

int terndv_query_device(struct ibv_context *context,
			struct terndv_device_attr *attr, size_t size)
{
	struct terndv_device_attr a;
	struct tern_dv_device d;
	int err;

	if (!tern_is_ours(context->device))
		return EOPNOTSUPP;
	err = get_device(context, &d);
	if (err)
		return err;
	a = (struct terndv_device_attr){
		.selectable = d.choice,
		.versions = d.versions,
		.mpa_revs = d.mpa_revs,
		.rtr_types = d.rtr_types,
		.max_rtr_timeout_ms = d.max_rtr_ms,
		.max_ird = d.max_ird,
		.max_ord = d.max_ord,
		.max_pd = d.max_pd,
		.max_pd_enhanced = d.max_pd_enhanced,
		.features = d.features,
	};
	options_from_kernel(&d.settings, &a.settings);
	hand_out(attr, size, &a, sizeof(a));
	return 0;
}

/* No one else knows the QP yet, so its options may be set after its creation. */
struct ibv_qp *terndv_create_qp(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr,
				const struct terndv_qp_init_attr *options)
{
	const struct ibv_qp_cap cap = attr->cap;
	struct ibv_qp *qp;
	int err;

	if (!tern_is_ours(context->device)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = tern_qp_create_ex(context, attr);
	if (!qp)
		return NULL;
	err = set_options(qp, options);
	if (!err)
		return qp;
	tern_qp_destroy(qp);
	attr->cap = cap;
	errno = err;
	return NULL;
}

int terndv_modify_qp(struct ibv_qp *qp,
		     const struct terndv_qp_init_attr *options)
{
	if (!tern_is_ours(qp->context->device))
		return EOPNOTSUPP;
	return set_options(qp, options);
}

int terndv_query_qp(struct ibv_qp *qp, struct terndv_qp_attr *attr, size_t size)
{
	struct terndv_qp_attr a;
	struct tern_qp_report r;
	int err;

	if (!tern_is_ours(qp->context->device))
		return EOPNOTSUPP;
	err = get_report(qp, &r);
	if (err)
		return err;
	report(&r, &a);
	hand_out(attr, size, &a, sizeof(a));
	return 0;
}
