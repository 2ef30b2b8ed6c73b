// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * ibv_reg_dmabuf_mr(). The exporter is udmabuf, which exports the memory of a memfd. A
 * mapping of the memfd shows what arrived, and a write seal succeeds only when no page
 * is pinned. Debian's kernel has a second exporter, dma_heap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <rdma/ib_user_verbs.h>

#include "pair.h"

#define LOCAL	IBV_ACCESS_LOCAL_WRITE
#define PAGE	4096
#define LEN	(5 * PAGE)
#define IOVA	0x123456780000ull

static int memfd, dmabuf;
static uint8_t *mem;	/* the memfd, mapped */

/* ---- the buffer ----------------------------------------------------------------- */

/* export the first LEN bytes of @memfd */
static int export(void)
{
	struct udmabuf_create create = { .memfd = memfd, .size = LEN };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;

	must(dev >= 0);
	must(!fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	return fd;
}

static void buf_up(void)
{
	memfd = memfd_create("tern", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	must(memfd >= 0 && !ftruncate(memfd, LEN));
	dmabuf = export();
	must(dmabuf >= 0);
	mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	must(mem != MAP_FAILED);
}

/* unmap the buffer; Return: none of its pages is pinned */
static bool all_given_back(void)
{
	if (mem)
		munmap(mem, LEN);
	mem = NULL;
	return !fcntl(memfd, F_ADD_SEALS, F_SEAL_WRITE);
}

/* Poll: a killed process may be reaped before its files are closed. */
static bool all_given_back_soon(void)
{
	int tries = patience_ms() / 100;

	while (!all_given_back() && errno == EBUSY && tries--)
		usleep(100000);
	return all_given_back();
}

static void buf_down(void)
{
	close(dmabuf);
	expect(all_given_back());
	close(memfd);
}

/* register all of the buffer at b: IOVA is its first byte */
static struct ibv_mr *reg(int access)
{
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(b.pd, 0, LEN, IOVA, dmabuf, access);

	must(mr);
	return mr;
}

static void drop(struct ibv_mr *mr)
{
	must(!ibv_dereg_mr(mr));
}

static void expect_refused(uint64_t offset, size_t len, int fd, int access,
			   int err)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_dmabuf_mr(b.pd, offset, len, IOVA + offset % PAGE, fd,
			       access);
	expect_eq(errno, err);
	expect(!mr);
	if (mr)
		drop(mr);
}

static void up(void)
{
	pair_up(NULL, NULL);
	buf_up();
}

static void down(void)
{
	another_down();
	buf_down();
}

/* ---- what it carries -------------------------------------------------------------- */

/* Sends from and into the buffer, at odd offsets and across page boundaries */
static void messages(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_mr *mr;

	up();
	mr = reg(LOCAL);
	sge = (struct ibv_sge){ IOVA + PAGE - 3, 2 * PAGE + 7, mr->lkey };
	post_recv_sge(&b, 1, &sge, 1);
	fill(a.buf, sge.length, 1);
	post_send(&a, 1, 0, sge.length, 0);
	expect_recv(&b, 1, sge.length);
	expect(filled(mem + PAGE - 3, sge.length, 1));
	expect(!mem[PAGE - 4] && !mem[3 * PAGE + 4]);
	sge = (struct ibv_sge){ IOVA + 2 * PAGE - 1, 3 * PAGE + 1, mr->lkey };
	fill(mem + 2 * PAGE - 1, sge.length, 2);
	post_recv(&a, 2, 0, sge.length);
	post(&b, &wr);
	expect_wc(b.scq, 2, IBV_WC_SUCCESS);
	expect_recv(&a, 2, sge.length);
	expect(filled(a.buf, sge.length, 2));
	drop(mr);
	down();
}

/* the peer's Writes and Reads, and b's own Read into the buffer */
static void remote(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.wr_id = 3, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_mr *mr;

	up();
	mr = reg(ALL_RIGHTS);
	expect_reach(&a, mr->rkey, IOVA + 5, 3 * PAGE);
	expect_bytes(mem + 5, a.buf, 3 * PAGE);
	expect_reach(&a, mr->rkey, IOVA, LEN);
	expect_bytes(mem, a.buf, LEN);
	fill(a.buf, LEN, 7);
	sge = (struct ibv_sge){ IOVA + 1, LEN - 1, mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)a.buf;
	wr.wr.rdma.rkey = a.mr->rkey;
	post(&b, &wr);
	expect_wc(b.scq, 3, IBV_WC_SUCCESS);
	expect(filled(mem + 1, LEN - 1, 7));
	drop(mr);
	down();
}

/* a part of the buffer from an odd offset: no byte before or after it is reachable */
static void part(void)
{
	enum { FROM = PAGE + 123, PART = 2 * PAGE + 1 };
	uint64_t iova = IOVA + FROM % PAGE;
	struct ibv_mr *mr;

	up();
	memset(mem, 0x55, LEN);
	mr = ibv_reg_dmabuf_mr(b.pd, FROM, PART, iova, dmabuf, ALL_RIGHTS);
	must(mr);
	expect_reach(&a, mr->rkey, iova, PART);
	expect_bytes(mem + FROM, a.buf, PART);
	expect(mem[FROM - 1] == 0x55 && mem[FROM + PART] == 0x55);
	expect_no_write(&a, mr->rkey, iova + PART - 7, TERM(1, 1, 1));
	another();
	expect_no_read(&a2, mr->rkey, iova - 1, TERM(0, 1, 1));
	expect(mem[FROM - 1] == 0x55 && mem[FROM + PART] == 0x55);
	drop(mr);
	down();
}

/* ---- what is refused ---------------------------------------------------------------- */

static void bounds(void)
{
	struct ibv_mr *mr;

	up();
	expect_refused(0, LEN + 1, dmabuf, LOCAL, EINVAL);
	expect_refused(1, LEN, dmabuf, LOCAL, EINVAL);
	expect_refused(LEN, 1, dmabuf, LOCAL, EINVAL);
	expect_refused(LEN + 1, 1, dmabuf, LOCAL, EINVAL);
	expect_refused(-(uint64_t)PAGE, 2 * PAGE, dmabuf, LOCAL, EINVAL);
	expect_refused(1, (size_t)-1, dmabuf, LOCAL, EINVAL);
	expect_refused(0, 0, dmabuf, LOCAL, EINVAL);
	mr = ibv_reg_dmabuf_mr(b.pd, LEN - 1, 1, IOVA + PAGE - 1, dmabuf, LOCAL);
	must(mr);
	drop(mr);
	down();
}

static void other_files(void)
{
	int null = open("/dev/null", O_RDWR);

	up();
	expect_refused(0, LEN, memfd, LOCAL, EINVAL);
	expect_refused(0, LEN, null, LOCAL, EINVAL);
	close(null);
	expect_refused(0, LEN, null, LOCAL, EBADF);
	expect_refused(0, LEN, -1, LOCAL, EBADF);
	down();
}

static void rights(void)
{
	struct ibv_sge sge;
	struct ibv_mr *mr;

	up();
	expect_refused(0, LEN, dmabuf, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	/* the core binds no windows to dmabuf MRs */
	expect_refused(0, LEN, dmabuf, LOCAL | IBV_ACCESS_MW_BIND, EINVAL);
	expect_refused(0, LEN, dmabuf, ALL_RIGHTS | IBV_ACCESS_REMOTE_ATOMIC, EOPNOTSUPP);
	mr = reg(IBV_ACCESS_REMOTE_READ);
	expect_no_write(&a, mr->rkey, IOVA, TERM(1, 1, 0));
	another();
	sge = (struct ibv_sge){ IOVA, 8, mr->lkey };
	post_recv_sge(&b2, 1, &sge, 1);
	post_send(&a2, 1, 0, 8, 0);
	expect_wc(b2.rcq, 1, IBV_WC_LOC_PROT_ERR);
	drop(mr);
	another();
	mr = reg(LOCAL | IBV_ACCESS_REMOTE_WRITE);
	expect_no_read(&a2, mr->rkey, IOVA, TERM(0, 1, 2));
	drop(mr);
	expect(!mem[0]);
	down();
}

/* bypass the library, which would return EINVAL itself */
static int rereg_raw(const struct ibv_mr *mr)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr body;
	} cmd = {
		.hdr = { IB_USER_VERBS_CMD_REREG_MR, sizeof(cmd) / 4,
			 sizeof(resp) / 4 },
		.body = { .response = (uintptr_t)&resp,
			  .mr_handle = mr->handle, .pd_handle = b.pd->handle,
			  .flags = IBV_REREG_MR_CHANGE_ACCESS,
			  .access_flags = ALL_RIGHTS },
	};

	return write(b.id->verbs->cmd_fd, &cmd, sizeof(cmd)) < 0 ? errno : 0;
}

static void rereg(void)
{
	struct ibv_mr *mr;

	up();
	mr = reg(IBV_ACCESS_REMOTE_READ);
	errno = 0;
	expect_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			       ALL_RIGHTS), IBV_REREG_MR_ERR_INPUT);
	expect_eq(errno, EINVAL);
	expect_eq(rereg_raw(mr), EOPNOTSUPP);
	expect_no_write(&a, mr->rkey, IOVA, TERM(1, 1, 0));
	drop(mr);
	down();
}

/* a dma_heap buffer that is open for reading or writing only, by @flags */
static int heap_buf(int flags)
{
	struct dma_heap_allocation_data data = {
		.len = LEN, .fd_flags = flags | O_CLOEXEC,
	};
	int fd = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		skip("no /dev/dma_heap/system");
	must(!ioctl(fd, DMA_HEAP_IOCTL_ALLOC, &data));
	close(fd);
	return data.fd;
}

/* an MR cannot have rights that the descriptor does not have */
static void read_only(void)
{
	int ro = heap_buf(O_RDONLY), wo = heap_buf(O_WRONLY);
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	expect_refused(0, LEN, ro, LOCAL, EACCES);
	expect_refused(0, LEN, ro, ALL_RIGHTS, EACCES);
	expect_refused(0, LEN, wo, LOCAL, EACCES);
	mr = ibv_reg_dmabuf_mr(b.pd, 0, LEN, IOVA, ro, IBV_ACCESS_REMOTE_READ);
	must(mr);
	expect_no_write(&a, mr->rkey, IOVA, TERM(1, 1, 0));
	drop(mr);
	close(ro);
	close(wo);
	pair_down();
}

static void heap(void)
{
	struct ibv_mr *mr;
	uint8_t *p;

	dmabuf = heap_buf(O_RDWR);
	pair_up(NULL, NULL);
	p = mmap(NULL, LEN, PROT_READ, MAP_SHARED, dmabuf, 0);
	must(p != MAP_FAILED);
	mr = reg(ALL_RIGHTS);
	expect_reach(&a, mr->rkey, IOVA + 3, LEN - 3);
	expect_bytes(p + 3, a.buf, LEN - 3);
	drop(mr);
	munmap(p, LEN);
	close(dmabuf);
	pair_down();
}

static bool want_huge_pages(const char *n)
{
	int fd = open("/proc/sys/vm/nr_hugepages", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, n, strlen(n)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

/* some kernels' udmabuf exports other pages of a hugetlb memfd: that MR is refused */
static void huge_pages(void)
{
	struct ibv_mr *mr;
	uint8_t *p;

	memfd = want_huge_pages("1") ?
		memfd_create("tern", MFD_ALLOW_SEALING | MFD_HUGETLB) : -1;
	if (memfd < 0 || ftruncate(memfd, 2 << 20))
		skip("no huge pages of 2 MiB");
	pair_up(NULL, NULL);
	dmabuf = export();
	must(dmabuf >= 0);
	p = mmap(NULL, LEN, PROT_READ, MAP_SHARED, dmabuf, 0);
	must(p != MAP_FAILED);
	mr = ibv_reg_dmabuf_mr(b.pd, 0, LEN, IOVA, dmabuf, ALL_RIGHTS);
	if (mr) {
		expect_reach(&a, mr->rkey, IOVA, LEN);
		expect_bytes(p, a.buf, LEN);
		drop(mr);
	} else {
		expect_eq(errno, EOPNOTSUPP);
		printf("#   refused: vmap() of the dma-buf maps other pages\n");
	}
	munmap(p, LEN);
	close(dmabuf);
	close(memfd);
	pair_down();
	expect(want_huge_pages("0"));
}

static int resources_of_the_kind(void)
{
	FILE *f = popen("rdma -d resource show mr -dd | grep -c 'drv_kind dma-buf'",
			"r");
	int n = -1;

	must(f);
	if (fscanf(f, "%d", &n) != 1)
		n = -1;
	pclose(f);
	return n;
}

static void shown(void)
{
	struct ibv_mr *mr;

	up();
	mr = reg(LOCAL);
	expect_eq(resources_of_the_kind(), 1);
	drop(mr);
	expect_eq(resources_of_the_kind(), 0);
	down();
}

/* ---- lifetime ------------------------------------------------------------------------- */

/* the MR alone keeps the buffer, and releases it */
static void outlives_its_fd(void)
{
	struct ibv_mr *mr, *second;

	up();
	mr = reg(ALL_RIGHTS);
	second = reg(ALL_RIGHTS);
	close(dmabuf);
	expect_reach(&a, mr->rkey, IOVA + 9, LEN - 9);
	expect_bytes(mem + 9, a.buf, LEN - 9);
	expect(!all_given_back());
	drop(mr);
	expect_reach(&a, second->rkey, IOVA, LEN);
	expect(!all_given_back());
	drop(second);
	expect(all_given_back());
	close(memfd);
	pair_down();
}

static void outlives_all_of_it(void)
{
	struct ibv_mr *mr;

	up();
	mr = reg(ALL_RIGHTS);
	munmap(mem, LEN);
	close(memfd);
	close(dmabuf);
	expect_reach(&a, mr->rkey, IOVA, LEN);
	drop(mr);
	pair_down();
}

static void register_and_die(struct ibv_device *device)
{
	struct ibv_context *ctx = ibv_open_device(device);
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;

	if (!pd || !ibv_reg_dmabuf_mr(pd, 0, LEN, IOVA, dmabuf, ALL_RIGHTS))
		_exit(1);
	raise(SIGKILL);
}

static void killed(void)
{
	int status = 0;
	pid_t child;

	up();
	child = fork();
	must(child >= 0);
	if (!child)
		register_and_die(b.id->verbs->device);
	must(waitpid(child, &status, 0) == child);
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(dmabuf);
	expect(all_given_back_soon());
	close(memfd);
	pair_down();
}

/* the link is deleted while a program has a region and a mapping */
static void link_deleted(void)
{
	char command[96];
	struct ibv_mr *mr;

	up();
	mr = reg(ALL_RIGHTS);
	close(dmabuf);
	expect_reach(&a, mr->rkey, IOVA, LEN);
	snprintf(command, sizeof(command), "rdma link delete %s", getenv("DEV_B"));
	must(!system(command));
	expect_error_state(&a);
	expect(all_given_back_soon());
	drop(mr);
	close(memfd);
	pair_down();
	snprintf(command, sizeof(command),
		 "ip netns exec b rdma link add %s type tern netdev v0b",
		 getenv("DEV_B"));
	must(!system(command));
}

/* No byte changes after the verb returned, although Writes are still arriving. */
static void dereg_under_fire(void)
{
	struct ibv_mr *mr;
	uint32_t key;

	up();
	mr = reg(ALL_RIGHTS);
	key = mr->rkey;
	memset(a.buf, 0x77, LEN);
	post_writes(&a, 25, LEN, key, IOVA);
	drop(mr);
	memset(mem, 0x11, LEN);
	post_writes(&a, 23, LEN, key, IOVA);
	expect_error_state(&a);
	expect(all_are(mem, LEN, 0x11));
	down();
}

static const struct tap_test tests[] = {
	{ "reg_dmabuf_mr__send_and_recv", messages },
	{ "reg_dmabuf_mr__write_and_read", remote },
	{ "reg_dmabuf_mr__part_of_a_buffer", part },
	{ "reg_dmabuf_mr__beyond_its_end", bounds },
	{ "reg_dmabuf_mr__refuses_other_files", other_files },
	{ "reg_dmabuf_mr__rights", rights },
	{ "reg_dmabuf_mr__read_only_buffer (DDP-105)", read_only },
	{ "reg_dmabuf_mr__buffer_of_dma_heap", heap },
	{ "reg_dmabuf_mr__of_huge_pages", huge_pages },
	{ "reg_dmabuf_mr__rereg_is_refused", rereg },
	{ "reg_dmabuf_mr__is_shown_by_rdma_resource", shown },
	{ "reg_dmabuf_mr__outlives_the_fd_and_frees_all", outlives_its_fd },
	{ "reg_dmabuf_mr__outlives_fd_and_memfd", outlives_all_of_it },
	{ "reg_dmabuf_mr__of_a_killed_process", killed },
	{ "reg_dmabuf_mr__of_a_deleted_link", link_deleted },
	{ "reg_dmabuf_mr__dereg_under_the_peers_writes", dereg_under_fire },
};

const struct tap_theme dmabuf_theme = { tests, ARRAY_LEN(tests) };
