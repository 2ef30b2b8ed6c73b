// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Protection domains: the association of STags and streams (RFC 5041 8.2). */
#include "pd.h"
#include "device/device.h"

int tern_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct tern_device *dev = to_tern_dev(ibpd->device);

	return atomic_add_unless(&dev->num_pd, 1, TERN_MAX_PD) ? 0 : -ENOMEM;
}

int tern_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	atomic_dec(&to_tern_dev(ibpd->device)->num_pd);
	return 0;
}
