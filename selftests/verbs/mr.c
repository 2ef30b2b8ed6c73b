// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* ibv_rereg_mr(), and regions with a chosen IOVA or zero-based (RFC 5041 8.3). */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

#define LOCAL	IBV_ACCESS_LOCAL_WRITE
#define TRANS	IBV_REREG_MR_CHANGE_TRANSLATION
#define PD	IBV_REREG_MR_CHANGE_PD
#define ACCESS	IBV_REREG_MR_CHANGE_ACCESS
#define LEN	16384

static uint8_t *pages(int prot)
{
	uint8_t *p = mmap(NULL, LEN, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED);
	return p;
}

/* register a second region of b, with memory of its own */
static struct ibv_mr *reg(int access)
{
	struct ibv_mr *mr = ibv_reg_mr(b.pd, pages(PROT_READ | PROT_WRITE), LEN,
				       access);

	must(mr);
	return mr;
}

static void drop(struct ibv_mr *mr)
{
	must(!ibv_dereg_mr(mr));
}

static uint64_t at(const void *p)
{
	return (uintptr_t)p;
}

/* ---- rereg: what it changes --------------------------------------------------- */

/* DDP-113: the old key gives access neither to the old memory nor to the new */
static void rereg_translation(void)
{
	uint8_t *old, *new = pages(PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;
	uint32_t key;

	pair_up(NULL, NULL);
	mr = reg(ALL_RIGHTS);
	old = mr->addr;
	key = mr->rkey;
	expect_reach(&a, key, at(old), 64);
	must(!ibv_rereg_mr(mr, TRANS, NULL, new + 100, 5000, 0));
	expect(mr->addr == new + 100 && mr->length == 5000);
	memset(old, 0x55, LEN);
	expect_reach(&a, mr->rkey, at(new + 100), 5000);
	expect(new[100] != 0 && old[0] == 0x55);
	expect_no_write(&a, mr->rkey, at(new + 100 + 4993), TERM(1, 1, 1));
	another();
	expect_no_write(&a2, key, at(old), TERM(1, 1, 0));
	another();
	expect_no_read(&a2, key, at(new + 100), TERM(0, 1, 0));
	expect(old[0] == 0x55);
	drop(mr);
	another_down();
}

static void rereg_access(void)
{
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	mr = reg(ALL_RIGHTS);
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0,
			   LOCAL | IBV_ACCESS_REMOTE_READ));
	expect_no_write(&a, mr->rkey, at(mr->addr), TERM(1, 1, 0));
	another();
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0,
			   LOCAL | IBV_ACCESS_REMOTE_WRITE));
	expect_no_read(&a2, mr->rkey, at(mr->addr), TERM(0, 1, 2));
	another();
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, ALL_RIGHTS));
	expect_reach(&a2, mr->rkey, at(mr->addr), LEN);
	drop(mr);
	another_down();
}

static void rereg_pd(void)
{
	struct ibv_mr *mr;
	struct ibv_pd *pd;

	pair_up(NULL, NULL);
	pd = ibv_alloc_pd(b.id->verbs);
	must(pd);
	mr = reg(ALL_RIGHTS);
	must(!ibv_rereg_mr(mr, PD, pd, NULL, 0, 0));
	expect(mr->pd == pd);
	expect_eq(ibv_dealloc_pd(pd), EBUSY);
	expect_no_read(&a, mr->rkey, at(mr->addr), TERM(0, 1, 3));
	another();
	must(!ibv_rereg_mr(mr, PD, b.pd, NULL, 0, 0));
	expect_eq(ibv_dealloc_pd(pd), 0);
	expect_reach(&a2, mr->rkey, at(mr->addr), 64);
	drop(mr);
	another_down();
}

/* each combination of flags changes what they name and nothing else */
static void rereg_combinations(void)
{
	uint8_t *new = pages(PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	int flags;

	pair_up(NULL, NULL);
	pd = ibv_alloc_pd(b.id->verbs);
	must(pd);
	for (flags = 1; flags < 8; flags++) {
		uint32_t term = flags & PD ? TERM(0, 1, 3) : TERM(0, 1, 2);

		another();
		mr = reg(ALL_RIGHTS);
		must(!ibv_rereg_mr(mr, flags, pd, new, 4096,
				   flags & ACCESS ? LOCAL : 0));
		expect(mr->pd == (flags & PD ? pd : b.pd));
		expect((mr->addr == new) == !!(flags & TRANS));
		if (flags & (PD | ACCESS))
			expect_no_read(&a2, mr->rkey, at(mr->addr), term);
		else
			expect_reach(&a2, mr->rkey, at(mr->addr), 4096);
		drop(mr);
	}
	must(!ibv_dealloc_pd(pd));
	another_down();
}

/* the local key changes too: the new one works, the old one does not */
static void rereg_local_key(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};
	struct ibv_mr *mr;
	uint32_t old;

	pair_up(NULL, NULL);
	mr = reg(LOCAL);
	old = mr->lkey;
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, LOCAL));
	expect(mr->lkey != old);
	sge = (struct ibv_sge){ at(mr->addr), 8, mr->lkey };
	post_recv_sge(&b, 1, &sge, 1);
	post_send(&a, 1, 0, 8, 0);
	expect_recv(&b, 1, 8);
	sge.lkey = old;
	post(&b, &wr);
	expect_wc(b.scq, 2, IBV_WC_LOC_PROT_ERR);
	expect_error_state(&a);
	drop(mr);
	pair_down();
}

/* ---- rereg: what it refuses ----------------------------------------------------- */

static void rereg_inputs(void)
{
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	mr = reg(ALL_RIGHTS);
	expect_eq(ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0),
		  IBV_REREG_MR_ERR_INPUT);
	expect_eq(ibv_rereg_mr(mr, TRANS, NULL, NULL, 4096, 0),
		  IBV_REREG_MR_ERR_INPUT);
	expect_eq(ibv_rereg_mr(mr, TRANS, NULL, mr->addr, 0, 0),
		  IBV_REREG_MR_ERR_INPUT);
	expect_eq(ibv_rereg_mr(mr, PD, b.pd, NULL, 0, LOCAL),
		  IBV_REREG_MR_ERR_INPUT);
	expect_reach(&a, mr->rkey, at(mr->addr), 64);
	drop(mr);
	pair_down();
}

static void refused(struct ibv_mr *mr, int flags, void *addr, size_t len,
		    int access, int err)
{
	errno = 0;
	expect_eq(ibv_rereg_mr(mr, flags, NULL, addr, len, access),
		  IBV_REREG_MR_ERR_CMD);
	expect_eq(errno, err);
}

/* a failed rereg leaves the region unchanged */
static void rereg_commands(void)
{
	uint8_t *hole = pages(PROT_READ | PROT_WRITE);
	uint8_t *ro = pages(PROT_READ);
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	must(!munmap(hole + 4096, 4096));
	mr = reg(ALL_RIGHTS);
	refused(mr, 0, NULL, 0, 0, EINVAL);
	refused(mr, TRANS, hole, LEN, 0, EFAULT);
	refused(mr, TRANS, ro, LEN, 0, EFAULT);
	refused(mr, TRANS, hole, (size_t)-4096, 0, EINVAL);
	refused(mr, ACCESS, NULL, 0, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	refused(mr, ACCESS, NULL, 0, LOCAL | IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
	expect_reach(&a, mr->rkey, at(mr->addr), LEN);
	drop(mr);
	pair_down();
}

/* a rereg cannot allow writing to memory that the program can only read */
static void rereg_read_only(void)
{
	uint8_t *ro = pages(PROT_READ);
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	mr = ibv_reg_mr(b.pd, ro, LEN, IBV_ACCESS_REMOTE_READ);
	must(mr);
	refused(mr, ACCESS, NULL, 0, ALL_RIGHTS, EFAULT);
	expect_no_write(&a, mr->rkey, at(ro), TERM(1, 1, 0));
	another();
	must(!mprotect(ro, LEN, PROT_READ | PROT_WRITE));
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, ALL_RIGHTS));
	expect_reach(&a2, mr->rkey, at(ro), LEN);
	/* the MR has the program's own pages: it sees what the peer wrote */
	expect_bytes(ro, a2.buf, LEN);
	drop(mr);
	another_down();
}

/* a child has the handle, but its addresses map other memory: rereg fails */
static void rereg_in_a_child(void)
{
	struct ibv_mr *mr;
	int status = -1;
	pid_t child;

	pair_up(NULL, NULL);
	mr = ibv_reg_mr(b.pd, pages(PROT_READ | PROT_WRITE), LEN,
			IBV_ACCESS_REMOTE_READ);
	must(mr);
	child = fork();
	must(child >= 0);
	if (!child)
		_exit(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, ALL_RIGHTS) !=
		      IBV_REREG_MR_ERR_CMD);
	must(waitpid(child, &status, 0) == child);
	expect_eq(status, 0);
	expect_no_write(&a, mr->rkey, at(mr->addr), TERM(1, 1, 0));
	drop(mr);
	pair_down();
}

/*
 * DDP-113: no byte of the old memory changes after the verb returned, although Writes
 * are still arriving. The stream ends because of its old key, another stream continues.
 */
static void rereg_under_fire(void)
{
	struct ibv_mr *mr;
	uint8_t *old, *seen;
	uint32_t key;

	pair_up(NULL, NULL);
	another();
	drop_async(&b);
	mr = reg(ALL_RIGHTS);
	old = mr->addr;
	key = mr->rkey;
	seen = pages(PROT_READ | PROT_WRITE);
	memset(a.buf, 0x77, LEN);
	post_writes(&a, 25, LEN, key, at(old));
	must(!ibv_rereg_mr(mr, TRANS, NULL, b.buf, 4096, 0));
	memset(old, 0x11, LEN);
	memcpy(seen, old, LEN);
	post_writes(&a, 23, LEN, key, at(old));
	expect_no_write(&a, key, at(old), TERM(1, 1, 0));
	expect_async(&b, IBV_EVENT_QP_ACCESS_ERR);
	expect_bytes(seen, old, LEN);
	expect_reach(&a2, mr->rkey, at(b.buf), 4096);
	drop(mr);
	another_down();
}

/* ---- offsets --------------------------------------------------------------------- */

/* offsets count from 0 for the peer and for local use, wherever the memory begins */
static void zero_based(void)
{
	struct ibv_sge sge;
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	mr = ibv_reg_mr(b.pd, b.buf + 1234, 5000,
			ALL_RIGHTS | IBV_ACCESS_ZERO_BASED);
	must(mr);
	expect_reach(&a, mr->rkey, 0, 5000);
	expect_bytes(b.buf + 1234, a.buf, 5000);
	sge = (struct ibv_sge){ 100, 8, mr->lkey };
	post_recv_sge(&b, 1, &sge, 1);
	fill(a.buf, 8, 3);
	post_send(&a, 1, 0, 8, 0);
	expect_recv(&b, 1, 8);
	expect(filled(b.buf + 1334, 8, 3));
	expect_no_write(&a, mr->rkey, 4993, TERM(1, 1, 1));
	another();
	expect_no_read(&a2, mr->rkey, at(b.buf + 1234), TERM(0, 1, 1));
	drop(mr);
	another_down();
}

static void rereg_zero_based(void)
{
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	mr = reg(ALL_RIGHTS | IBV_ACCESS_ZERO_BASED);
	must(!ibv_rereg_mr(mr, TRANS, NULL, b.buf + 4097, 4096, 0));
	expect_reach(&a, mr->rkey, 0, 4096);
	expect_bytes(b.buf + 4097, a.buf, 4096);
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, ALL_RIGHTS));
	expect_reach(&a, mr->rkey, at(b.buf + 4097), 4096);
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0,
			   ALL_RIGHTS | IBV_ACCESS_ZERO_BASED));
	expect_reach(&a, mr->rkey, 0, 4096);
	drop(mr);
	pair_down();
}

/* a change of rights keeps the IOVA */
static void rereg_iova(void)
{
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	mr = ibv_reg_mr_iova(b.pd, b.buf + 16, 8192, 0x123456789010ull,
			     ALL_RIGHTS);
	must(mr);
	must(!ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, ALL_RIGHTS));
	expect_reach(&a, mr->rkey, 0x123456789010ull, 8192);
	expect_bytes(b.buf + 16, a.buf, 8192);
	drop(mr);
	pair_down();
}

/* no two live regions have the same STag index */
static void indexes_differ(void)
{
	static struct ibv_mr *mr[1000];
	static uint8_t seen[1 << 24];
	unsigned int i;

	pair_up(NULL, NULL);
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < ARRAY_LEN(mr); i++) {
		mr[i] = ibv_reg_mr(a.pd, a.buf, 8, LOCAL);
		must(mr[i]);
		expect(!seen[mr[i]->rkey >> 8]++);
	}
	for (i = 0; i < ARRAY_LEN(mr); i++)
		drop(mr[i]);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "rereg_mr__translation", rereg_translation },
	{ "rereg_mr__access", rereg_access },
	{ "rereg_mr__pd", rereg_pd },
	{ "rereg_mr__every_combination", rereg_combinations },
	{ "rereg_mr__local_key", rereg_local_key },
	{ "rereg_mr__bad_input_is_refused_by_the_library", rereg_inputs },
	{ "rereg_mr__what_fails_changes_nothing", rereg_commands },
	{ "rereg_mr__read_only_memory_stays_read_only (DDP-105)", rereg_read_only },
	{ "rereg_mr__in_a_child", rereg_in_a_child },
	{ "rereg_mr__under_the_peers_writes", rereg_under_fire },
	{ "rereg_mr__zero_based", rereg_zero_based },
	{ "rereg_mr__keeps_its_iova", rereg_iova },
	{ "reg_mr__zero_based", zero_based },
	{ "reg_mr__indexes_differ", indexes_differ },
};

const struct tap_theme mr_theme = { tests, ARRAY_LEN(tests) };
