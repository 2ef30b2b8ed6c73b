// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A Send of 2^32 - 1 bytes, in UML of half as many, that is flushed in its middle: it completes
 * once, its memory is the program's again, and nothing more of it is read or sent.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/udmabuf.h>

#include "pair.h"

#define CHUNK	(1u << 20)
#define CHUNKS	256		/* of a region: the same one over and over */
#define PARTS	16
#define IOVA	0x100000000ull
#define ROOM	(16u << 20)	/* of b; so much of each part comes at most */
#define ID	7

#define OURS	0x11
#define LATER	0xa5

static int memfd;
static uint8_t *mem;
static struct ibv_mr *mr;

/* ---- a region in a chunk --------------------------------------------------------- */

/* the host of UML maps each page of the region by itself, and allows a process 65,530 mappings */
static uint32_t chunks(void)
{
	return is_uml() ? CHUNKS / 2 : CHUNKS;
}

static void allow_large_dmabufs(void)
{
	int fd = open("/sys/module/udmabuf/parameters/size_limit_mb", O_WRONLY);

	must(fd >= 0 && write(fd, "256", 3) == 3);
	close(fd);
}

static int export(void)
{
	static struct {
		struct udmabuf_create_list head;
		struct udmabuf_create_item items[CHUNKS];
	} list;
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd, i;

	must(dev >= 0);
	list.head.count = chunks();
	for (i = 0; i < (int)chunks(); i++)
		list.items[i] = (struct udmabuf_create_item) {
			.memfd = memfd, .size = CHUNK,
		};
	fd = ioctl(dev, UDMABUF_CREATE_LIST, &list);
	must(fd >= 0);
	close(dev);
	return fd;
}

static void region_up(void)
{
	int fd;

	allow_large_dmabufs();
	memfd = memfd_create("tern", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	must(memfd >= 0 && !ftruncate(memfd, CHUNK));
	must(!fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	mem = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	must(mem != MAP_FAILED);
	memset(mem, OURS, CHUNK);
	fd = export();
	mr = ibv_reg_dmabuf_mr(a.pd, 0, chunks() * CHUNK, IOVA, fd, 0);
	must(mr);
	close(fd);
}

/* the memory is ours: nobody else has a page of it, and we write to it */
static void give_back(void)
{
	must(!ibv_dereg_mr(mr));
	memset(mem, LATER, CHUNK);
	must(!munmap(mem, CHUNK));
	expect(!fcntl(memfd, F_ADD_SEALS, F_SEAL_WRITE));
	close(memfd);
}

/* ---- the Send ------------------------------------------------------------------------ */

static void post_longest(void)
{
	struct ibv_sge sge[PARTS];
	struct ibv_send_wr wr = {
		.wr_id = ID, .sg_list = sge, .num_sge = PARTS,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};
	int i;

	for (i = 0; i < PARTS; i++)
		sge[i] = (struct ibv_sge) { IOVA, chunks() * CHUNK, mr->lkey };
	sge[PARTS - 1].length--;
	post(&a, &wr);
}

/* the sink of what comes before the cut: all parts of it are the same memory */
static void post_sink(void)
{
	struct ibv_sge sge[PARTS];
	int i;

	for (i = 0; i < PARTS; i++)
		sge[i] = sge_at(&b, 0, ROOM);
	post_recv_sge(&b, 1, sge, PARTS);
}

static void begin(void)
{
	static const struct want wa = { .cap.max_send_sge = PARTS };
	static const struct want wb = { .cap.max_recv_sge = PARTS, .buf_len = ROOM };
	int tries = patience_ms();

	pair_up(&wa, &wb);
	region_up();
	post_sink();
	impair("a", "rate 200mbit");
	post_longest();
	while (__atomic_load_n(b.buf, __ATOMIC_RELAXED) != OURS && tries--)
		usleep(1000);
	must(*b.buf == OURS);
	expect(no_wc(a.scq));
}

static long long fpdus_sent(void)
{
	return read_counter(getenv("DEV_A"), "tx_fpdu");
}

/* one of the three is enough for the checked kernel, which takes seconds for each */
static void skip_if_checked(void)
{
	if (is_checked())
		skip("the checked kernel runs only the cut by a Terminate");
}

/* it was cut off; @terminate: one FPDU follows */
static void expect_cut(int terminate)
{
	long long built;

	expect_wc(a.scq, ID, IBV_WC_WR_FLUSH_ERR);
	built = fpdus_sent();
	expect(no_wc(a.scq));
	usleep(100000);
	expect(fpdus_sent() <= built + terminate);
	give_back();
	expect_error_state(&a);
	expect_error_state(&b);
	expect(no_wc(a.scq));
	expect(!memchr(b.buf, LATER, ROOM));
	mend("a");
	pair_down();
}

static void by_the_program(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	skip_if_checked();
	begin();
	must(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
	expect_cut(0);
}

static void by_a_reset(void)
{
	skip_if_checked();
	begin();
	must(!system("ip netns exec b ss -K state established >/dev/null 2>&1"));
	expect_cut(0);
}

/* b's message finds no receive at a, which says so */
static void by_a_terminate(void)
{
	begin();
	post_send(&b, 1, 0, 8, 0);
	expect_cut(1);
}

static const struct tap_test tests[] = {
	{ "send__of_gibibytes_cut_by_the_program", by_the_program },
	{ "send__of_gibibytes_cut_by_a_reset", by_a_reset },
	{ "send__of_gibibytes_cut_by_a_terminate", by_a_terminate },
};

const struct tap_theme cut_theme = { tests, ARRAY_LEN(tests) };
