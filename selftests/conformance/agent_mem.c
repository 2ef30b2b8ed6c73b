// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Memory regions: register, deregister, read and write their bytes. */
#define _GNU_SOURCE
#include "agent_mem.h"
#include "agent_dev.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define FILL		0xa5
#define REGIONS_MAX	256
#define LEN_MAX		(64u << 20)
#define PIECE_MAX	32768

/**
 * struct region - memory and its registration
 * @mr: NULL after deregistration; tests still read the memory (nothing may be
 *	placed) and use the lkey (the device must refuse it)
 */
struct region {
	struct ibv_mr *mr;
	uint32_t lkey;
	uint8_t *at;
	size_t len;
};

static struct region regions[REGIONS_MAX];
static int region_count;

static struct region *arg_region(struct call *c)
{
	uint64_t n = arg_number(c, REGIONS_MAX);

	if (n < (uint64_t)region_count)
		return &regions[n];
	if (!c->error)
		c->error = ENOENT;
	return NULL;
}

static int arg_access(struct call *c)
{
	static const struct {
		char letter;
		int flag;
	} letters[] = {
		{ 'l', IBV_ACCESS_LOCAL_WRITE }, { 'r', IBV_ACCESS_REMOTE_READ },
		{ 'w', IBV_ACCESS_REMOTE_WRITE }, { 'a', IBV_ACCESS_REMOTE_ATOMIC },
		{ 'b', IBV_ACCESS_MW_BIND }, { '-', 0 },
	};
	const char *word = arg_word(c);
	size_t i, n = sizeof(letters) / sizeof(*letters);
	int access = 0;

	for (; *word; word++) {
		for (i = 0; i < n && letters[i].letter != *word; i++)
			;
		if (i < n)
			access |= letters[i].flag;
		else
			c->error = EINVAL;
	}
	return access;
}

static int map(struct region *r, size_t len)
{
	r->len = len;
	r->at = mmap(NULL, len, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->at == MAP_FAILED)
		return errno;
	memset(r->at, FILL, len);
	return 0;
}

int cmd_mr(struct call *c)
{
	size_t len = arg_number(c, LEN_MAX);
	int access = arg_access(c);
	int pd = arg_number(c, DEV_PDS - 1);
	int error = arg_end(c) ?: dev_open();
	struct region *r = &regions[region_count];

	if (error)
		return error;
	if (region_count == REGIONS_MAX)
		return ENOSPC;
	if (!len)
		return EINVAL;
	error = map(r, len);
	if (error)
		return error;
	r->mr = ibv_reg_mr(dev.pd[pd], r->at, len, access);
	if (!r->mr) {
		error = errno;
		munmap(r->at, len);
		return error;
	}
	r->lkey = r->mr->lkey;
	say(c, "%d %u %llu %zu", region_count, r->mr->rkey,
	    (unsigned long long)(uintptr_t)r->at, len);
	region_count++;
	return 0;
}

int cmd_dereg(struct call *c)
{
	struct region *r = arg_region(c);
	int error = arg_end(c);

	if (error)
		return error;
	if (!r->mr)
		return ENOENT;
	error = ibv_dereg_mr(r->mr);
	if (!error)
		r->mr = NULL;
	return error;
}

static int outside(const struct region *r, size_t at, size_t len)
{
	return at > r->len || len > r->len - at;
}

int cmd_peek(struct call *c)
{
	struct region *r = arg_region(c);
	size_t at = arg_number(c, LEN_MAX);
	size_t len = arg_number(c, PIECE_MAX);
	int error = arg_end(c);

	if (error)
		return error;
	if (outside(r, at, len))
		return ERANGE;
	say_bytes(c, r->at + at, len);
	return 0;
}

int cmd_poke(struct call *c)
{
	static uint8_t piece[PIECE_MAX];
	struct region *r = arg_region(c);
	size_t at = arg_number(c, LEN_MAX);
	size_t len = arg_bytes(c, piece, sizeof(piece));
	int error = arg_end(c);

	if (error)
		return error;
	if (outside(r, at, len))
		return ERANGE;
	memcpy(r->at + at, piece, len);
	return 0;
}

/* the 8 bytes of a region that the next words name, or NULL */
static void *arg_word64(struct call *c)
{
	struct region *r = arg_region(c);
	size_t at = arg_number(c, LEN_MAX);

	if (!c->error && outside(r, at, sizeof(uint64_t)))
		c->error = ERANGE;
	return c->error ? NULL : r->at + at;
}

int cmd_peek64(struct call *c)
{
	const void *at = arg_word64(c);
	int error = arg_end(c);
	uint64_t v;

	if (error)
		return error;
	memcpy(&v, at, sizeof(v));
	say(c, "%llu", (unsigned long long)v);
	return 0;
}

int cmd_poke64(struct call *c)
{
	void *at = arg_word64(c);
	uint64_t v = arg_number(c, UINT64_MAX);
	int error = arg_end(c);

	if (!error)
		memcpy(at, &v, sizeof(v));
	return error;
}

int cmd_untouched(struct call *c)
{
	struct region *r = arg_region(c);
	int error = arg_end(c);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < r->len; i++) {
		if (r->at[i] != FILL) {
			say(c, "%zu %u", i, r->at[i]);
			return 0;
		}
	}
	return CALL_NONE;
}

int arg_sge(struct call *c, struct ibv_sge *sge, int inside)
{
	struct region *r;
	size_t at, len;

	if (c->words[c->next] && !strcmp(c->words[c->next], "-")) {
		c->next++;
		return 0;
	}
	r = arg_region(c);
	at = arg_number(c, UINT32_MAX);
	len = arg_number(c, UINT32_MAX);
	if (c->error)
		return 0;
	if (inside && outside(r, at, len))
		c->error = ERANGE;
	sge->addr = (uintptr_t)r->at + at;
	sge->length = len;
	sge->lkey = r->lkey;
	return 1;
}

struct ibv_mw_bind_info arg_range(struct call *c)
{
	struct ibv_mw_bind_info info = { 0 };
	struct region *r = arg_region(c);
	size_t at = arg_number(c, UINT32_MAX);

	info.length = arg_number(c, UINT32_MAX);
	info.mw_access_flags = arg_access(c);
	if (!c->error && !r->mr)
		c->error = ENOENT;
	if (c->error)
		return info;
	info.mr = r->mr;
	info.addr = (uintptr_t)r->at + at;
	return info;
}

void mem_reset(void)
{
	while (region_count > 0) {
		struct region *r = &regions[--region_count];

		if (r->mr)
			ibv_dereg_mr(r->mr);
		munmap(r->at, r->len);
		memset(r, 0, sizeof(*r));
	}
}
