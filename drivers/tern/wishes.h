/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A QP's wishes (struct tern_qp_wishes): what its connections ask for in place
 * of the device's settings; draft-carrier-rddp-rnic-interop 6.2.
 */
#ifndef TERN_WISHES_H
#define TERN_WISHES_H

#include "settings.h"
#include "uapi/rdma/tern-abi.h"

/**
 * tern_wishes_check() - can anybody grant this?
 * @w: from a program
 *
 * Return: 0, -EOPNOTSUPP for what we do not know, -EPFNOSUPPORT for a version
 * that does not exist, -EINVAL for values out of range, and for wishes that
 * contradict each other.
 */
int tern_wishes_check(const struct tern_qp_wishes *w);

/**
 * tern_wishes_apply() - lay wishes over a device's settings
 * @w: checked
 * @s: settings; of no use after an error
 *
 * Return: 0, -EPFNOSUPPORT when the type of RNIC does not allow the version,
 * -ENOPROTOOPT when the version does not allow to do without markers.
 */
int tern_wishes_apply(const struct tern_qp_wishes *w, struct tern_settings *s);

/* what a QP without wishes has */
void tern_wishes_from(const struct tern_settings *s, struct tern_qp_wishes *w);

/* the program asked for the peer-to-peer model itself */
static inline bool tern_wishes_p2p(const struct tern_qp_wishes *w)
{
	return w->mask & TERN_WISH_P2P && w->p2p;
}

#endif /* TERN_WISHES_H */
