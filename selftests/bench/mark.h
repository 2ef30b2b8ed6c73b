/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The addresses at which drive and mark.S tell plugin.c what is measured: no other code. */
#ifndef BENCH_MARK_H
#define BENCH_MARK_H

#define MARK_TEXT	0x7e570000
#define MARK_BEGIN	(MARK_TEXT + 0x100)
#define MARK_END	(MARK_TEXT + 0x200)

#endif /* BENCH_MARK_H */
