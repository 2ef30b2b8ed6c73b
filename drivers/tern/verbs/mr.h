/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The verbs of memory regions: user, DMA and fast-registration. */
#ifndef TERN_MR_H
#define TERN_MR_H

#include <rdma/ib_verbs.h>

#include "leave.h"
#include "mem/mem.h"

struct tern_umem;

/**
 * struct tern_mr - memory region
 * @ibmr: the core's part
 * @owned: its program's
 * @mem: its entry in the STag table
 * @umem: user MR: the memory that the entry opens
 * @access: user MR: enum ib_access_flags
 * @iova: user MR: the address given at registration; the first TO, unless the
 *	MR is zero-based
 */
struct tern_mr {
	struct ib_mr ibmr;
	struct tern_owned owned;
	struct tern_mem mem;
	struct tern_umem *umem;
	int access;
	u64 iova;
};

static inline struct tern_mr *to_tern_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct tern_mr, ibmr);
}

/* verbs */
struct ib_mr *tern_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *tern_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			       u64 iova, int access,
			       TERN_DMAH_PARAM struct ib_udata *udata);
struct ib_mr *tern_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				      u64 iova, int fd, int access,
				      TERN_DMAH_PARAM
				      struct uverbs_attr_bundle *attrs);
struct ib_mr *tern_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				 u64 length, u64 iova, int access,
				 struct ib_pd *pd, struct ib_udata *udata);
int tern_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *tern_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			    u32 max_num_sg);
int tern_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		   unsigned int *offset);

#endif /* TERN_MR_H */
