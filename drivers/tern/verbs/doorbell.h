/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The doorbell file of a context. */
#ifndef TERN_DOORBELL_H
#define TERN_DOORBELL_H

#include <rdma/uverbs_ioctl.h>

/* driver methods of the uverbs ioctl interface: the doorbell, and dv.h's */
extern const struct uapi_definition tern_uapi_defs[];

#endif /* TERN_DOORBELL_H */
