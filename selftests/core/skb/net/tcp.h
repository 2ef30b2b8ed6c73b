/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
#ifndef TERN_TEST_TCP_H
#define TERN_TEST_TCP_H

#include <linux/skbuff.h>

#define TCP_SKB_CB(skb)	(skb)

static inline bool before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

#endif /* TERN_TEST_TCP_H */
