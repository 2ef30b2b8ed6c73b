// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Per-device settings: their defaults, and a copy that is whole. */
#include "settings.h"

void tern_settings_init(struct tern_device_settings *ds)
{
	spin_lock_init(&ds->lock);
	ds->now = (struct tern_settings) {
		.mpa = {
			.rev = 2,
			.enhanced = true,
			.crc = true,
			.p2p = true,
			.rtr = { TERN_MPA_RTR_WRITE, TERN_MPA_RTR_READ,
				 TERN_MPA_RTR_SEND },
		},
		.request_ms = 10000,
		.reply_ms = 30000,
		.rtr_ms = 10000,
		.close_ms = 2000,
		.half_open = 256,
		.extensions = TERN_EXTENSIONS_NEGOTIATE,
		.features = TERN_FEATURES,
		/* messages of powers of two split evenly */
		.max_fpdu = 32 * 1024,
	};
}

void tern_settings_get(struct tern_device_settings *ds, struct tern_settings *s)
{
	spin_lock_bh(&ds->lock);
	*s = ds->now;
	spin_unlock_bh(&ds->lock);
}
