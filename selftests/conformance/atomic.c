// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Atomic Requests that the device serves: RFC 7306 5. Those that it refuses are in
 * atomic_bad.c, its own in atomic_post.c. No hello is said: a device takes them from any
 * peer (Q39).
 */
#include <string.h>

#include "ext.h"
#include "inflight.h"

#define ONES		UINT64_MAX
#define TARGET_LEN	4096
#define VALUE		0x0102030405060708ull
#define BIG		(2 << 20)

static uint8_t ulpdu[128];
static uint8_t burst[ENH_X * 128];

static struct atomic_req fetch_add(const struct agent_mr *mr, uint64_t n, uint64_t mask)
{
	static uint32_t id = 0x1000;

	return (struct atomic_req){ .op = FETCH_ADD, .id = id++, .stag = mr->rkey,
				    .to = mr->va, .data = n, .mask = mask,
				    .compare_mask = ONES };
}

/* do @a on @old; Return: what the target holds */
static uint64_t serve(struct scene *sc, const struct agent_mr *mr,
		      const struct atomic_req *a, uint64_t old)
{
	size_t at = a->to - mr->va;

	agent_poke64(mr, at, old);
	send_atomic(sc->p, a);
	must_get_atomic_resp(sc->p, a->id, old);
	return agent_peek64(mr, at);
}

/* the rows of a test: operands and old values, checked against the suite's arithmetic */
struct vector {
	struct atomic_req a;
	uint64_t old;
};

static void serve_vectors(const struct vector *v, size_t n)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a;
	size_t i;

	for (i = 0; i < n; i++) {
		a = v[i].a;
		a.id = i;
		a.stag = mr.rkey;
		a.to = mr.va + 8 * i;
		must_eq(serve(sc, &mr, &a, v[i].old), atomic_result(&a, v[i].old),
			"the target of vector %zu", i);
	}
}

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))
#define ADD(n, m)	{ .op = FETCH_ADD, .data = (n), .mask = (m), .compare_mask = ONES }
#define SWAP(n, m, cmp, cmp_m)						\
	{ .op = CMP_SWAP, .data = (n), .mask = (m), .compare = (cmp),	\
	  .compare_mask = (cmp_m) }

/* ---- one operation ---- */

static void atomic__fetch_add(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = fetch_add(&mr, 5, 0);

	must_eq(serve(sc, &mr, &a, VALUE), VALUE + 5, "the target");
	must_eq(agent_peek64(&mr, 8), 0xa5a5a5a5a5a5a5a5, "what follows the target");
	/* the program hears nothing, and its receive is still there */
	agent_must_get_no_wc(20);
	send_send(sc->p, "abc", 3);
	scene_must_receive(SCENE_RECV_ID, 3);
}

static void atomic__cmp_swap(void)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = { .op = CMP_SWAP, .id = 7, .stag = mr.rkey, .to = mr.va,
				.data = 99, .mask = ONES, .compare = VALUE,
				.compare_mask = ONES };

	must_eq(serve(sc, &mr, &a, VALUE), 99, "the target of an equal one");
	must_eq(serve(sc, &mr, &a, VALUE + 1), VALUE + 1, "the target of another");
	agent_must_get_no_wc(20);
}

static void atomic__masks_of_fetch_add(void)
{
	static const struct vector v[] = {
		{ ADD(1, 0), ONES },
		{ ADD(ONES, 0), 1 },
		{ ADD(0x00000001ffffffff, 0x8000000080000000), 0x0000000100000001 },
		{ ADD(0x0101010101010101, 0x8080808080808080), 0xff00ff00ff00ff00 },
		{ ADD(0xf0f0f0f0f0f0f0f0, ONES), 0xff00ff00ff00ff00 },
		{ ADD(1, 1), 1 },
		{ ADD(0x8000000000000000, 0x8000000000000000), 0x8000000000000000 },
	};

	serve_vectors(v, COUNT(v));
}

static void atomic__masks_of_cmp_swap(void)
{
	static const struct vector v[] = {
		{ SWAP(0x1234, 0xff, 0xab00, 0xff00), 0xabcd },
		{ SWAP(0x1234, 0xff, 0xac00, 0xff00), 0xabcd },
		{ SWAP(0x1234, 0, 0xabcd, ONES), 0xabcd },
		{ SWAP(0x1234, ONES, 99, 0), 0xabcd },
		{ SWAP(ONES, 0x8000000000000001, VALUE, ONES), VALUE },
		{ SWAP(0, 0x8000000000000000, VALUE | 1ull << 63, ONES >> 1), VALUE },
	};

	serve_vectors(v, COUNT(v));
}

static void atomic__any_aligned_place(void)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	static const size_t places[] = { 0, 8, 1000, TARGET_LEN - 8 };
	struct atomic_req a;
	size_t i;

	for (i = 0; i < COUNT(places); i++) {
		a = fetch_add(&mr, i, 0);
		a.to += places[i];
		must_eq(serve(sc, &mr, &a, 100), 100 + i, "the target at %zu", places[i]);
	}
}

static void atomic__what_is_ignored(void)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = fetch_add(&mr, 5, 0);
	uint8_t body[ATOMIC_REQ_LEN];
	struct seg seg;

	a.op |= 0xfffffff0;
	a.compare = VALUE;
	a.compare_mask = 1;
	agent_poke64(&mr, 0, 1);
	atomic_encode(&a, body);
	seg = ext_seg(sc, OP_ATOMIC_REQ, body, sizeof(body));
	seg.stag = sc->sink.rkey;
	scene_put(sc, &seg);
	must_get_atomic_resp(sc->p, a.id, 1);
	must_eq(agent_peek64(&mr, 0), 6, "the target");
}

/* ---- several ---- */

static void atomic__sees_the_write_before(void)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "lwa");
	struct atomic_req a = fetch_add(&mr, 0, 0);
	uint8_t word[8];
	uint32_t len;
	size_t n;

	/* the same in either byte order */
	memset(word, 0x3c, sizeof(word));
	len = seg_write(sc->p, mr.rkey, mr.va, word, sizeof(word), true, ulpdu);
	n = fpdu_build(sc->p, ulpdu, len, NULL, burst);
	len = seg_atomic(sc->p, &a, ulpdu);
	n += fpdu_build(sc->p, ulpdu, len, NULL, burst + n);
	peer_send(sc->p, burst, n);
	must_get_atomic_resp(sc->p, a.id, 0x3c3c3c3c3c3c3c3c);
}

static void atomic__in_order(void)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = fetch_add(&mr, 1, 0);
	size_t n = 0;
	uint32_t i;

	agent_poke64(&mr, 0, 100);
	for (i = 0; i < 4; i++) {
		a.id = i;
		n += fpdu_build(sc->p, ulpdu, seg_atomic(sc->p, &a, ulpdu), NULL, burst + n);
	}
	peer_send(sc->p, burst, n);
	for (i = 0; i < 4; i++)
		must_get_atomic_resp(sc->p, i, 100 + i);
}

/* the byte that each Read finds says which atomics went before it */
static void atomic__in_order_with_reads(void)
{
	struct scene *sc = ext_scene_bare("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "lra");
	struct atomic_req a = fetch_add(&mr, 0x0101010101010101, 0);
	struct fpdu f;
	size_t n = 0;
	int i;

	agent_poke64(&mr, 0, 0);
	for (i = 0; i < 3; i++) {
		n += fpdu_build(sc->p, ulpdu, seg_read_req(sc->p, i, 0, 1, mr.rkey, mr.va,
							   ulpdu), NULL, burst + n);
		n += fpdu_build(sc->p, ulpdu, seg_atomic(sc->p, &a, ulpdu), NULL, burst + n);
	}
	peer_send(sc->p, burst, n);
	for (i = 0; i < 3; i++) {
		must_get_op(sc->p, &f, OP_READ_RESP);
		must_eq(f.seg.stag, i, "sink of the Response");
		must_eq(f.seg.data[0], i, "the byte that was read");
		must_get_atomic_resp(sc->p, a.id, 0x0101010101010101 * i);
	}
}

static int granted_ird(const struct session *s)
{
	int ird = enh_word0(&s->p->reply) & ENH_X;

	if (ird == ENH_X)
		skip("the device does not negotiate its IRD");
	return ird;
}

static struct scene *start_narrow(struct agent_mr *mr, int *ird)
{
	struct session s = { .qp = AGENT_QP_DEFAULT, .tcp = NARROW_TCP };

	ext_set("negotiate");
	s.qp.ird = 2;
	session_start(&s);
	*ird = granted_ird(&s);
	*mr = agent_mr(BIG, "lra");
	return scene_start_on(&s);
}

/* while the Response to the first Read fills TCP, IRD - 1 Reads and IRD Atomics wait */
static void fill_slots(struct scene *sc, const struct agent_mr *mr, int ird)
{
	struct atomic_req a = fetch_add(mr, 1, 0);
	int i;

	for (i = 0; i < ird; i++)
		send_read_req(sc->p, i, 0, i ? 8 : BIG, mr->rkey, mr->va);
	for (i = 0; i < ird; i++) {
		a.id = i;
		send_atomic(sc->p, &a);
	}
}

static void atomic__as_many_as_ird_beside_reads(void)
{
	struct agent_mr mr;
	int i, ird;
	struct scene *sc = start_narrow(&mr, &ird);
	struct fpdu f;

	agent_poke64(&mr, 0, 50);
	fill_slots(sc, &mr, ird);
	for (i = 0; i < ird; i++)
		do
			must_get_op(sc->p, &f, OP_READ_RESP);
		while (!seg_last(&f.seg));
	for (i = 0; i < ird; i++)
		must_get_atomic_resp(sc->p, i, 50 + i);
	must_be_alive(sc->p);
}

static void atomic__not_more_than_ird(void)
{
	struct agent_mr mr;
	int ird;
	struct scene *sc = start_narrow(&mr, &ird);
	struct atomic_req a = fetch_add(&mr, 1, 0);
	uint32_t len;

	fill_slots(sc, &mr, ird);
	len = seg_atomic(sc->p, &a, ulpdu);
	peer_send_fpdu(sc->p, ulpdu, len);
	scene_must_end(sc, ulpdu, len, DU_NO_BUFFER, VERDICT_NONE);
}

#define ROUNDS	20
#define DEPTH	4

/* two streams add to one word at the same time: all old values differ */
static void atomic__two_streams_one_word(void)
{
	static bool seen[2 * ROUNDS * DEPTH];
	struct session s[2];
	struct agent_mr mr;
	struct atomic_req a;
	struct fpdu f;
	int round, i, k;
	uint64_t old;

	memset(seen, 0, sizeof(seen));
	ext_set("negotiate");
	s[0] = session_default();
	s[1] = session_default();
	mr = agent_mr(TARGET_LEN, "la");
	agent_poke64(&mr, 0, 0);
	a = fetch_add(&mr, 1, 0);
	for (round = 0; round < ROUNDS; round++) {
		for (k = 0; k < 2 * DEPTH; k++)
			send_atomic(s[k % 2].p, &a);
		for (i = 0; i < 2 * DEPTH; i++) {
			must_get_op(s[i % 2].p, &f, OP_ATOMIC_RESP);
			old = get64(f.seg.data + 4);
			must(old < COUNT(seen) && !seen[old], "the old value %llu",
			     (unsigned long long)old);
			seen[old] = true;
		}
	}
	must_eq(agent_peek64(&mr, 0), COUNT(seen), "the sum");
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(atomic__fetch_add,
	    "EXT-007 EXT-008 EXT-011 EXT-013 EXT-018 EXT-019 EXT-026 EXT-028 EXT-029 "
	    "EXT-034 EXT-035 EXT-040 EXT-041 EXT-042 Q39",
	    "a FetchAdd is answered by the device itself with the old value", EITHER),
	ROW(atomic__cmp_swap, "EXT-011 EXT-019 EXT-020 EXT-021 EXT-028 EXT-034 EXT-035",
	    "a CmpSwap changes the target if it is equal, and returns the old value",
	    EITHER),
	ROW(atomic__masks_of_fetch_add, "EXT-018",
	    "no carry leaves a bit whose mask is set", RESPONDER),
	ROW(atomic__masks_of_cmp_swap, "EXT-020 EXT-021",
	    "only the bits of the masks are compared and swapped", RESPONDER),
	ROW(atomic__any_aligned_place, "EXT-030",
	    "the target may be any aligned word of the region", RESPONDER),
	ROW(atomic__what_is_ignored, "EXT-006 EXT-027 EXT-031",
	    "reserved bits, the Invalidate STag and a FetchAdd's compare fields do nothing",
	    RESPONDER),
	ROW(atomic__sees_the_write_before, "EXT-052 EXT-054",
	    "an atomic sees the Write before it", EITHER),
	ROW(atomic__in_order, "EXT-039 EXT-047 EXT-057",
	    "Atomics are done and answered in order", EITHER),
	ROW(atomic__in_order_with_reads, "EXT-025 EXT-039 EXT-047 EXT-057 EXT-058",
	    "Reads and Atomics share one sequence, and are answered in its order", EITHER),
	ROW(atomic__as_many_as_ird_beside_reads, "EXT-043 Q44",
	    "IRD Reads and IRD Atomics at once are answered", RESPONDER),
	ROW(atomic__not_more_than_ird, "EXT-033 Q44 Q29 S6",
	    "an Atomic Request beyond IRD is refused", RESPONDER),
	ROW(atomic__two_streams_one_word, "EXT-009 EXT-048 EXT-050",
	    "atomics of two streams on one word do not mix", RESPONDER),
	{}
};

const struct conform_group atomic_group = { "atomic", tests };
