/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A QP's options (struct tern_qp_options): what its connections ask for in place
 * of the device's settings; draft-carrier-rddp-rnic-interop 6.2.
 */
#ifndef TERN_OPTIONS_H
#define TERN_OPTIONS_H

#include "uapi/rdma/tern-abi.h"
#include "settings.h"

/**
 * tern_options_check() - are the options valid on any device?
 * @opt: from a program
 *
 * Return: 0, -EOPNOTSUPP for an unknown option, -EPFNOSUPPORT for a version
 * that does not exist, -EINVAL for values out of range and for options that
 * contradict each other.
 */
int tern_options_check(const struct tern_qp_options *opt);

/**
 * tern_options_apply() - apply options to a device's settings
 * @opt: checked
 * @s: a copy of the settings, changed; not usable after an error
 *
 * Return: 0, -EPFNOSUPPORT when the type of RNIC does not allow the version, or
 * the version an option, -ENOPROTOOPT when the version requires markers.
 */
int tern_options_apply(const struct tern_qp_options *opt, struct tern_settings *s);

/* the options of a QP that sets none */
void tern_options_from(const struct tern_settings *s, struct tern_qp_options *opt);

/* did the program itself ask for the peer-to-peer model? */
static inline bool tern_options_p2p(const struct tern_qp_options *opt)
{
	return opt->mask & TERN_OPTION_P2P && opt->p2p;
}

#endif /* TERN_OPTIONS_H */
