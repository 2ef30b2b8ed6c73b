/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The verbs of memory windows. */
#ifndef TERN_MW_H
#define TERN_MW_H

#include <rdma/ib_verbs.h>

#include "leave.h"

struct tern_mem;

/**
 * struct tern_mw - memory window
 * @ibmw: the core's part
 * @owned: its program's
 * @mem: its entry in the STag table, freed a grace period after the window
 */
struct tern_mw {
	struct ib_mw ibmw;
	struct tern_owned owned;
	struct tern_mem *mem;
};

/* verbs */
int tern_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int tern_dealloc_mw(struct ib_mw *ibmw);

#endif /* TERN_MW_H */
