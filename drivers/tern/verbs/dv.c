// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The methods that terndv.h calls: the verbs extensions of
 * draft-carrier-rddp-rnic-interop 6.2 (MPA-149 to MPA-152), and the values that
 * RFC 6581 9.1 passes to the ULP and iw_cm's events have no room for (MPA-179,
 * MPA-180).
 */
#include "dv.h"

#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

#include "core/mpa.h"
#include "core/mpa_frame.h"
#include "device/device.h"
#include "device/options.h"
#include "stream/setup.h"
#include "stream/sock.h"
#include "stream/state.h"
#include "qp.h"

#define UVERBS_MODULE_NAME tern
#include <rdma/uverbs_named_ioctl.h>

static_assert(sizeof(struct tern_mpa_side) == 12 &&
	      offsetof(struct tern_mpa_side, ird) == 4 &&
	      offsetof(struct tern_mpa_side, pd_len) == 8);
static_assert(sizeof(struct tern_qp_report) == 88 &&
	      offsetof(struct tern_qp_report, own) == 32 &&
	      offsetof(struct tern_qp_report, flags) == 56 &&
	      offsetof(struct tern_qp_report, version) == 68 &&
	      offsetof(struct tern_qp_report, emss) == 76 &&
	      offsetof(struct tern_qp_options, features) == 14);
static_assert(sizeof(struct tern_dv_device) == 52 &&
	      offsetof(struct tern_dv_device, versions) == 32 &&
	      offsetof(struct tern_dv_device, choice) == 36 &&
	      offsetof(struct tern_dv_device, max_ird) == 44);

/* ---- the device --------------------------------------------------------- */

/* RFC 5044 C.1: version 0 has markers and CRC always, so it leaves no choice */
static const struct {
	u8 versions;
	u8 revs;
	u32 choice;
} of_type[] = {
	[TERN_MPA_NONPERMISSIVE] = {
		BIT(1), BIT(1) | BIT(2), TERN_OPTION_ALL & ~TERN_OPTION_VERSION,
	},
	[TERN_MPA_PERMISSIVE] = {
		BIT(0) | BIT(1), BIT(0) | BIT(1) | BIT(2), TERN_OPTION_ALL,
	},
	[TERN_MPA_RDMAC] = { BIT(0), BIT(0), 0 },
};

static int UVERBS_HANDLER(TERN_METHOD_DV_DEVICE)
	(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ctx = ib_uverbs_get_ucontext(attrs);
	struct tern_settings s;
	struct tern_dv_device d = {
		.rtr_types = BIT(TERN_ABI_RTR_WRITE) | BIT(TERN_ABI_RTR_READ) |
			     BIT(TERN_ABI_RTR_SEND),
		.features = TERN_FEATURES,
		.max_rtr_ms = TERN_OPTION_MAX_MS,
		.max_ird = TERN_MAX_RD_ATOM,
		.max_ord = TERN_MAX_RD_ATOM,
		.max_pd = TERN_MPA_MAX_PD,
		.max_pd_enhanced = TERN_MPA_ENHANCED_PD,
	};

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	tern_settings_get(&to_tern_dev(ctx->device)->settings, &s);
	tern_options_from(&s, &d.settings);
	d.versions = of_type[s.mpa.type].versions;
	d.mpa_revs = of_type[s.mpa.type].revs;
	d.choice = of_type[s.mpa.type].choice;
	return uverbs_copy_to_struct_or_zero(attrs, TERN_ATTR_DV_DEVICE_OUT, &d,
					     sizeof(d));
}

/* ---- options ------------------------------------------------------------ */

static int UVERBS_HANDLER(TERN_METHOD_DV_SET_OPTIONS)(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *ibqp = uverbs_attr_get_obj(attrs, TERN_ATTR_DV_OPTIONS_QP);
	struct tern_qp_options opt;
	struct tern_settings s;
	int ret;

	ret = uverbs_copy_from_or_zero(&opt, attrs, TERN_ATTR_DV_OPTIONS_IN);
	if (!ret)
		ret = tern_options_check(&opt);
	if (ret)
		return ret;
	/* applied again at the connect: the settings may change until then */
	tern_settings_get(&to_tern_dev(ibqp->device)->settings, &s);
	ret = tern_options_apply(&opt, &s);
	return ret ?: tern_stream_set_options(tern_stream_of(ibqp), &opt);
}

/* ---- report ------------------------------------------------------------- */

static void set_flag(struct tern_qp_report *r, u32 flag, bool is_set)
{
	if (is_set)
		r->flags |= flag;
}

static void report_startup(struct tern_stream *s, struct tern_qp_report *r)
{
	const struct tern_startup *last = &s->setup.report;

	spin_lock_bh(&s->lock);
	r->asked = s->setup.options;
	r->own = last->own;
	r->peer = last->peer;
	set_flag(r, TERN_REPORT_INITIATOR, last->initiator);
	set_flag(r, TERN_REPORT_RETRIED, last->retried);
	spin_unlock_bh(&s->lock);
}

/* Terminates of the stream, or of a startup that led to no stream */
static void report_terms(struct tern_stream *s, struct tern_qp_report *r)
{
	const struct tern_stream_terms *t = s->sock ? &s->terms :
						      &s->setup.report.terms;

	if (t->sent != TERN_TERM_NONE) {
		r->flags |= TERN_REPORT_TERM_TX;
		r->term_tx = t->sent;
	}
	if (t->received != TERN_TERM_NONE) {
		r->flags |= TERN_REPORT_TERM_RX;
		r->term_rx = t->received;
	}
}

static void report_stream(struct tern_stream *s, struct tern_qp_report *r)
{
	const struct tern_mpa_params *p = &s->params;
	u16 features;

	r->flags |= TERN_REPORT_CONNECTED;
	set_flag(r, TERN_REPORT_CRC, p->crc);
	set_flag(r, TERN_REPORT_TX_MARKERS, p->tx_markers);
	set_flag(r, TERN_REPORT_RX_MARKERS, p->rx_markers);
	set_flag(r, TERN_REPORT_P2P, r->own.ird & r->peer.ird & TERN_MPA_IRD_P2P);
	r->version = p->version;
	r->mpa_rev = p->initiator ? r->peer.rev : r->own.rev;
	r->rtr = p->initiator ? p->rtr : s->rx.rtr;
	r->ird = p->ird;
	r->ord = p->ord;
	r->emss = tern_sock_mss_locked(s->sock);
	r->mulpdu = tern_agree_mulpdu(s);
	set_flag(r, TERN_REPORT_DECIDED, tern_stream_features(s, &features));
	r->features = features;
}

static int UVERBS_HANDLER(TERN_METHOD_DV_REPORT)
	(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *ibqp = uverbs_attr_get_obj(attrs, TERN_ATTR_DV_REPORT_QP);
	struct tern_stream *s = tern_stream_of(ibqp);
	struct tern_qp_report r = {};

	report_startup(s, &r);
	tern_stream_lock(s);
	report_terms(s, &r);
	if (s->sock)
		report_stream(s, &r);
	tern_stream_unlock(s);
	return uverbs_copy_to_struct_or_zero(attrs, TERN_ATTR_DV_REPORT_OUT, &r,
					     sizeof(r));
}

/* ---- methods ------------------------------------------------------------ */

DECLARE_UVERBS_NAMED_METHOD(TERN_METHOD_DV_DEVICE,
			    UVERBS_ATTR_PTR_OUT(TERN_ATTR_DV_DEVICE_OUT,
						UVERBS_ATTR_STRUCT(struct tern_dv_device,
								   max_pd_enhanced),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(TERN_METHOD_DV_SET_OPTIONS,
			    UVERBS_ATTR_IDR(TERN_ATTR_DV_OPTIONS_QP,
					    UVERBS_OBJECT_QP,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(TERN_ATTR_DV_OPTIONS_IN,
					       UVERBS_ATTR_STRUCT(struct tern_qp_options,
								  reserved1),
					       UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(TERN_METHOD_DV_REPORT,
			    UVERBS_ATTR_IDR(TERN_ATTR_DV_REPORT_QP,
					    UVERBS_OBJECT_QP,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(TERN_ATTR_DV_REPORT_OUT,
						UVERBS_ATTR_STRUCT(struct tern_qp_report,
								   features),
						UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(TERN_OBJECT_DV,
			      &UVERBS_METHOD(TERN_METHOD_DV_DEVICE),
			      &UVERBS_METHOD(TERN_METHOD_DV_SET_OPTIONS),
			      &UVERBS_METHOD(TERN_METHOD_DV_REPORT));

const struct uapi_definition tern_dv_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(TERN_OBJECT_DV),
	{},
};
