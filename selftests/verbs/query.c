// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The output of ibv_query_*(), ibv_devinfo and rdma(8), compared with the netdev, the
 * module, and the objects of this program.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "queue_verbs.h"

#define DEV_A getenv("DEV_A")

/* the first line of a command's output, without its newline */
static void first_line(char *line, size_t size, const char *command)
{
	FILE *out = popen(command, "r");

	must(out);
	must(fgets(line, size, out));
	line[strcspn(line, "\n")] = 0;
	expect_eq(pclose(out), 0);
}

static bool devinfo_says(const char *name, const char *value)
{
	const char *const words[] = { name, value, NULL };
	char command[64];

	snprintf(command, sizeof(command), "ibv_devinfo -v -d %s", DEV_A);
	return says(command, words);
}

static bool devinfo_counts(const char *name, long long value)
{
	char text[32];

	/* a value is followed by the end of its line */
	snprintf(text, sizeof(text), "\t%lld\n", value);
	return devinfo_says(name, text);
}

static bool resource_says(const char *kind, const char *key, long long value,
			  const char *more)
{
	char command[160], text[64], pid[32];
	const char *const words[] = { text, pid, more, NULL };

	/* join the lines of driver details to the line of their object */
	snprintf(command, sizeof(command),
		 "rdma -d resource show %s -dd | tr '\\n' ' ' | sed 's/ \\(dev\\|link\\) /\\n/g'",
		 kind);
	snprintf(text, sizeof(text), "%s %lld ", key, value);
	snprintf(pid, sizeof(pid), "pid %d ", getpid());
	return says(command, words);
}

/* EUI-64 of the netdev's address */
static void devinfo_names(void)
{
	char mac[64], guid[64], version[64];
	unsigned int m[6];

	first_line(mac, sizeof(mac),
		   "ip -n a -o link show v0a | sed 's/.*ether \\([^ ]*\\).*/\\1/'");
	must(sscanf(mac, "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4],
		    &m[5]) == 6);
	snprintf(guid, sizeof(guid), "%02x%02x:%02xff:fe%02x:%02x%02x",
		 m[0] ^ 2, m[1], m[2], m[3], m[4], m[5]);
	expect(devinfo_says("node_guid:", guid));
	expect(devinfo_says("sys_image_guid:", guid));
	expect(devinfo_says("transport:", "iWARP"));
	first_line(version, sizeof(version), "cat /sys/module/tern/version");
	expect(devinfo_says("fw_ver:", version));
	expect(!strstr(version, "0.0"));
	expect(devinfo_says("vendor_id:", "0x74726e"));
	expect(devinfo_says("link_layer:", "Ethernet"));
	/* 1500 less headers, rounded down to a verbs MTU */
	expect(devinfo_says("active_mtu:", "1024"));
	expect(devinfo_says("completion timestamp_mask:", "0xffffffffffffffff"));
	expect(devinfo_says("hca_core_clock:", "1000000"));
}

/* ibv_devinfo prints the limits that limits.c tests */
static void devinfo_limits(void)
{
	struct ibv_device_attr dev;

	solo_up(NULL);
	must(!ibv_query_device(a.id->verbs, &dev));
	expect(dev.max_sge >= 16 && dev.max_sge_rd >= 16);
	expect(dev.max_qp_wr >= 8192 && dev.max_srq_wr >= 8192);
	expect(devinfo_counts("max_qp:", dev.max_qp));
	expect(devinfo_counts("max_qp_wr:", dev.max_qp_wr));
	expect(devinfo_counts("max_sge:", dev.max_sge));
	expect(devinfo_counts("max_sge_rd:", dev.max_sge_rd));
	expect(devinfo_counts("max_cq:", dev.max_cq));
	expect(devinfo_counts("max_cqe:", dev.max_cqe));
	expect(devinfo_counts("max_mr:", dev.max_mr));
	expect(devinfo_counts("max_pd:", dev.max_pd));
	expect(devinfo_counts("max_srq:", dev.max_srq));
	expect(devinfo_counts("max_srq_wr:", dev.max_srq_wr));
	expect(devinfo_counts("max_srq_sge:", dev.max_srq_sge));
	expect(devinfo_counts("max_mw:", dev.max_mw));
	expect(devinfo_counts("max_qp_rd_atom:", dev.max_qp_rd_atom));
	expect(devinfo_counts("max_qp_init_rd_atom:", dev.max_qp_init_rd_atom));
	expect(devinfo_says("atomic_cap:", dev.atomic_cap == IBV_ATOMIC_GLOB ?
			    "ATOMIC_GLOB" : "ATOMIC_NONE"));
	/* flags of features that are refused are clear */
	expect(!(dev.device_cap_flags & (IBV_DEVICE_RESIZE_MAX_WR |
					 IBV_DEVICE_SRQ_RESIZE |
					 IBV_DEVICE_UD_AV_PORT_ENFORCE)));
	pair_down();
}

/* register an MR of @len bytes; Return: 0 or the errno */
static int reg_errno(size_t len)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr(a.pd, a.buf, len, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		return errno;
	must(!ibv_dereg_mr(mr));
	return 0;
}

static int moderate_by(uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { count, period },
	};

	return ibv_modify_cq(a.scq, &attr);
}

static void expect_window(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(a.pd, type);

	must(mw);
	must(!ibv_dealloc_mw(mw));
}

/* use each printed capability up to its limit */
static void devinfo_capabilities(void)
{
	struct ibv_device_attr_ex dev = {};
	char text[40];

	solo_up(NULL);
	must(!ibv_query_device_ex(a.id->verbs, NULL, &dev));
	expect_eq(dev.orig_attr.device_cap_flags,
		  IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW |
		  IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	expect(devinfo_says("MEM_WINDOW\n", "MEM_WINDOW"));
	expect(devinfo_says("MEM_WINDOW_TYPE_2B\n", "MEM_WINDOW"));
	expect(devinfo_says("MEM_MGT_EXTENSIONS\n", "MEM_MGT"));
	expect_window(IBV_MW_TYPE_1);
	expect_window(IBV_MW_TYPE_2);
	snprintf(text, sizeof(text), "0x%llx\n",
		 (unsigned long long)dev.orig_attr.max_mr_size);
	expect(devinfo_says("max_mr_size:", text));
	/* EFAULT: the length is allowed, only the memory does not exist */
	expect_eq(reg_errno(dev.orig_attr.max_mr_size), EFAULT);
	expect_eq(reg_errno(dev.orig_attr.max_mr_size + 1), EINVAL);
	/* the largest values of the verb's fields */
	expect_eq(dev.cq_mod_caps.max_cq_count, UINT16_MAX);
	expect_eq(dev.cq_mod_caps.max_cq_period, UINT16_MAX);
	expect(devinfo_counts("max_cq_count:", dev.cq_mod_caps.max_cq_count));
	snprintf(text, sizeof(text), "\t%u us\n",
		 dev.cq_mod_caps.max_cq_period);
	expect(devinfo_says("max_cq_period:", text));
	expect_eq(moderate_by(dev.cq_mod_caps.max_cq_count,
			      dev.cq_mod_caps.max_cq_period), 0);
	expect(resource_says("cq", "cqe", a.scq->cqe, "drv_hold_count 65535"));
	expect(resource_says("cq", "cqe", a.scq->cqe, "drv_hold_us 65535"));
	pair_down();
}

/* queues of depth 8192 take 8192 requests of 16 elements each, and all arrive */
static void depth_is_usable(void)
{
	enum { N = 8192 };
	static const struct want want = {
		.cap = { .max_send_wr = N, .max_recv_wr = N,
			 .max_send_sge = 16, .max_recv_sge = 16 },
	};
	struct ibv_sge sge[16];
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = 16, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int i;

	pair_up(&want, &want);
	for (i = 0; i < 16; i++)
		sge[i] = sge_at(&b, 32 * i, 1);
	for (i = 0; i < N; i++)
		post_recv_sge(&b, i, sge, 16);
	for (i = 0; i < 16; i++)
		sge[i] = sge_at(&a, 64 * i, 1);
	for (i = 0; i < N; i++) {
		wr.wr_id = i;
		post(&a, &wr);
	}
	for (i = 0; i < N; i++) {
		expect_wc(a.scq, i, IBV_WC_SUCCESS);
		expect_recv(&b, i, 16);
	}
	pair_down();
}

/* ---- query_qp ------------------------------------------------------------------ */

static struct ibv_qp_attr query(struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(e->qp, &attr, ALL_ATTRS, &init));
	expect_eq(attr.cur_qp_state, attr.qp_state);
	expect_eq(attr.path_mtu, IBV_MTU_1024);
	expect_eq(attr.port_num, 1);
	expect_eq(attr.cap.max_send_wr, e->cap.max_send_wr);
	expect_eq(attr.cap.max_recv_wr, e->cap.max_recv_wr);
	expect_eq(attr.cap.max_inline_data, e->cap.max_inline_data);
	expect(init.send_cq == e->scq && init.recv_cq == e->rcq && !init.srq);
	expect_eq(init.qp_type, IBV_QPT_RC);
	expect_eq(init.sq_sig_all, 0);
	return attr;
}

static void qp_in_each_state(void)
{
	static const struct want wa = { .ird = 3, .ord = 5 };
	static const struct want wb = { .ird = 9, .ord = 2 };
	struct ibv_qp_attr attr, rights = { .qp_access_flags = 0 };

	solo_up(NULL);
	attr = query(&a);
	expect_eq(attr.qp_state, IBV_QPS_INIT);
	expect_eq(attr.max_rd_atomic, 0);
	expect_eq(attr.max_dest_rd_atomic, 0);
	pair_down();
	pair_up(&wa, &wb);
	attr = query(&a);
	expect_eq(attr.qp_state, IBV_QPS_RTS);
	expect_eq(attr.qp_access_flags, IBV_ACCESS_REMOTE_READ |
					IBV_ACCESS_REMOTE_WRITE);
	/* the agreed depths: the lesser value for each direction */
	expect_eq(attr.max_rd_atomic, 5);
	expect_eq(attr.max_dest_rd_atomic, 3);
	attr = query(&b);
	expect_eq(attr.max_rd_atomic, 2);
	expect(attr.max_dest_rd_atomic >= 5);
	must(!ibv_modify_qp(a.qp, &rights, IBV_QP_ACCESS_FLAGS));
	expect_eq(query(&a).qp_access_flags, 0);
	must(!rdma_disconnect(a.id));
	expect_error_state(&a);
	expect_error_state(&b);
	expect_eq(query(&a).qp_state, IBV_QPS_ERR);
	pair_down();
}

/* ---- rdma resource ---------------------------------------------------------------- */

/* the number of a's objects of this kind in the summary of rdma(8) */
static int count(const char *kind)
{
	char command[128], line[64];

	snprintf(command, sizeof(command),
		 "rdma resource show %s | grep -o ' %s [0-9]*' | tr -dc 0-9",
		 DEV_A, kind);
	first_line(line, sizeof(line), command);
	return atoi(line);
}

/* the details of a's region show its window */
static void windows(void)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = a.mr, .addr = (uintptr_t)a.buf, .length = 64,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ,
		},
	};
	struct ibv_mw *mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_1);

	must(mw);
	expect(resource_says("mr", "mrlen", a.buf_len, "drv_windows 0"));
	must(!ibv_bind_mw(a.qp, mw, &bind));
	expect_wc(a.scq, 0, IBV_WC_SUCCESS);
	expect(resource_says("mr", "mrlen", a.buf_len, "drv_windows 1"));
	must(!ibv_dealloc_mw(mw));
	expect(resource_says("mr", "mrlen", a.buf_len, "drv_windows 0"));
}

/* the details of an SRQ show its receives and its armed limit */
static void receives(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;

	expect(resource_says("srq", "lqpn", a.qp->qp_num, "drv_level 0 drv_limit 0"));
	must(!ibv_post_srq_recv(a.srq, &wr, &bad));
	must(!ibv_post_srq_recv(a.srq, &wr, &bad));
	must(!ibv_modify_srq(a.srq, &attr, IBV_SRQ_LIMIT));
	expect(resource_says("srq", "lqpn", a.qp->qp_num, "drv_level 2 drv_limit 1"));
}

/* the details show an MR's rights and length after rereg_mr, and that a CQ is armed */
static void rights(void)
{
	must(!ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
	expect(resource_says("mr", "mrlen", a.buf_len, "drv_valid 1 drv_access 0"));
	must(!ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, a.buf,
			   0x5000, 0));
	expect(resource_says("mr", "mrlen", 0x5000, "drv_access 0"));
	expect(resource_says("cq", "cqe", 2048, "drv_armed 0"));
	must(!ibv_req_notify_cq(a.scq, 0));
	expect(resource_says("cq", "cqe", 2048, "drv_armed 2"));
}

static void resources(void)
{
	static const struct want want = {
		.cqe = 2048, .buf_len = 0x23000, .own_srq = true,
		.access = ALL_RIGHTS | IBV_ACCESS_MW_BIND,
	};
	static const char *const kinds[] = {
		"pd", "cq", "qp", "cm_id", "mr", "srq",
	};
	/* librdmacm has a PD of its own */
	static const int made[] = { 2, 2, 1, 1, 1, 1 };
	struct ibv_modify_cq_attr moderate = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { 11, 77 },
	};
	int before[ARRAY_LEN(kinds)];
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(kinds); i++)
		before[i] = count(kinds[i]);
	pair_up(&want, NULL);
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		expect_eq(count(kinds[i]) - before[i], made[i]);
	expect(resource_says("qp", "lqpn", a.qp->qp_num, "type RC state RTS"));
	expect(resource_says("qp", "lqpn", a.qp->qp_num, "drv_stream RTS"));
	expect(resource_says("cq", "cqe", 2048, "drv_size 2048"));
	expect(resource_says("mr", "mrlen", 0x23000, "drv_kind user"));
	expect(resource_says("srq", "lqpn", a.qp->qp_num, "type BASIC"));
	windows();
	receives();
	rights();
	must(!ibv_resize_cq(a.scq, 5000));
	expect_eq(a.scq->cqe, 8192);
	must(!ibv_modify_cq(a.scq, &moderate));
	expect(resource_says("cq", "cqe", a.scq->cqe, "drv_size 8192"));
	expect(resource_says("cq", "cqe", a.scq->cqe, "drv_hold_count 11"));
	expect(resource_says("cq", "cqe", a.scq->cqe, "drv_hold_us 77"));
	must(!rdma_disconnect(a.id));
	expect_error_state(&a);
	expect(resource_says("qp", "lqpn", a.qp->qp_num, "state ERR"));
	pair_down();
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		expect_eq(count(kinds[i]), before[i]);
}

/* Return: the command's output has the number in decimal or hexadecimal */
static bool prints(const char *command, unsigned long long number)
{
	char dec[32], hex[32], line[1024];
	FILE *out = popen(command, "r");
	bool found = false;

	must(out);
	snprintf(dec, sizeof(dec), "%llu", number);
	snprintf(hex, sizeof(hex), "%llx", number);
	while (fgets(line, sizeof(line), out))
		found |= strstr(line, dec) || strstr(line, hex);
	expect_eq(pclose(out), 0);
	return found;
}

/* addresses of a program's memory and its IOVAs are not shown to other users */
static void no_addresses(void)
{
	static const char show[] = "rdma -d resource show mr -dd";
	const uint64_t iova = 0x5eed0000aff0000ull;
	struct ibv_mr *mr;

	pair_up(NULL, NULL);
	mr = ibv_reg_mr_iova(a.pd, a.buf, 4096, iova, ALL_RIGHTS);
	must(mr);
	/* the MR is listed with its length */
	expect(prints(show, a.buf_len));
	expect(!prints(show, (uintptr_t)a.buf));
	expect(!prints(show, (uintptr_t)b.buf));
	expect(!prints(show, iova));
	must(!ibv_dereg_mr(mr));
	pair_down();
}

/* dump all objects of a kind of device @index by nldev, and discard the answer */
static void dump(int fd, unsigned int index, int cmd)
{
	struct {
		struct nlmsghdr nlh;
		struct nlattr attr;
		uint32_t index;
	} req = {
		.nlh = {
			.nlmsg_len = sizeof(req),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.attr = { NLA_HDRLEN + sizeof(req.index), RDMA_NLDEV_ATTR_DEV_INDEX },
		.index = index,
	};
	static char buf[1 << 16];
	struct nlmsghdr *nlh;
	int n;

	if (send(fd, &req, sizeof(req), 0) != sizeof(req))
		_exit(1);
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		for (nlh = (void *)buf; NLMSG_OK(nlh, (unsigned int)n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_type == NLMSG_DONE)
				return;
			if (nlh->nlmsg_type == NLMSG_ERROR)
				_exit(1);
		}
	}
	_exit(1);
}

/* start a process that dumps all objects in a loop */
static pid_t start_asking(void)
{
	static const int cmds[] = {
		RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_CMD_RES_SRQ_GET,
		RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_CMD_RES_MR_GET,
	};
	char command[64], line[64];
	unsigned int i;
	pid_t child;
	int fd;

	snprintf(command, sizeof(command), "rdma dev show %s | cut -d: -f1", DEV_A);
	first_line(line, sizeof(line), command);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	must(fd >= 0);
	child = fork();
	must(child >= 0);
	for (i = 0; !child; i++)
		dump(fd, atoi(line), cmds[i % ARRAY_LEN(cmds)]);
	close(fd);
	return child;
}

static void one_of_each(void)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_qp_init_attr qp_attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_srq *srq = ibv_create_srq(a.pd, &srq_attr);
	struct ibv_cq *cq = ibv_create_cq(a.id->verbs, 1, NULL, NULL, 0);
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.buf, 4096, 0);
	struct ibv_qp *qp;

	must(srq && cq && mr);
	qp_attr.send_cq = cq;
	qp_attr.recv_cq = cq;
	qp = ibv_create_qp(a.pd, &qp_attr);
	must(qp);
	must(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
	must(!ibv_destroy_srq(srq) && !ibv_dereg_mr(mr));
}

/* the core of 6.12 lets an object be destroyed while another process dumps it */
static void come_and_go(void)
{
	time_t end = time(NULL) + 4;
	pid_t asking;
	int status;

	solo_up(NULL);
	asking = start_asking();
	while (time(NULL) < end)
		one_of_each();
	expect_eq(waitpid(asking, &status, WNOHANG), 0);
	must(!kill(asking, SIGKILL));
	must(waitpid(asking, &status, 0) == asking);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "devinfo__names_versions_and_clocks", devinfo_names },
	{ "devinfo__shows_the_limits_that_are_enforced", devinfo_limits },
	{ "devinfo__capabilities_work_up_to_their_limits", devinfo_capabilities },
	{ "query_device__depth_and_sges_can_be_used", depth_is_usable },
	{ "query_qp__is_correct_in_each_state", qp_in_each_state },
	{ "resource__shows_no_addresses", no_addresses },
	{ "resource__shows_this_programs_objects", resources },
	{ "resource__while_objects_come_and_go", come_and_go },
};

const struct tap_theme query_theme = { tests, ARRAY_LEN(tests) };
