/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The userspace side of drivers/tern/core/env.h: the parts of the kernel that the
 * core uses, for unit tests, model and fuzzers.
 */
#ifndef TERN_ENV_USER_H
#define TERN_ENV_USER_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;
typedef uint32_t __le32;

#define cpu_to_be16(x)	htobe16(x)
#define cpu_to_be32(x)	htobe32(x)
#define cpu_to_be64(x)	htobe64(x)
#define cpu_to_le32(x)	htole32(x)
#define be16_to_cpu(x)	be16toh(x)
#define be32_to_cpu(x)	be32toh(x)
#define be64_to_cpu(x)	be64toh(x)
#define le32_to_cpu(x)	le32toh(x)

static inline u16 get_unaligned_be16(const void *p)
{
	__be16 v;

	memcpy(&v, p, sizeof(v));
	return be16_to_cpu(v);
}

static inline u32 get_unaligned_be32(const void *p)
{
	__be32 v;

	memcpy(&v, p, sizeof(v));
	return be32_to_cpu(v);
}

static inline u64 get_unaligned_be64(const void *p)
{
	__be64 v;

	memcpy(&v, p, sizeof(v));
	return be64_to_cpu(v);
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	__be16 be = cpu_to_be16(v);

	memcpy(p, &be, sizeof(be));
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	__be32 be = cpu_to_be32(v);

	memcpy(p, &be, sizeof(be));
}

static inline void put_unaligned_be64(u64 v, void *p)
{
	__be64 be = cpu_to_be64(v);

	memcpy(p, &be, sizeof(be));
}

static inline u32 get_unaligned_le32(const void *p)
{
	const u8 *b = p;

	return (u32)b[3] << 24 | (u32)b[2] << 16 | (u32)b[1] << 8 | b[0];
}

static inline void put_unaligned_le32(u32 v, void *p)
{
	__le32 le = cpu_to_le32(v);

	memcpy(p, &le, sizeof(le));
}

#define noinline		__attribute__((noinline))

#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
/* evaluates each argument once, as in the kernel */
#define __cmp_once(a, op, b, x, y)	\
	({ __auto_type x = (a); __auto_type y = (b); x op y ? x : y; })
#define __cmp_unique(a, op, b, n)	__cmp_named(a, op, b, n)
#define __cmp_named(a, op, b, n)	__cmp_once(a, op, b, x_##n, y_##n)
#define min(a, b)		__cmp_unique(a, <, b, __COUNTER__)
#define max(a, b)		__cmp_unique(a, >, b, __COUNTER__)
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define __packed		__attribute__((packed))
#define fallthrough		__attribute__((fallthrough))
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

/* like the kernel's crc32c(): no initial value, no final complement */
u32 crc32c(u32 crc, const void *data, size_t len);

#endif /* TERN_ENV_USER_H */
