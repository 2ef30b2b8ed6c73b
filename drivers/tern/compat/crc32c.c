// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * crc32c() for kernels whose own goes through the crypto API: the same hash, with a
 * descriptor of its size.
 */
#include <crypto/hash.h>
#include <linux/err.h>

/* the state of each "crc32c": its first and only word is the sum so far */
#define STATE_SIZE	sizeof(u32)

static struct crypto_shash *tfm;

int tern_compat_init(void)
{
	tfm = crypto_alloc_shash("crc32c", 0, 0);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	if (crypto_shash_descsize(tfm) == STATE_SIZE)
		return 0;
	crypto_free_shash(tfm);
	return -EOPNOTSUPP;
}

void tern_compat_exit(void)
{
	crypto_free_shash(tfm);
}

u32 tern_compat_crc32c(u32 crc, const void *data, unsigned int len)
{
	struct {
		struct shash_desc shash;
		u32 state;
	} desc = {
		.shash.tfm = tfm,
		.state = crc,
	};

	crypto_shash_update(&desc.shash, data, len);
	return desc.state;
}

/*
 * For an initramfs, where crypto_alloc_shash() may find no modprobe. No soft dependency:
 * modprobe -r would remove crc32c too, and fail if others use it.
 */
MODULE_WEAKDEP("crc32c");
