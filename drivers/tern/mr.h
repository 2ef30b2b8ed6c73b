/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions: user, DMA and fast-registration. */
#ifndef TERN_MR_H
#define TERN_MR_H

#include <rdma/ib_verbs.h>

#include "mem.h"

struct tern_scope;
struct tern_umem;

/**
 * struct tern_mr - memory region
 * @ibmr: the core's part
 * @mem: its entry in the STag table
 * @umem: user MR: the memory that the entry opens
 * @access: user MR: enum ib_access_flags
 * @iova: user MR: first TO, were it not zero-based
 * @reg_pages: fast registration: the entry's list, @fr_max elements
 * @fr_pages: what map_mr_sg filled in: the next REG_MR's. The MR may still be
 *	valid then, with its LOCAL_INV posted but not executed
 * @fr_max: elements of each
 * @fr_count: elements that map_mr_sg filled in
 * @fr_offset: it: of the first octet in the first page
 * @fr_len: it: octets
 */
struct tern_mr {
	struct ib_mr ibmr;
	struct tern_mem mem;
	struct tern_umem *umem;
	int access;
	u64 iova;
	struct page **reg_pages;
	struct page **fr_pages;
	u32 fr_max;
	u32 fr_count;
	u32 fr_offset;
	u64 fr_len;
};

static inline struct tern_mr *to_tern_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct tern_mr, ibmr);
}

/* TERN_ACCESS_* of enum ib_access_flags, for MRs and QPs */
u32 tern_access_from_ib(int access);

/**
 * tern_mr_reg() - execute REG_MR: make a mapped fast-registration MR valid
 * @scope: of the kernel user's QP, whose peer alone may use and invalidate the MR from
 *	now on
 * @lkey: a key of the MR: its index counts
 * @key: its key from now on: the same index, any low 8 bits
 * @iova: first TO
 * @access: enum ib_access_flags
 *
 * Context: any but hard interrupt. Return: 0, or -EINVAL: no such fast-registration MR
 * in the QP's PD, it is valid already, nothing was mapped, or bad rights.
 */
int tern_mr_reg(const struct tern_scope *scope, u32 lkey, u32 key, u64 iova,
		u32 access);

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
