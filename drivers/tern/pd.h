/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef TERN_PD_H
#define TERN_PD_H

#include <rdma/ib_verbs.h>

/* protection domains: STags and QPs name the core's object, nothing is added */
struct tern_pd {
	struct ib_pd ibpd;
};

int tern_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int tern_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

#endif /* TERN_PD_H */
