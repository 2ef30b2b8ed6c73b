/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A QP's options (struct tern_qp_options): what its connections ask for in place
 * of the device's settings; draft-carrier-rddp-rnic-interop 6.2.
 */
#ifndef TERN_REQUEST_H
#define TERN_REQUEST_H

#include "uapi/rdma/tern-abi.h"
#include "settings.h"

/**
 * tern_request_check() - are the options valid on any device?
 * @w: from a program
 *
 * Return: 0, -EOPNOTSUPP for an unknown option, -EPFNOSUPPORT for a version
 * that does not exist, -EINVAL for values out of range and for options that
 * contradict each other.
 */
int tern_request_check(const struct tern_qp_options *w);

/**
 * tern_request_apply() - apply options to a device's settings
 * @w: checked
 * @s: a copy of the settings, changed; not usable after an error
 *
 * Return: 0, -EPFNOSUPPORT when the type of RNIC does not allow the version, or
 * the version an option, -ENOPROTOOPT when the version requires markers.
 */
int tern_request_apply(const struct tern_qp_options *w, struct tern_settings *s);

/* the options of a QP that sets none */
void tern_request_from(const struct tern_settings *s, struct tern_qp_options *w);

/* did the program itself ask for the peer-to-peer model? */
static inline bool tern_request_p2p(const struct tern_qp_options *w)
{
	return w->mask & TERN_OPTION_P2P && w->p2p;
}

#endif /* TERN_REQUEST_H */
