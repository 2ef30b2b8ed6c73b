/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Per-device settings, set and read through the generic netlink family "tern".
 * A connection takes a copy when it starts: a change affects later connections
 * only.
 */
#ifndef TERN_SETTINGS_H
#define TERN_SETTINGS_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/mpa.h"
#include "uapi/rdma/tern-abi.h"

/* what a hello can offer */
#define TERN_FEATURES								\
	(TERN_FEATURE_7306 | TERN_FEATURE_V2 | TERN_FEATURE_LONG_FPDU)

/**
 * struct tern_settings - one device's settings
 * @mpa: what our end asks for (default: revision 2 with enhanced data, CRCs and the
 *	peer-to-peer model, no markers, RTR types Write, Read, Send, non-permissive); its
 *	depths belong to a connection and are not set here
 * @request_ms: responder: the whole Request, from TCP accept (default 10000)
 * @reply_ms: initiator: TCP connect and the whole Reply; responder: the ULP has 20
 *	times as long to answer (default 30000)
 * @rtr_ms: responder: the RTR, from the Reply (default 10000)
 * @close_ms: the longest time that a close makes no progress (default 2000)
 * @half_open: limit of connections without a QP that wait for their Request or
 *	for FINs, and of those whose Request waits for the ULP; see crowd.h
 *	(default 256)
 * @early_ok: initiator: bytes after the Reply, before our first FPDU, do not
 *	end the connection (default false)
 * @extensions: enum tern_extensions (default negotiate)
 * @features: enum tern_feature: what a hello offers or grants (default all)
 * @max_fpdu: payload of a Send in a long FPDU, or 0: FPDUs are no longer than TCP's
 *	segments (default 32768)
 * @keepalive_s: silence after which TCP probes the peer, 0 never (default 0)
 */
struct tern_settings {
	struct tern_mpa_options mpa;
	u32 request_ms;
	u32 reply_ms;
	u32 rtr_ms;
	u32 close_ms;
	u32 half_open;
	bool early_ok;
	u8 extensions;
	u16 features;
	u32 max_fpdu;
	u32 keepalive_s;
};

/* version 2 is only with RFC 7306 */
static inline bool tern_features_ok(u16 features)
{
	return !(features & ~TERN_FEATURES) &&
	       (!(features & TERN_FEATURE_V2) || features & TERN_FEATURE_7306);
}

static inline bool tern_max_fpdu_ok(u32 max_fpdu)
{
	return !max_fpdu ||
	       (max_fpdu >= TERN_OPTION_FPDU_MIN && max_fpdu <= TERN_OPTION_FPDU_MAX);
}

/**
 * struct tern_device_settings - a device's settings
 * @lock: guards @now, and the device's GID; BH-safe
 * @now: set through the netlink family, read at each connection's start
 */
struct tern_device_settings {
	spinlock_t lock;	/* see above */
	struct tern_settings now;
};

/* set the defaults */
void tern_settings_init(struct tern_device_settings *ds);

/* copy the settings; Context: any BH-safe */
void tern_settings_get(struct tern_device_settings *ds, struct tern_settings *s);

#endif /* TERN_SETTINGS_H */
