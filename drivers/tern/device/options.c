// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Check a QP's options, and apply them to a copy of the device's settings: RFC
 * 5044 C.1 (versions), RFC 6581 9 (enhanced setup),
 * draft-carrier-rddp-rnic-interop 6.2.
 */
#include "options.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "core/mpa.h"
#include "core/wire.h"

static_assert(sizeof(struct tern_qp_options) == 32 &&
	      offsetof(struct tern_qp_options, rtr) == 10 &&
	      offsetof(struct tern_qp_options, rtr_ms) == 16 &&
	      offsetof(struct tern_qp_options, max_fpdu) == 20);
static_assert((int)TERN_ABI_RTR_WRITE == (int)TERN_MPA_RTR_WRITE &&
	      (int)TERN_ABI_RTR_READ == (int)TERN_MPA_RTR_READ &&
	      (int)TERN_ABI_RTR_SEND == (int)TERN_MPA_RTR_SEND);
static_assert(TERN_OPTION_FPDU_MAX + sizeof(struct tern_ddp_untagged) == TERN_ULPDU_MAX);
static_assert(sizeof_field(struct tern_mpa_options, rtr) == TERN_OPTION_RTR_TYPES);

static bool asks_for(const struct tern_qp_options *opt, u32 option, u8 value)
{
	return opt->mask & option && value;
}

static bool declines(const struct tern_qp_options *opt, u32 option, u8 value)
{
	return opt->mask & option && !value;
}

static bool is_rdmac(const struct tern_settings *s)
{
	return s->mpa.type == TERN_MPA_RDMAC;
}

/* ---- check -------------------------------------------------------------- */

static bool knows_versions(const struct tern_qp_options *opt)
{
	if (asks_for(opt, TERN_OPTION_VERSION, opt->version > 1))
		return false;
	return !asks_for(opt, TERN_OPTION_MPA_REV, opt->mpa_rev < 1 || opt->mpa_rev > 2);
}

static bool is_order(const u8 *rtr)
{
	unsigned int i;

	if (rtr[0] == TERN_MPA_RTR_NONE)
		return false;
	for (i = 0; i < TERN_OPTION_RTR_TYPES; i++) {
		if (rtr[i] >= TERN_MPA_RTR_COUNT)
			return false;
		if (rtr[i] != TERN_MPA_RTR_NONE && memchr(rtr, rtr[i], i))
			return false;
		if (i && rtr[i] != TERN_MPA_RTR_NONE &&
		    rtr[i - 1] == TERN_MPA_RTR_NONE)
			return false;
	}
	return true;
}

/* older ABIs had reserved bytes at these fields: without their bits they are zero */
static bool is_zero_without_bit(const struct tern_qp_options *opt)
{
	return (opt->mask & TERN_OPTION_EXTENSIONS || !opt->extensions) &&
	       (opt->mask & TERN_OPTION_FEATURES || !opt->features) &&
	       (opt->mask & TERN_OPTION_MAX_FPDU || !opt->max_fpdu);
}

static bool is_in_range(const struct tern_qp_options *opt)
{
	if (memchr_inv(opt->reserved1, 0, sizeof(opt->reserved1)) ||
	    !is_zero_without_bit(opt))
		return false;
	if (asks_for(opt, TERN_OPTION_MARKERS, opt->markers > 1) ||
	    asks_for(opt, TERN_OPTION_CRC, opt->crc > 1) ||
	    asks_for(opt, TERN_OPTION_ENHANCED, opt->enhanced > 1) ||
	    asks_for(opt, TERN_OPTION_P2P, opt->p2p > 1))
		return false;
	if (opt->mask & TERN_OPTION_RTR && !is_order(opt->rtr))
		return false;
	if (asks_for(opt, TERN_OPTION_EXTENSIONS,
		     opt->extensions > TERN_EXTENSIONS_ASSUME_7306) ||
	    asks_for(opt, TERN_OPTION_FEATURES, !tern_features_ok(opt->features)) ||
	    asks_for(opt, TERN_OPTION_MAX_FPDU, !tern_max_fpdu_ok(opt->max_fpdu)))
		return false;
	return !(opt->mask & TERN_OPTION_RTR_MS) ||
	       (opt->rtr_ms && opt->rtr_ms <= TERN_OPTION_MAX_MS);
}

/* peer-to-peer needs the enhanced setup, which needs revision 2 (RFC 6581 9) */
static bool contradict(const struct tern_qp_options *opt)
{
	bool enhanced = asks_for(opt, TERN_OPTION_ENHANCED, opt->enhanced);
	bool p2p = tern_options_p2p(opt);

	if (p2p && declines(opt, TERN_OPTION_ENHANCED, opt->enhanced))
		return true;
	return (p2p || enhanced) && asks_for(opt, TERN_OPTION_MPA_REV, opt->mpa_rev < 2);
}

int tern_options_check(const struct tern_qp_options *opt)
{
	if (opt->mask & ~TERN_OPTION_ALL)
		return -EOPNOTSUPP;
	if (!is_in_range(opt))
		return -EINVAL;
	if (!knows_versions(opt))
		return -EPFNOSUPPORT;
	return contradict(opt) ? -EINVAL : 0;
}

/* ---- apply -------------------------------------------------------------- */

/* a permissive RNIC becomes the type that was asked for */
static int apply_version(const struct tern_qp_options *opt,
			 struct tern_settings *s)
{
	u8 type = opt->version ? TERN_MPA_NONPERMISSIVE : TERN_MPA_RDMAC;

	if (!(opt->mask & TERN_OPTION_VERSION))
		return 0;
	if (s->mpa.type != TERN_MPA_PERMISSIVE && s->mpa.type != type)
		return -EPFNOSUPPORT;
	s->mpa.type = type;
	return 0;
}

/* RFC 5044 C.1: version 0 has revision 0 and markers; RFC 6581 needs more */
static int check_rdmac(const struct tern_qp_options *opt)
{
	if (opt->mask & TERN_OPTION_MPA_REV || tern_options_p2p(opt) ||
	    asks_for(opt, TERN_OPTION_ENHANCED, opt->enhanced))
		return -EPFNOSUPPORT;
	return declines(opt, TERN_OPTION_MARKERS, opt->markers) ? -ENOPROTOOPT : 0;
}

static void apply_setup(const struct tern_qp_options *opt, struct tern_settings *s)
{
	if (opt->mask & TERN_OPTION_MPA_REV)
		s->mpa.rev = opt->mpa_rev;
	if (opt->mask & TERN_OPTION_ENHANCED)
		s->mpa.enhanced = opt->enhanced;
	if (opt->mask & TERN_OPTION_P2P)
		s->mpa.p2p = opt->p2p;
	if (tern_options_p2p(opt))
		s->mpa.enhanced = true;
	if (tern_options_p2p(opt) || asks_for(opt, TERN_OPTION_ENHANCED, opt->enhanced))
		s->mpa.rev = 2;
}

int tern_options_apply(const struct tern_qp_options *opt, struct tern_settings *s)
{
	int ret = apply_version(opt, s);

	if (!ret && is_rdmac(s))
		ret = check_rdmac(opt);
	if (ret)
		return ret;
	apply_setup(opt, s);
	if (opt->mask & TERN_OPTION_MARKERS)
		s->mpa.markers = opt->markers;
	if (opt->mask & TERN_OPTION_CRC)
		s->mpa.crc = opt->crc;
	if (opt->mask & TERN_OPTION_RTR)
		memcpy(s->mpa.rtr, opt->rtr, sizeof(s->mpa.rtr));
	if (opt->mask & TERN_OPTION_RTR_MS)
		s->rtr_ms = opt->rtr_ms;
	if (opt->mask & TERN_OPTION_EXTENSIONS)
		s->extensions = opt->extensions;
	if (opt->mask & TERN_OPTION_FEATURES)
		s->features = opt->features;
	if (opt->mask & TERN_OPTION_MAX_FPDU)
		s->max_fpdu = opt->max_fpdu;
	return 0;
}

void tern_options_from(const struct tern_settings *s, struct tern_qp_options *opt)
{
	bool rdmac = is_rdmac(s);

	*opt = (struct tern_qp_options) {
		.mask = TERN_OPTION_ALL,
		.markers = rdmac || s->mpa.markers,
		.crc = rdmac || s->mpa.crc,
		.version = !rdmac,
		.mpa_rev = rdmac ? 0 : s->mpa.rev,
		.enhanced = !rdmac && s->mpa.rev == 2 && s->mpa.enhanced,
		.extensions = rdmac ? TERN_EXTENSIONS_OFF : s->extensions,
		.features = s->features,
		.rtr_ms = s->rtr_ms,
		.max_fpdu = s->max_fpdu,
	};
	opt->p2p = opt->enhanced && s->mpa.p2p;
	memcpy(opt->rtr, s->mpa.rtr, sizeof(opt->rtr));
}
