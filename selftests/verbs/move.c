// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Moves of bytes, and the model that both ends are compared with (move.h). */
#include "move.h"

#include <string.h>

#define LAST_ID	1000

static struct move posted[MOVE_BATCH];
static uint32_t num_posted;
static uint8_t *model_a, *model_b;

static uint8_t *model_of(const struct end *e)
{
	uint8_t *copy = malloc(e->buf_len);

	must(copy);
	memcpy(copy, e->buf, e->buf_len);
	return copy;
}

void moves_up(size_t len, size_t source)
{
	const struct want want = {
		.buf_len = len,
		.cap = { .max_send_wr = MOVE_BATCH + 1, .max_recv_wr = MOVE_BATCH + 1,
			 .max_send_sge = MOVE_LIST, .max_recv_sge = MOVE_LIST },
	};

	pair_up(&want, &want);
	fill(a.buf, source, 1);
	fill(b.buf, source, 2);
	model_a = model_of(&a);
	model_b = model_of(&b);
}

void moves_down(void)
{
	free(model_a);
	free(model_b);
	pair_down();
}

/* ---- the model ----------------------------------------------------------------- */

static uint32_t length_of(const struct piece *list, int n)
{
	uint32_t sum = 0;

	while (n--)
		sum += list++->len;
	return sum;
}

/* byte by byte, so that nothing is shared with the code under test */
static void do_move(const struct move *m)
{
	bool read = m->op == IBV_WR_RDMA_READ;
	const uint8_t *src = read ? model_b : model_a;
	uint8_t *dst = read ? model_a : model_b;
	const struct piece *to = m->to;
	uint32_t at = 0, i;
	int k;

	for (k = 0; k < m->froms; k++) {
		for (i = 0; i < m->from[k].len; i++) {
			while (at == to->len) {
				to++;
				at = 0;
			}
			dst[to->off + at++] = src[m->from[k].off + i];
		}
	}
}

static bool writes_at(const struct move *m, size_t off)
{
	int i;

	for (i = 0; i < m->tos; i++)
		if (off >= m->to[i].off && off < (size_t)m->to[i].off + m->to[i].len)
			return true;
	return false;
}

static void print_list(const char *word, const struct piece *list, int n)
{
	printf(" %s", word);
	while (n--) {
		printf(" %u+%u", list->off, list->len);
		list++;
	}
}

static void print_move(const struct move *m)
{
	printf("#   %s", m->op == IBV_WR_SEND ? "Send" :
			  m->op == IBV_WR_RDMA_WRITE ? "Write" : "Read");
	print_list("from", m->from, m->froms);
	print_list("to", m->to, m->tos);
	printf("\n");
}

static void compare(const struct end *e, const uint8_t *model, bool by_reads)
{
	uint32_t i;
	size_t off;

	if (!memcmp(e->buf, model, e->buf_len))
		return;
	for (off = 0; e->buf[off] == model[off]; off++)
		;
	for (i = 0; i < num_posted; i++) {
		bool is_read = posted[i].op == IBV_WR_RDMA_READ;

		if (is_read == by_reads && writes_at(&posted[i], off))
			print_move(&posted[i]);
	}
	must(false, "%s: byte %zu of the buffer is %#x, not %#x (no move above: written "
	     "by none)", by_reads ? "a" : "b", off, e->buf[off], model[off]);
}

/* ---- posting ------------------------------------------------------------------- */

static void list_of(const struct end *e, const struct piece *list, int n, struct ibv_sge *sge)
{
	int i;

	for (i = 0; i < n; i++)
		sge[i] = sge_at(e, list[i].off, list[i].len);
}

void move_post(const struct move *m)
{
	bool read = m->op == IBV_WR_RDMA_READ;
	struct ibv_sge mine[MOVE_LIST], theirs[MOVE_LIST];
	struct ibv_send_wr wr = {
		.wr_id = num_posted, .opcode = m->op, .sg_list = mine,
		.num_sge = read ? m->tos : m->froms,
		.send_flags = IBV_SEND_SIGNALED,
	};

	list_of(&a, read ? m->to : m->from, wr.num_sge, mine);
	if (m->op == IBV_WR_SEND) {
		list_of(&b, m->to, m->tos, theirs);
		post_recv_sge(&b, num_posted, theirs, m->tos);
	} else {
		wr.wr.rdma.rkey = b.mr->rkey;
		wr.wr.rdma.remote_addr = (uintptr_t)b.buf +
					 (read ? m->from[0].off : m->to[0].off);
	}
	post(&a, &wr);
	posted[num_posted++] = *m;
	do_move(m);
}

void moves_check(void)
{
	uint32_t i;

	/* a Send that arrives after Writes shows that they are placed */
	post_recv(&b, LAST_ID, 0, 0);
	post_send(&a, LAST_ID, 0, 0, IBV_SEND_SIGNALED);
	for (i = 0; i < num_posted; i++)
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
	expect_wc(a.scq, LAST_ID, IBV_WC_SUCCESS);
	for (i = 0; i < num_posted; i++)
		if (posted[i].op == IBV_WR_SEND)
			expect_recv(&b, i, length_of(posted[i].from, posted[i].froms));
	expect_recv(&b, LAST_ID, 0);
	compare(&a, model_a, true);
	compare(&b, model_b, false);
	num_posted = 0;
	if (test_failures)
		must(false, "the completions above are wrong");
}
