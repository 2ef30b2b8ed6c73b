/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Selects the headers of the kernel or of userspace: core/ runs in both. No
 * other file of core/ may include a header of either.
 */
#ifndef TERN_CORE_ENV_H
#define TERN_CORE_ENV_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#else

#include "env-user.h" /* selftests/core */

#endif /* __KERNEL__ */

#endif /* TERN_CORE_ENV_H */
