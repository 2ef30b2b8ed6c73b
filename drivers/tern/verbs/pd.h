/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The verbs of protection domains. */
#ifndef TERN_PD_H
#define TERN_PD_H

#include <rdma/ib_verbs.h>

/* a protection domain: STags and QPs refer to the core's part alone */
struct tern_pd {
	struct ib_pd ibpd;
};

int tern_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int tern_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

#endif /* TERN_PD_H */
