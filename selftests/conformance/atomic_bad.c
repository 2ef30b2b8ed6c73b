// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Atomic Requests that the device refuses: RFC 7306 5.1 and 8.2. The Terminate has the
 * DDP header and no RDMA header (EXT-073), which ext_refuse() checks; the target keeps
 * its bytes.
 */
#include "ext.h"

#define ONES		UINT64_MAX
#define TARGET_LEN	4096

static uint8_t body[ATOMIC_REQ_LEN + 1];

static struct atomic_req good(const struct agent_mr *mr, enum atomic_op op)
{
	return (struct atomic_req){ .op = op, .id = 3, .stag = mr->rkey, .to = mr->va,
				    .data = 1, .mask = op == CMP_SWAP ? ONES : 0,
				    .compare = op == CMP_SWAP ? 0xa5a5a5a5a5a5a5a5 : 0,
				    .compare_mask = ONES };
}

static struct seg segment(struct scene *sc, const struct atomic_req *a)
{
	atomic_encode(a, body);
	return ext_seg(sc, OP_ATOMIC_REQ, body, ATOMIC_REQ_LEN);
}

static void refuse(struct scene *sc, const struct agent_mr *mr,
		   const struct atomic_req *a, int verdict)
{
	struct seg seg = segment(sc, a);

	ext_refuse(sc, &seg, verdict);
	must_be_untouched(mr);
}

/* ---- the target ---- */

/* a FetchAdd (or CmpSwap) of the word at @at of a region of @access */
static void refuse_at(enum atomic_op op, int64_t at, const char *access, int verdict)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, access);
	struct atomic_req a = good(&mr, op);

	a.to += at;
	refuse(sc, &mr, &a, verdict);
}

static void unaligned(enum atomic_op op)
{
	int at;

	for (at = 1; at < 8; at++) {
		refuse_at(op, at, "la", RO_STREAM);
		agent_reset();
	}
}

static void atomic_bad__unaligned_fetch_add(void)
{
	unaligned(FETCH_ADD);
}

static void atomic_bad__unaligned_cmp_swap(void)
{
	unaligned(CMP_SWAP);
}

static void atomic_bad__below(void)
{
	refuse_at(FETCH_ADD, -8, "la", RP_BOUNDS);
}

static void atomic_bad__above(void)
{
	refuse_at(CMP_SWAP, TARGET_LEN, "la", RP_BOUNDS);
}

/* out of bounds and unaligned: the bounds come first */
static void atomic_bad__ends_above(void)
{
	refuse_at(FETCH_ADD, TARGET_LEN - 4, "la", RP_BOUNDS);
}

static void atomic_bad__no_right(void)
{
	refuse_at(FETCH_ADD, 0, "lrw", RP_ACCESS);
}

/* no right and unaligned: the right comes first */
static void atomic_bad__no_right_and_unaligned(void)
{
	refuse_at(CMP_SWAP, 1, "lrw", RP_ACCESS);
}

static void atomic_bad__wraps(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = good(&mr, FETCH_ADD);

	a.to = ONES - 3;
	refuse(sc, &mr, &a, RP_WRAP);
}

static void atomic_bad__another_key(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = good(&mr, FETCH_ADD);

	a.stag ^= 1;
	refuse(sc, &mr, &a, RP_INV_STAG);
}

static void atomic_bad__region_is_gone(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = good(&mr, CMP_SWAP);

	agent_dereg(&mr);
	refuse(sc, &mr, &a, RP_INV_STAG);
}

static void atomic_bad__another_pd(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr_pd(TARGET_LEN, "la", 1);
	struct atomic_req a = good(&mr, FETCH_ADD);

	refuse(sc, &mr, &a, RP_NOT_ASSOC);
}

/* ---- the operation ---- */

static void atomic_bad__operation(void)
{
	static const uint32_t ops[] = { 1, 3, 4, 8, 15 };
	struct scene *sc;
	struct agent_mr mr;
	struct atomic_req a;
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		sc = ext_scene("negotiate");
		mr = agent_mr(TARGET_LEN, "la");
		a = good(&mr, FETCH_ADD);
		a.op = ops[i];
		refuse(sc, &mr, &a, RO_OPCODE);
		agent_reset();
	}
}

static void atomic_bad__operation_and_stag(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = good(&mr, FETCH_ADD);

	a.op = 1;
	a.stag ^= 1;
	refuse(sc, &mr, &a, RO_OPCODE);
}

/* ---- the form ---- */

/* a good FetchAdd, which @change makes bad */
static void form(void (*change)(struct scene *sc, struct seg *seg), int verdict)
{
	struct scene *sc = ext_scene("negotiate");
	struct agent_mr mr = agent_mr(TARGET_LEN, "la");
	struct atomic_req a = good(&mr, FETCH_ADD);
	struct seg seg = segment(sc, &a);

	change(sc, &seg);
	ext_refuse(sc, &seg, verdict);
	must_be_untouched(&mr);
}

static void one_less(struct scene *sc, struct seg *seg)
{
	(void)sc;
	seg->len--;
}

static void one_more(struct scene *sc, struct seg *seg)
{
	(void)sc;
	seg->len++;
}

static void no_last(struct scene *sc, struct seg *seg)
{
	(void)sc;
	seg->ctrl &= ~DDP_LAST;
}

static void some_mo(struct scene *sc, struct seg *seg)
{
	(void)sc;
	seg->mo = 4;
}

static void next_msn(struct scene *sc, struct seg *seg)
{
	(void)sc;
	seg->msn++;
}

static void queue_0(struct scene *sc, struct seg *seg)
{
	seg->qn = 0;
	seg->msn = sc->p->tx_msn[0];
}

static void version_2(struct scene *sc, struct seg *seg)
{
	(void)sc;
	seg->rdmap = 0x80 | OP_ATOMIC_REQ;
}

static void atomic_bad__too_short(void)
{
	form(one_less, RO_STREAM);
}

static void atomic_bad__too_long(void)
{
	form(one_more, DU_TOO_LONG);
}

static void atomic_bad__without_l(void)
{
	form(no_last, RO_STREAM);
}

static void atomic_bad__with_mo(void)
{
	form(some_mo, DU_MO);
}

static void atomic_bad__next_msn(void)
{
	form(next_msn, DU_MSN);
}

static void atomic_bad__on_queue_0(void)
{
	form(queue_0, RO_OPCODE);
}

static void atomic_bad__of_version_2(void)
{
	form(version_2, RO_VERSION);
}

static void atomic_bad__is_untagged(void)
{
	struct scene *sc = ext_scene("negotiate");
	struct seg seg = scene_write(sc, 0, ATOMIC_REQ_LEN);

	seg_set_op(&seg, OP_ATOMIC_REQ);
	ext_refuse(sc, &seg, RO_OPCODE);
}

#define ROW(name, ids, rule, role) { #name, ids, rule, role, NEED_SET, name }

static const struct conform_test tests[] = {
	ROW(atomic_bad__unaligned_fetch_add, "EXT-016 EXT-017 EXT-073 EXT-077 S20",
	    "a FetchAdd that is not at a multiple of 8 is refused and changes nothing",
	    EITHER),
	ROW(atomic_bad__unaligned_cmp_swap, "EXT-023 EXT-024 EXT-073 EXT-077 S20",
	    "a CmpSwap that is not at a multiple of 8 is refused and changes nothing",
	    EITHER),
	ROW(atomic_bad__below, "EXT-078 EXT-073 S19",
	    "a target below the region is refused", EITHER),
	ROW(atomic_bad__above, "EXT-078 EXT-073 S19",
	    "a target above the region is refused", RESPONDER),
	ROW(atomic_bad__ends_above, "EXT-078 Q13 S19 S20",
	    "a target that ends above the region is refused", RESPONDER),
	ROW(atomic_bad__no_right, "EXT-078 EXT-073 S19",
	    "the rights to read and write are none to do atomics", EITHER),
	ROW(atomic_bad__no_right_and_unaligned, "EXT-078 Q13 S19 S20",
	    "the right is checked before the alignment", RESPONDER),
	ROW(atomic_bad__wraps, "EXT-078 EXT-073 S19",
	    "a target whose end wraps 64 bits is refused", RESPONDER),
	ROW(atomic_bad__another_key, "EXT-078 EXT-073 S19",
	    "an STag with another key is refused", RESPONDER),
	ROW(atomic_bad__region_is_gone, "EXT-078 EXT-073 S19",
	    "an STag whose region is gone is refused", RESPONDER),
	ROW(atomic_bad__another_pd, "EXT-078 EXT-073 S19",
	    "an STag of another protection domain is refused", RESPONDER),
	ROW(atomic_bad__operation, "EXT-036 EXT-073 Q47 S19",
	    "an operation other than FetchAdd and CmpSwap is refused", RESPONDER),
	ROW(atomic_bad__operation_and_stag, "EXT-036 Q13 Q47 S19",
	    "the operation is checked before the STag", RESPONDER),
	ROW(atomic_bad__too_short, "EXT-008 EXT-073 EXT-074 Q48 S16",
	    "an Atomic Request of 51 bytes is refused", RESPONDER),
	ROW(atomic_bad__too_long, "EXT-008 EXT-073 EXT-074 Q48 S8",
	    "an Atomic Request of 53 bytes is refused", RESPONDER),
	ROW(atomic_bad__without_l, "EXT-074 EXT-073 Q48 S16",
	    "an Atomic Request is one segment", RESPONDER),
	ROW(atomic_bad__with_mo, "EXT-074 EXT-073 S7",
	    "an Atomic Request is one segment, the first", RESPONDER),
	ROW(atomic_bad__next_msn, "EXT-074 EXT-073 S5",
	    "the MSN of an Atomic Request is the next of queue 1", RESPONDER),
	ROW(atomic_bad__on_queue_0, "EXT-037 EXT-075 EXT-073 S10",
	    "an Atomic Request is taken on queue 1 only", RESPONDER),
	ROW(atomic_bad__of_version_2, "EXT-076 EXT-073 S9",
	    "RV 2 is refused where no hello has agreed on it", RESPONDER),
	ROW(atomic_bad__is_untagged, "EXT-032 EXT-075 EXT-073 S10",
	    "a tagged Atomic Request is refused", RESPONDER),
	{}
};

const struct conform_group atomic_bad_group = { "atomic_bad", tests };
