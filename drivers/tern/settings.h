/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Per-device settings, set and read through the generic netlink family "tern".
 * A connection takes a copy when it starts; a change is for later connections.
 */
#ifndef TERN_SETTINGS_H
#define TERN_SETTINGS_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/mpa.h"

/**
 * struct tern_settings - one device's settings
 * @mpa_rev: revision of our Request: 1 or 2
 * @crc: ask for CRC (default true)
 * @markers: ask the peer for markers (default false)
 * @p2p: ask for the peer-to-peer model (default true)
 * @rtr: RTR types in order of preference, TERN_MPA_RTR_NONE ends the list
 *	(default Write, Read, Send)
 * @request_ms: responder: the whole Request, from TCP accept (default 10000)
 * @reply_ms: initiator: TCP connect and the whole Reply; responder: the ULP has 20
 *	times as long (default 30000)
 * @rtr_ms: responder: the RTR, from the Reply (default 10000)
 * @close_ms: FIN of either side, Terminate flush (default 2000)
 * @half_open: connections without a QP: so many that are quiet, and so many whose
 *	Request waits for the ULP (default 256)
 * @rnic: enum tern_mpa_type (default non-permissive)
 * @enhanced: initiator: send enhanced data with revision 2 (default true)
 * @early_ok: initiator: octets behind the Reply, before our first FPDU, do not
 *	end the connection (default false)
 * @keepalive_s: silence after which TCP probes the peer, 0 never (default 0)
 */
struct tern_settings {
	u8 mpa_rev;
	bool crc;
	bool markers;
	bool p2p;
	u8 rtr[TERN_MPA_RTR_COUNT - 1];
	u32 request_ms;
	u32 reply_ms;
	u32 rtr_ms;
	u32 close_ms;
	u32 half_open;
	u8 rnic;
	bool enhanced;
	bool early_ok;
	u32 keepalive_s;
};

/**
 * struct tern_device_settings - a device's settings
 * @lock: guards @now, and the device's GID; BH-safe
 * @now: set through the netlink family, read at each connection's start
 */
struct tern_device_settings {
	spinlock_t lock;	/* see above */
	struct tern_settings now;
};

/* to the defaults */
void tern_settings_init(struct tern_device_settings *ds);

/* a copy; Context: any BH-safe */
void tern_settings_get(struct tern_device_settings *ds, struct tern_settings *s);

/* checked by the caller (nl.c); Context: any BH-safe */
void tern_settings_set(struct tern_device_settings *ds,
		       const struct tern_settings *s);

#endif /* TERN_SETTINGS_H */
