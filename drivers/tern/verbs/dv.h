/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The methods of terndv.h. */
#ifndef TERN_DV_H
#define TERN_DV_H

#include <rdma/uverbs_ioctl.h>

/* driver methods of the uverbs ioctl interface: options and reports of QPs */
extern const struct uapi_definition tern_dv_defs[];

#endif /* TERN_DV_H */
