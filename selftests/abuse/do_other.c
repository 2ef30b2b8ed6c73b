// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* What is no call with a struct: rings, doorbells, files, forks and the process' own end. */
#define _GNU_SOURCE
#include "abuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#include "tern-abi.h"

/* enum rdma_cm_event_type, whose header conflicts with that of the commands */
#define CONNECT_REQUEST	4
#define WAIT_MS		1000	/* in the opening, which needs the event */
#define GLANCE_MS	10
#define RECEIVE		9000	/* bytes that a receive has room for */

/* ---- rings ------------------------------------------------------------------------ */

/* a mapped ring of this kind, or of any (-1), or NULL */
static struct ring *some_ring(struct series *s, int kind)
{
	unsigned int n = mine->n_rings < KEPT ? mine->n_rings : KEPT, i, at = draw(s);

	for (i = 0; i < n; i++) {
		struct ring *r = &mine->rings[(at + i) % n];

		if (r->mapped && (kind < 0 || (int)r->kind == kind))
			return r;
	}
	return NULL;
}

static int map_ring(struct series *s, bool careful)
{
	unsigned int n = mine->n_rings < KEPT ? mine->n_rings : KEPT, i;
	struct ring *r;
	void *p;

	if (!n)
		return ENOENT;
	r = &mine->rings[draw(s) % n];
	for (i = 0; careful && i < n && r->mapped; i++)
		r = &mine->rings[i];
	if (!careful && chance(s, 20)) {
		p = mmap(NULL, 4096 * (1 + draw(s) % 20),
			 chance(s, 50) ? PROT_READ : PROT_READ | PROT_WRITE | PROT_EXEC,
			 chance(s, 50) ? MAP_SHARED : MAP_PRIVATE, mine->uverbs,
			 chance(s, 50) ? r->key : draw(s) & ~4095ull);
		return p == MAP_FAILED ? errno : 0;
	}
	p = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, mine->uverbs, r->key);
	if (p == MAP_FAILED)
		return errno;
	r->mapped = p;
	return 0;
}

/* plain memory takes its place: a thread that writes there is not hurt */
static int unmap_ring(struct series *s)
{
	struct ring *r = some_ring(s, -1);

	if (!r)
		return ENOENT;
	mmap(r->mapped, r->size, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return 0;
}

void spoil(struct series *s, unsigned int times)
{
	while (times--) {
		struct ring *r = some_ring(s, -1);
		struct tern_ring_hdr *hdr;
		uint32_t *word;

		if (!r)
			return;
		hdr = (void *)r->mapped;
		word = (uint32_t *)r->mapped + draw(s) % (r->size / 4);
		switch (draw(s) % 8) {
		case 0:
			__atomic_store_n(&hdr->prod, hdr->prod + draw(s) % 4, __ATOMIC_RELEASE);
			break;
		case 1:
			__atomic_store_n(&hdr->cons, chance(s, 80) ? hdr->prod : draw(s),
					 __ATOMIC_RELEASE);
			break;
		case 2:
			hdr->flags = draw(s) % 8;
			break;
		case 3:
			if (chance(s, 5))
				hdr->prod = draw(s);
			break;
		default:
			*word = chance(s, 50) ? draw(s) % 64 : draw(s);
		}
	}
}

static int ring_doorbell(struct series *s, uint32_t qpn)
{
	int fd = own(DOORBELL, s, false, 0);
	unsigned int cmd = chance(s, 98) ? TERN_IOC_DOORBELL : draw(s);
	unsigned long arg = qpn;

	if (chance(s, 20))
		arg |= TERN_DOORBELL_MORE;
	return ioctl(fd, cmd, arg) ? errno : 0;
}

/*
 * What the other end takes as it is: memory of a MR, which has one key for all uses. A Send may
 * find no buffer there, and that is the end of the connection; so there is none in the opening.
 */
static void fill_good_sqe(struct tern_sqe *e, struct series *s, bool opening)
{
	static const uint8_t ops[] = { TERN_WR_SEND, TERN_WR_RDMA_WRITE, TERN_WR_RDMA_READ,
				       TERN_WR_RDMA_READ, TERN_WR_FETCH_ADD, TERN_WR_CMP_SWAP };
	uint64_t window = own(BOUND, s, true, 0);
	uint32_t most = RECEIVE;

	*e = (struct tern_sqe){ .num_sge = 1 };
	e->opcode = ops[opening + draw(s) % (sizeof(ops) - opening)];
	e->flags = draw(s) & (TERN_WR_SIGNALED | TERN_WR_SOLICITED | TERN_WR_FENCE);
	e->wr_id = draw(s);
	e->remote_addr = memory(s, true) & ~7ull;
	e->rkey = own(LKEY, s, true, 0);
	/* memory() is in the first half */
	if (e->opcode != TERN_WR_SEND && chance(s, 20))
		most = ARENA / 2;
	e->sge[0] = (struct tern_sge){ memory(s, true), draw(s) % most, e->rkey };
	if (chance(s, 30) && window != UINT32_MAX)
		e->rkey = window;
	if (e->opcode == TERN_WR_FETCH_ADD || e->opcode == TERN_WR_CMP_SWAP)
		e->sge[0].length = 8;
}

/* the newest window over all that fill_good_sqe() names; or one that is bound is not any more */
static void fill_bind(struct tern_sqe *e, struct series *s, bool opening)
{
	uint8_t key = draw(s);

	*e = (struct tern_sqe){ .flags = draw(s) & (TERN_WR_SIGNALED | TERN_WR_FENCE) };
	if (!opening && chance(s, 30)) {
		e->opcode = TERN_WR_LOCAL_INV;
		e->ex = own(BOUND, s, false, 0);
		return;
	}
	e->opcode = TERN_WR_BIND_MW;
	e->rkey = (own(WINDOW, s, opening, 0) & ~0xffull) | key;
	e->ex = own(LKEY, s, opening, 0);
	e->remote_addr = ARENA_AT;
	e->length = opening || chance(s, 70) ? ARENA : draw(s) % 9000;
	/* remote write, read, atomics */
	e->access = opening ? 0xe : draw(s) & 0xe;
	keep(BOUND, e->rkey);
}

/* one that may be right, or any bytes */
static void fill_sqe(struct tern_sqe *e, struct series *s)
{
	uint8_t any[sizeof(*e) + 2 * sizeof(e->sge[0])];
	unsigned int i;

	if (chance(s, 15)) {
		for (i = 0; i < sizeof(any); i++)
			any[i] = draw(s);
		memcpy(e, any, sizeof(any));
		return;
	}
	*e = (struct tern_sqe){ .opcode = 1 + draw(s) % 13 };
	e->num_sge = draw(s) % 3;
	e->flags = draw(s) & (chance(s, 10) ? ~0ull : 7);
	e->wr_id = draw(s);
	e->remote_addr = memory(s, chance(s, 80)) & (chance(s, 50) ? ~7ull : ~0ull);
	e->rkey = own(RKEY, s, false, 0);
	e->ex = own(chance(s, 50) ? RKEY : LKEY, s, false, 0);
	e->length = draw(s) % 4096;
	e->access = draw(s) & 0x3f;
	for (i = 0; i < e->num_sge; i++)
		e->sge[i] = (struct tern_sge){ memory(s, chance(s, 90)), draw(s) % 9000,
					       own(LKEY, s, false, 0) };
	if (e->opcode == TERN_WR_FETCH_ADD || e->opcode == TERN_WR_CMP_SWAP) {
		e->num_sge = 1;
		e->sge[0].length = 8;
	}
	if (chance(s, 5))
		e->num_sge = draw(s);
	if (chance(s, 20)) {
		e->flags |= TERN_WR_INLINE;
		e->num_sge = 0;
		e->inline_len = chance(s, 50) ? draw(s) % 65 : draw(s);
	}
}

static int post(enum other what, struct series *s, bool careful)
{
	struct ring *r = some_ring(s, SQ_RING);
	struct tern_ring_hdr *hdr;
	int i;

	if (!r || r->stride < 64)
		return ENOENT;
	hdr = (void *)r->mapped;
	for (i = careful || what == POST_BIND ? 0 : draw(s) % 8; i >= 0; i--) {
		uint32_t at = hdr->prod % r->entries;
		struct tern_sqe *e = (void *)(r->mapped + TERN_RING_DATA + at * r->stride);

		if (what == POST_BIND)
			fill_bind(e, s, careful);
		else if (careful || chance(s, 60))
			fill_good_sqe(e, s, careful);
		else
			fill_sqe(e, s);
		__atomic_store_n(&hdr->prod, hdr->prod + 1, __ATOMIC_RELEASE);
	}
	return ring_doorbell(s, r->qpn);
}

static int post_receive(struct series *s, bool careful)
{
	struct ring *r = some_ring(s, RQ_RING), *cq = some_ring(s, CQ_RING);
	struct tern_ring_hdr *hdr;
	struct tern_rqe *e;

	if (cq) {
		hdr = (void *)cq->mapped;
		hdr->cons = hdr->prod;
		hdr->flags = draw(s) % 3;
	}
	if (!r)
		return ENOENT;
	hdr = (void *)r->mapped;
	e = (void *)(r->mapped + TERN_RING_DATA + hdr->prod % r->entries * r->stride);
	*e = (struct tern_rqe){ .wr_id = draw(s), .num_sge = 1 };
	e->sge[0] = (struct tern_sge){ memory(s, careful || chance(s, 80)), RECEIVE,
				       own(LKEY, s, careful, 0) };
	__atomic_store_n(&hdr->prod, hdr->prod + 1, __ATOMIC_RELEASE);
	return r->qpn ? ring_doorbell(s, r->qpn) : 0;
}

/* ---- files and processes ------------------------------------------------------------- */

static int wait_event(bool careful)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_get_event get;
	} msg;
	struct rdma_ucm_event_resp event = {};
	struct pollfd p = { .fd = mine->cm, .events = POLLIN };

	if (poll(&p, 1, careful ? WAIT_MS : GLANCE_MS) != 1)
		return ETIMEDOUT;
	msg.hdr = (struct rdma_ucm_cmd_hdr){ RDMA_USER_CM_CMD_GET_EVENT, sizeof(msg.get),
					     sizeof(event) };
	msg.get.response = (uintptr_t)&event;
	if (write(mine->cm, &msg, sizeof(msg)) < 0)
		return errno;
	if (event.event == CONNECT_REQUEST)
		keep(ID, event.id);
	/* what verbose output shows */
	return event.status ? -(int)event.status : 0;
}

/* of pages of its own, as large as the arena */
static int make_dmabuf(void)
{
	struct udmabuf_create create = { .size = ARENA };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1, err;

	create.memfd = memfd_create("abuse", MFD_ALLOW_SEALING);
	if (!ftruncate(create.memfd, ARENA) &&
	    !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(dev, UDMABUF_CREATE, &create);
	err = errno;
	close(create.memfd);
	close(dev);
	if (fd < 0)
		return err;
	keep(DMABUF, fd);
	return 0;
}

static int close_one(struct series *s)
{
	int fd;

	switch (draw(s) % 6) {
	case 0:
		fd = own(CHANNEL, s, false, 0);
		break;
	case 1:
		fd = own(DOORBELL, s, false, 0);
		break;
	case 2:
		fd = own(ASYNC, s, false, 0);
		break;
	case 3:
		fd = own(DMABUF, s, false, 0);
		break;
	case 4:
		fd = mine->uverbs;
		break;
	default:
		fd = mine->cm;
	}
	return fd > 2 && !close(fd) ? 0 : EBADF;
}

/* a child with the same files and memory, some of whose acts are the parent's kind */
static int fork_one(struct series *s)
{
	struct series of_child = { draw(s) };
	int i, pid = fork();

	if (pid)
		return pid < 0 ? errno : 0;
	for (i = 0; i < 6; i++)
		do_op(draw(&of_child) % n_ops, &of_child, false);
	if (chance(&of_child, 50))
		kill(getpid(), SIGKILL);
	_exit(0);
}

int do_other(enum other what, struct series *s, bool careful)
{
	switch (what) {
	case RING_DOORBELL:
		return ring_doorbell(s, handle(QPN, s, chance(s, 80), careful, 0));
	case MAP_RING:
		return map_ring(s, careful);
	case UNMAP_RING:
		return unmap_ring(s);
	case SPOIL_RING:
		spoil(s, 1 + draw(s) % 200);
		return 0;
	case POST:
	case POST_BIND:
		return post(what, s, careful);
	case MAKE_DMABUF:
		return make_dmabuf();
	case POST_RECEIVE:
		return post_receive(s, careful);
	case CLOSE_FD:
		return close_one(s);
	case REOPEN:
		mine->uverbs = open(program->uverbs, O_RDWR | O_CLOEXEC);
		return mine->uverbs < 0 ? errno : 0;
	case FORK:
		return fork_one(s);
	case KILL_ITSELF:
		return kill(getpid(), chance(s, 30) ? SIGKILL : 0);
	case WAIT_EVENT:
		return wait_event(careful);
	case SHIFT_MEMORY:
		shift_memory(s);
		return 0;
	}
	return EINVAL;
}
