/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Memory regions and windows: the kernel keeps all their state. */
#ifndef TERN_PROVIDER_MR_H
#define TERN_PROVIDER_MR_H

#include <infiniband/driver.h>

struct ibv_mr *tern_mr_reg(struct ibv_pd *pd, void *addr, size_t length,
			   uint64_t iova, int access);
struct ibv_mr *tern_mr_reg_dmabuf(struct ibv_pd *pd, uint64_t offset,
				  size_t length, uint64_t iova, int fd,
				  int access);
int tern_mr_rereg(struct verbs_mr *mr, int flags, struct ibv_pd *pd,
		  void *addr, size_t length, int access);
int tern_mr_dereg(struct verbs_mr *mr);
struct ibv_mw *tern_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int tern_mw_dealloc(struct ibv_mw *mw);

#endif /* TERN_PROVIDER_MR_H */
