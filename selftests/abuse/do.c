// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* One call: arguments by the table of abi.c, good or bad by a series of numbers. */
#include "abuse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "tern-abi.h"
#include "tern-nl.h"

#define ANSWER		512
#define COMMAND		2048
#define PAGE		4096
#define PAGES		(ARENA / PAGE)

/* ---- numbers ------------------------------------------------------------------- */

static uint64_t odd_number(struct series *s)
{
	static const uint64_t odd[] = {
		0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1ull << 63, ~0ull,
		4095, 4097, 1 << 16, 1 << 24, 65535, -4096ull,
	};
	uint64_t n = draw(s);

	return chance(s, 70) ? odd[n % (sizeof(odd) / sizeof(odd[0]))] : n;
}

/* ---- what a process has ---------------------------------------------------------- */

void keep(enum thing type, uint64_t value)
{
	unsigned int n = __atomic_fetch_add(&mine->have[type].n, 1, __ATOMIC_RELAXED);

	mine->have[type].value[n % KEPT] = value;
}

static uint64_t pick(const struct place *p, enum thing type, unsigned int back)
{
	unsigned int n = p->have[type].n;

	if (!n)
		return UINT32_MAX;
	if (n > KEPT)
		back %= KEPT;
	else
		back %= n;
	return p->have[type].value[(n - 1 - back) % KEPT];
}

/* one of ours: the newest but @skip when careful, else likely one of the newest */
uint64_t own(enum thing type, struct series *s, bool careful, unsigned int skip)
{
	uint64_t r = draw(s);

	return pick(mine, type, careful ? skip : (r & (r >> 8) & 7));
}

uint64_t handle(enum thing type, struct series *s, bool good, bool careful,
		unsigned int skip)
{
	const struct place *other = &program->places[draw(s) % program->n_places];

	if (good)
		return own(type, s, careful, skip);
	switch (draw(s) % 4) {
	case 0:		/* perhaps another process' */
		return pick(other, type, draw(s) % KEPT);
	case 1:		/* of another kind */
		return pick(mine, 1 + draw(s) % (THINGS - 1), draw(s) % KEPT);
	case 2:		/* old */
		return pick(mine, type, KEPT - 1);
	default:
		return odd_number(s);
	}
}

static uint8_t *const arena = (uint8_t *)ARENA_AT;

/* pages: writable, then read-only, then none, then some that come and go */
uint64_t memory(struct series *s, bool good)
{
	uint64_t at = (uintptr_t)arena + draw(s) % (PAGES / 2 * PAGE);

	if (good)
		return at;
	switch (draw(s) % 4) {
	case 0:
		return (uintptr_t)arena + PAGES * PAGE - PAGE / 2;
	case 1:
		return (uintptr_t)arena + (PAGES + 5) * PAGE;
	case 2:
		return (uintptr_t)arena + (PAGES + 10) * PAGE + draw(s) % PAGE;
	default:
		return odd_number(s);
	}
}

void shift_memory(struct series *s)
{
	uint8_t *p = arena + (PAGES + 8) * PAGE;
	int i;

	for (i = draw(s) % 20; i >= 0; i--) {
		munmap(p, 4 * PAGE);
		mmap(p, 4 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

static void find_family(void)
{
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		struct nlattr a;
		char name[8];
	} ask = {
		{ sizeof(ask), GENL_ID_CTRL, NLM_F_REQUEST, 0, 0 }, { CTRL_CMD_GETFAMILY, 1, 0 },
		{ sizeof(struct nlattr) + sizeof(TERN_FAMILY_NAME), CTRL_ATTR_FAMILY_NAME },
		TERN_FAMILY_NAME,
	};
	uint8_t answer[4096];
	ssize_t len, at = sizeof(struct nlmsghdr) + sizeof(struct genlmsghdr);

	if (send(mine->netlink, &ask, sizeof(ask), 0) < 0)
		return;
	len = recv(mine->netlink, answer, sizeof(answer), 0);
	while (at + (ssize_t)sizeof(struct nlattr) < len) {
		struct nlattr *a = (void *)(answer + at);

		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&mine->family, a + 1, sizeof(mine->family));
		if (a->nla_len < sizeof(*a))
			break;
		at += NLA_ALIGN(a->nla_len);
	}
}

void place_open(void)
{
	mmap(arena, (PAGES + 16) * PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mprotect(arena + PAGES * PAGE, 4 * PAGE, PROT_READ);
	mprotect(arena + (PAGES + 4) * PAGE, 4 * PAGE, PROT_NONE);
	mine->uverbs = open(program->uverbs, O_RDWR | O_CLOEXEC);
	mine->cm = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	mine->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	find_family();
}

/* ---- one field ----------------------------------------------------------------------- */

static void put_address(void *to, struct series *s)
{
	const struct place *other = &program->places[draw(s) % program->n_places];
	struct sockaddr_in in = { .sin_family = AF_INET };

	in.sin_port = htons(chance(s, 80) ? mine->port : other->port);
	inet_pton(AF_INET, program->address, &in.sin_addr);
	if (chance(s, 3))
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(to, &in, sizeof(in));
}

static uint64_t value_of(const struct op *op, const struct field *f, struct series *s, bool good,
			 bool careful)
{
	/* the two ends of the opening's connection have different QPs */
	bool second = op->via == CM && op->code == RDMA_USER_CM_CMD_ACCEPT && f->type == QPN;

	switch (f->kind) {
	case HANDLE:
		return handle(f->type, s, good, careful, second);
	case NUMBER:
		if (careful && op->makes && f->good >= 64)
			return f->good;
		return good ? 1 + draw(s) % f->good : odd_number(s);
	case FLAGS:
		if (careful)
			return f->good;
		return good ? draw(s) & f->good : draw(s);
	case FIXED:
		return good ? f->good : odd_number(s);
	case MEMORY:
		return careful ? (uintptr_t)arena : memory(s, good);
	default:
		return draw(s);
	}
}

/* ---- commands ------------------------------------------------------------------------ */

static void keep_ring(const uint8_t *answer, size_t at, enum ring_kind kind, uint32_t qpn)
{
	unsigned int n = __atomic_fetch_add(&mine->n_rings, 1, __ATOMIC_RELAXED);
	struct ring *r = &mine->rings[n % KEPT];
	struct tern_uring u;

	memcpy(&u, answer + at, sizeof(u));
	*r = (struct ring){ u.key, u.size, u.entries, u.stride, qpn, kind, NULL };
}

static uint32_t word(const uint8_t *answer, unsigned int i)
{
	uint32_t w;

	memcpy(&w, answer + 4 * i, sizeof(w));
	return w;
}

/* what a uverbs command or method made; the driver's part of the answer is at @at */
static void keep_made(const struct op *op, const uint8_t *answer, size_t at)
{
	if (op->makes)
		keep(op->makes, word(answer, 0));
	switch (op->makes) {
	case MR:
		keep(LKEY, word(answer, 1));
		keep(RKEY, word(answer, 2));
		break;
	case MW:
		keep(RKEY, word(answer, 1));
		keep(WINDOW, word(answer, 1));
		break;
	case CQ:
		keep_ring(answer, at, CQ_RING, 0);
		break;
	case SRQ:
		keep_ring(answer, at, RQ_RING, 0);
		break;
	case QP:
		keep(QPN, word(answer, 1));
		keep_ring(answer, at, SQ_RING, word(answer, 1));
		if (word(answer, at / 4 + 8))
			keep_ring(answer, at + sizeof(struct tern_uring), RQ_RING,
				  word(answer, 1));
		break;
	}
	if (op->via == WRITE && op->code == IB_USER_VERBS_CMD_RESIZE_CQ)
		keep_ring(answer, at, CQ_RING, 0);
	if (op->via == WRITE && op->code == IB_USER_VERBS_CMD_GET_CONTEXT)
		keep(ASYNC, word(answer, 0));
}

/* bytes of the core's answer, before the driver's */
static size_t core_answer(const struct op *op)
{
	switch (op->makes) {
	case CQ:
		return op->via == WRITE_EX ? 16 : 8;
	case QP:
		return op->via == WRITE_EX ? 40 : 32;
	case SRQ:
		return 16;
	}
	if (op->via == WRITE_EX)
		return op->code == IB_USER_VERBS_EX_CMD_QUERY_DEVICE ? 256 : 0;
	return 8;
}

/* a number of words that is sometimes another than @right */
static uint16_t words(struct series *s, unsigned int right, bool bad)
{
	if (!bad || chance(s, 70))
		return right;
	switch (draw(s) % 4) {
	case 0:
		return 0;
	case 1:
		return draw(s) % (right + 1);
	case 2:
		return right + 1 + draw(s) % 8;
	default:
		return draw(s);
	}
}

/* the command itself, and its answer's address; @bad: some of it is */
static size_t fill_command(const struct op *op, uint8_t *args, struct series *s, bool bad,
			   bool careful)
{
	const struct field *f;
	uint64_t value;
	size_t len = op->in;
	unsigned int i;

	for (f = op->f; f < op->f + MAX_FIELDS && f->len; f++) {
		bool good = !bad || chance(s, 70);

		if (f->kind == ADDRESS) {
			if (good)
				put_address(args + f->at, s);
			continue;
		}
		value = value_of(op, f, s, good, careful);
		memcpy(args + f->at, &value, f->len < 8 ? f->len : 8);
		if (f->kind == MEMORY && f->good)
			memcpy(args + f->good, &value, 8);
	}
	for (i = op->tail ? draw(s) % op->tail : 0; i; i--)
		args[len++] = chance(s, 60) ? 0 : draw(s);
	while (len % 8 && op->via != CM)
		len++;
	/* a byte that no row names */
	if (bad && len && chance(s, 20))
		args[draw(s) % len] = draw(s);
	return len;
}

static int by_write(const struct op *op, struct series *s, bool bad, bool careful)
{
	uint8_t msg[COMMAND] = {}, answer[ANSWER] = {};
	struct ib_uverbs_cmd_hdr *hdr = (void *)msg;
	struct ib_uverbs_ex_cmd_hdr *ex = (void *)(hdr + 1);
	bool extended = op->via == WRITE_EX;
	size_t head = sizeof(*hdr) + (extended ? sizeof(*ex) : 0);
	size_t core = core_answer(op), len = fill_command(op, msg + head, s, bad, careful);
	uint64_t to = bad && chance(s, 25) ? memory(s, false) : (uintptr_t)answer;
	size_t all;

	hdr->command = op->code;
	if (extended) {
		hdr->command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
		hdr->in_words = words(s, len / 8, bad);
		hdr->out_words = words(s, core / 8, bad);
		ex->provider_out_words = words(s, op->makes ? 12 : 0, bad);
		if (hdr->out_words || ex->provider_out_words)
			ex->response = to;
	} else {
		hdr->in_words = words(s, (head + len) / 4, bad);
		hdr->out_words = words(s, op->response == NOWHERE ? 0 : ANSWER / 4, bad);
		if (op->response != NOWHERE)
			memcpy(msg + head + op->response, &to, sizeof(to));
	}
	all = head + len;
	/* the core wants both lengths to agree: mostly they do */
	if (chance(s, 90))
		all = extended ? head + 8 * hdr->in_words : 4 * hdr->in_words;
	if (all > sizeof(msg))
		return EINVAL;
	if (write(mine->uverbs, msg, all) < 0)
		return errno;
	if (to == (uintptr_t)answer)
		keep_made(op, answer, core);
	return 0;
}

/* ---- methods ----------------------------------------------------------------------------- */

/* attributes count from 0: what ends the list has no kind, type and length either */
static bool is_attr(const struct field *f)
{
	return f->at || f->kind || f->type || f->len;
}

/* few of them: a plain connection reaches the most; @careful: those that two ends may differ in */
static void fill_options(uint8_t *in, struct series *s, bool careful)
{
	const struct option *o;
	uint32_t mask = 0;

	for (o = qp_options; o < qp_options + n_qp_options; o++) {
		uint32_t value = o->least + draw(s) % (o->most - o->least + 1);

		if (!chance(s, 25) || (careful && !o->tame))
			continue;
		mask |= o->bit;
		memcpy(in + o->at, &value, o->len);
	}
	memcpy(in, &mask, sizeof(mask));
}

static void fill_attr(const struct op *op, const struct field *f, struct ib_uverbs_attr *a,
		      struct series *s, bool good, bool careful, uint8_t *in, uint8_t *out)
{
	unsigned int i;

	*a = (struct ib_uverbs_attr){ f->at, f->len, UVERBS_ATTR_F_MANDATORY, {}, {} };
	switch (f->kind) {
	case INPUT:
		if (good)
			fill_options(in, s, careful);
		for (i = 0; !good && i < sizeof(struct tern_qp_options); i++)
			in[i] = chance(s, 60) ? draw(s) : 0;
		a->data = (uintptr_t)in;
		break;
	case OUTPUT:
		a->data = (uintptr_t)out;
		break;
	case NEW:
		a->data = 0;
		break;
	default:
		a->data = value_of(op, f, s, good, careful);
	}
	if (good)
		return;
	switch (draw(s) % 6) {
	case 0:
		a->len = draw(s);
		break;
	case 1:
		a->len += 8;
		break;
	case 2:
		a->len /= 2;
		break;
	case 3:
		a->data = memory(s, false);
		break;
	case 4:
		a->flags = draw(s);
		break;
	default:
		a->attr_id = draw(s) % 2 ? draw(s) : f->at ^ 0x1000;
	}
}

static int by_ioctl(const struct op *op, struct series *s, bool bad, bool careful)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr a[MAX_FIELDS + 1];
	} msg = {};
	uint8_t in[MAX_FIELDS][64] = {}, out[MAX_FIELDS][ANSWER];
	unsigned int n = 0, i;

	for (; n < MAX_FIELDS && is_attr(&op->f[n]); n++)
		fill_attr(op, &op->f[n], &msg.a[n], s, !bad || chance(s, 70), careful, in[n],
			  out[n]);
	if (bad && chance(s, 10))
		msg.a[n++] = msg.a[0];
	if (bad && n && chance(s, 10))
		n--;
	msg.hdr.object_id = op->code >> 16;
	msg.hdr.method_id = bad && chance(s, 5) ? draw(s) : op->code;
	msg.hdr.driver_id = TERN_DRIVER_ID;
	msg.hdr.num_attrs = n;
	msg.hdr.length = sizeof(msg.hdr) + n * sizeof(msg.a[0]);
	if (ioctl(mine->uverbs, RDMA_VERBS_IOCTL, &msg))
		return errno;
	for (i = 0; i < n && i < MAX_FIELDS; i++) {
		if (op->f[i].kind == NEW)
			keep(op->f[i].type, msg.a[i].data);
		else if (op->f[i].kind == OUTPUT && op->f[i].type)
			keep(op->f[i].type, word(out[i], 0));
	}
	return 0;
}

/* ---- rdma_cm --------------------------------------------------------------------------- */

static int by_cm(const struct op *op, struct series *s, bool bad, bool careful)
{
	uint8_t msg[COMMAND] = {}, answer[ANSWER] = {};
	struct rdma_ucm_cmd_hdr *hdr = (void *)msg;
	size_t len = fill_command(op, msg + sizeof(*hdr), s, bad, careful);
	uint64_t to = bad && chance(s, 25) ? memory(s, false) : (uintptr_t)answer;

	if (op->response != NOWHERE)
		memcpy(msg + sizeof(*hdr) + op->response, &to, sizeof(to));
	hdr->cmd = op->code;
	hdr->in = words(s, len, bad);
	hdr->out = words(s, sizeof(answer), bad);
	if (hdr->in + sizeof(*hdr) > sizeof(msg))
		return EINVAL;
	/* of a command that is cut short, some read the rest */
	memset(msg + sizeof(*hdr) + hdr->in, 0, sizeof(msg) - sizeof(*hdr) - hdr->in);
	if (write(mine->cm, msg, sizeof(*hdr) + hdr->in) < 0)
		return errno;
	if (op->makes && to == (uintptr_t)answer)
		keep(op->makes, word(answer, 0));
	return 0;
}

/* ---- netlink ----------------------------------------------------------------------------- */

static size_t put_attr(uint8_t *msg, size_t at, uint16_t type, const void *value, size_t len)
{
	struct nlattr a = { sizeof(a) + len, type };

	memcpy(msg + at, &a, sizeof(a));
	memcpy(msg + at + sizeof(a), value, len);
	return at + NLA_ALIGN(sizeof(a) + len);
}

/* settings with short times: a program has to end soon */
static size_t put_settings(uint8_t *msg, size_t at, uint16_t type, unsigned int most,
			   struct series *s)
{
	size_t start = at;
	int i;

	at += sizeof(struct nlattr);
	for (i = draw(s) % 4; i >= 0; i--) {
		uint32_t value = chance(s, 60) ? draw(s) % 4 : draw(s) % 3000;

		at = put_attr(msg, at, 1 + draw(s) % most, &value, chance(s, 95) ? 4 : 3);
	}
	memcpy(msg + start, &(struct nlattr){ at - start, type | NLA_F_NESTED },
	       sizeof(struct nlattr));
	return at;
}

static int by_netlink(const struct op *op, struct series *s, bool bad)
{
	uint8_t msg[COMMAND] = {}, answer[4096];
	struct nlmsghdr *n = (void *)msg, *got = (void *)answer;
	struct nlmsgerr *ack = (void *)(got + 1);
	struct genlmsghdr *g = (void *)(n + 1);
	int err = 0;
	size_t at = sizeof(*n) + sizeof(*g);
	const struct field *f;

	for (f = op->f; f < op->f + MAX_FIELDS && f->at; f++) {
		if (chance(s, bad ? 50 : 10))
			continue;
		if (f->kind == OUTPUT)
			at = put_settings(msg, at, f->at, f->good, s);
		else
			at = put_attr(msg, at, f->at, program->device,
				      bad && chance(s, 30) ? draw(s) % 64 :
							     strlen(program->device) + 1);
	}
	if (bad && chance(s, 30))
		msg[sizeof(*n) + draw(s) % (at - sizeof(*n))] = draw(s);
	n->nlmsg_len = at;
	n->nlmsg_type = mine->family;
	n->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (chance(s, 50) ? NLM_F_DUMP : 0);
	g->cmd = bad && chance(s, 20) ? draw(s) : op->code;
	g->version = TERN_FAMILY_VERSION;
	if (!mine->family || send(mine->netlink, msg, at, MSG_DONTWAIT) < 0)
		return EINVAL;
	while (recv(mine->netlink, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		if (got->nlmsg_type == NLMSG_ERROR)
			err = -ack->error;
	return err;
}

void do_op(unsigned int i, struct series *s, bool careful)
{
	const struct op *op = &ops[i];
	bool bad = !careful && chance(s, 35);
	int err = 0;

	switch (op->via) {
	case WRITE:
	case WRITE_EX:
		err = by_write(op, s, bad, careful);
		break;
	case IOCTL:
		err = by_ioctl(op, s, bad, careful);
		break;
	case CM:
		err = by_cm(op, s, bad, careful);
		break;
	case NETLINK:
		err = by_netlink(op, s, bad);
		break;
	case OTHER:
		err = do_other(op->code, s, careful);
		break;
	}
	__atomic_fetch_add(err ? &program->refused[i] : &program->done[i], 1, __ATOMIC_RELAXED);
	if (program->verbose)
		dprintf(2, "# %s%s: %s\n", op->name, bad ? " (bad)" : "", strerror(err));
}
