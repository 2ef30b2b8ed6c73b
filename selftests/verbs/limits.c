// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The limits that queries report hold: the limit itself works, one more is refused. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

static struct ibv_device_attr dev;

static void query_limits(void)
{
	solo_up(NULL);
	must(!ibv_query_device(a.id->verbs, &dev));
}

/* create a QP with @cap and @type; Return: 0 or the errno */
static int try_qp(struct ibv_qp_cap cap, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = a.scq, .recv_cq = a.rcq, .cap = cap, .qp_type = type,
	};
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp(a.pd, &attr);
	if (!qp)
		return errno;
	expect(attr.cap.max_send_wr >= cap.max_send_wr);
	expect(attr.cap.max_recv_wr >= cap.max_recv_wr);
	expect(attr.cap.max_send_sge >= cap.max_send_sge);
	expect(attr.cap.max_recv_sge >= cap.max_recv_sge);
	expect(attr.cap.max_inline_data >= cap.max_inline_data);
	must(!ibv_destroy_qp(qp));
	return 0;
}

static const struct ibv_qp_cap small = {
	.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
};

static void qp_limits(void)
{
	struct ibv_qp_cap cap;

	query_limits();
	cap = small;
	cap.max_send_wr = dev.max_qp_wr;
	expect_eq(try_qp(cap, IBV_QPT_RC), 0);
	cap.max_send_wr++;
	expect_eq(try_qp(cap, IBV_QPT_RC), EINVAL);
	cap = small;
	cap.max_recv_wr = dev.max_qp_wr;
	expect_eq(try_qp(cap, IBV_QPT_RC), 0);
	cap.max_recv_wr++;
	expect_eq(try_qp(cap, IBV_QPT_RC), EINVAL);
	cap = small;
	cap.max_send_sge = dev.max_sge;
	cap.max_recv_sge = dev.max_sge;
	expect_eq(try_qp(cap, IBV_QPT_RC), 0);
	cap.max_send_sge++;
	expect_eq(try_qp(cap, IBV_QPT_RC), EINVAL);
	cap.max_send_sge--;
	cap.max_recv_sge++;
	expect_eq(try_qp(cap, IBV_QPT_RC), EINVAL);
	cap = small;
	cap.max_send_wr = -1;
	expect_eq(try_qp(cap, IBV_QPT_RC), EINVAL);
	pair_down();
}

static void inline_limit(void)
{
	struct ibv_qp_cap cap = small;
	uint32_t max = 0, len;

	query_limits();
	for (len = 1; len <= 65536; len *= 2) {
		cap.max_inline_data = len;
		if (!try_qp(cap, IBV_QPT_RC))
			max = len;
	}
	expect(max >= (over_siw ? 64 : 256));
	cap.max_inline_data = 1 << 20;
	expect_eq(try_qp(cap, IBV_QPT_RC), EINVAL);
	pair_down();
}

static void qp_types(void)
{
	query_limits();
	expect_eq(try_qp(small, IBV_QPT_UD), EOPNOTSUPP);
	expect_eq(try_qp(small, IBV_QPT_UC), EOPNOTSUPP);
	expect_eq(try_qp(small, IBV_QPT_RAW_PACKET), EOPNOTSUPP);
	pair_down();
}

/* create a QP with these flags and attributes; Return: 0 or the errno */
static int try_qp_ex(uint32_t create_flags, uint32_t comp_mask)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = a.scq, .recv_cq = a.rcq, .cap = small,
		.qp_type = IBV_QPT_RC, .pd = a.pd, .create_flags = create_flags,
		.comp_mask = IBV_QP_INIT_ATTR_PD | comp_mask,
	};
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp_ex(a.id->verbs, &attr);
	if (!qp)
		return errno;
	must(!ibv_destroy_qp(qp));
	return 0;
}

/* every bit of create_flags, and unknown attributes, are refused */
static void qp_flags(void)
{
	uint32_t flag;

	query_limits();
	expect_eq(try_qp_ex(0, IBV_QP_INIT_ATTR_CREATE_FLAGS), 0);
	for (flag = 1; flag; flag <<= 1)
		expect_eq(try_qp_ex(flag, IBV_QP_INIT_ATTR_CREATE_FLAGS),
			  EOPNOTSUPP);
	expect_eq(try_qp_ex(0, 1 << 20), EOPNOTSUPP);
	expect_eq(try_qp_ex(0, 1u << 31), EOPNOTSUPP);
	pair_down();
}

static int try_cq(int cqe)
{
	struct ibv_cq *cq;

	errno = 0;
	cq = ibv_create_cq(a.id->verbs, cqe, NULL, NULL, 0);
	if (!cq)
		return errno;
	expect(cq->cqe >= cqe);
	must(!ibv_destroy_cq(cq));
	return 0;
}

/* the kernel checks the number of entries */
static void cq_limits(void)
{
	struct ibv_cq *cq;

	query_limits();
	expect_eq(try_cq(1), 0);
	expect_eq(try_cq(dev.max_cqe), 0);
	expect_eq(try_cq(dev.max_cqe + 1), EINVAL);
	expect_eq(try_cq(0), EINVAL);
	expect_eq(try_cq(-1), EINVAL);
	cq = ibv_create_cq(a.id->verbs, 4, NULL, NULL,
			   a.id->verbs->num_comp_vectors - 1);
	expect(cq);
	if (cq)
		must(!ibv_destroy_cq(cq));
	errno = 0;
	cq = ibv_create_cq(a.id->verbs, 4, NULL, NULL,
			   a.id->verbs->num_comp_vectors);
	expect(!cq);
	expect_eq(errno, EINVAL);
	pair_down();
}

static int try_srq(uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = wr, .max_sge = sge },
	};
	struct ibv_srq *srq;

	errno = 0;
	srq = ibv_create_srq(a.pd, &attr);
	if (!srq)
		return errno;
	expect(attr.attr.max_wr >= wr);
	must(!ibv_destroy_srq(srq));
	return 0;
}

static void srq_limits(void)
{
	query_limits();
	expect_eq(try_srq(1, 1), 0);
	expect_eq(try_srq(dev.max_srq_wr, 1), 0);
	expect_eq(try_srq(dev.max_srq_wr + 1, 1), EINVAL);
	expect_eq(try_srq(16, dev.max_srq_sge), 0);
	expect_eq(try_srq(16, dev.max_srq_sge + 1), EINVAL);
	expect_eq(try_srq(0, 1), EINVAL);
	pair_down();
}

static void device_attributes(void)
{
	query_limits();
	expect(dev.max_qp > 0 && dev.max_cq > 0 && dev.max_mr > 0);
	expect(dev.max_pd > 0 && dev.max_srq > 0);
	expect(dev.max_sge >= 16);
	expect(dev.max_sge_rd >= 16);
	expect(dev.max_qp_rd_atom > 0 && dev.max_qp_init_rd_atom > 0);
	expect_eq(dev.max_ee, 0);
	expect_eq(dev.phys_port_cnt, 1);
	expect(dev.node_guid);
	expect(dev.fw_ver[0]);
	expect_eq(a.id->verbs->device->node_type, IBV_NODE_RNIC);
	expect_eq(a.id->verbs->device->transport_type, IBV_TRANSPORT_IWARP);
	pair_down();
}

static void port_attributes(void)
{
	struct ibv_port_attr port;
	union ibv_gid gid;

	query_limits();
	must(!ibv_query_port(a.id->verbs, 1, &port));
	expect_eq(port.state, IBV_PORT_ACTIVE);
	expect_eq(port.active_mtu, IBV_MTU_1024);
	expect_eq(port.max_msg_sz, UINT32_MAX);
	expect_eq(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	expect(port.gid_tbl_len >= 1);
	must(!ibv_query_gid(a.id->verbs, 1, 0, &gid));
	expect(gid.global.interface_id);
	expect(gid.global.subnet_prefix);
	expect_eq(ibv_query_port(a.id->verbs, 0, &port), EINVAL);
	expect_eq(ibv_query_port(a.id->verbs, 2, &port), EINVAL);
	pair_down();
}

static void qp_attributes(void)
{
	static const struct want want = {
		.cap = { .max_send_wr = 33, .max_recv_wr = 17,
			 .max_send_sge = 3, .max_recv_sge = 2 },
		.sig_all = true, .ird = 5, .ord = 7,
	};
	static const struct want peer = { .ird = 6, .ord = 3 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {};

	solo_up(&want);
	expect_eq(state_of(&a), IBV_QPS_INIT);
	attr.cap = want.cap;
	expect_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_CAP), EOPNOTSUPP);
	pair_down();
	pair_up(&want, &peer);
	must(!ibv_query_qp(a.qp, &attr, ALL_ATTRS, &init));
	expect_eq(attr.qp_state, IBV_QPS_RTS);
	expect_eq(init.qp_type, IBV_QPT_RC);
	expect_eq(init.sq_sig_all, 1);
	expect(init.send_cq == a.scq && init.recv_cq == a.rcq);
	expect_eq(init.cap.max_send_wr, a.cap.max_send_wr);
	expect_eq(init.cap.max_recv_wr, a.cap.max_recv_wr);
	expect_eq(init.cap.max_send_sge, a.cap.max_send_sge);
	expect_eq(init.cap.max_inline_data, a.cap.max_inline_data);
	expect(a.cap.max_send_wr >= 33 && a.cap.max_recv_wr >= 17);
	expect(a.cap.max_send_sge >= 3 && a.cap.max_recv_sge >= 2);
	expect(attr.max_rd_atomic >= 1 && attr.max_rd_atomic <= 7);
	expect(attr.max_dest_rd_atomic >= 3);
	must(!rdma_disconnect(a.id));
	expect_error_state(&b);
	pair_down();
}

static void qp_states(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	solo_up(NULL);
	/* only the connection manager moves a QP to RTS */
	expect_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), EINVAL);
	attr.qp_state = IBV_QPS_ERR;
	expect(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
	expect_eq(state_of(&a), IBV_QPS_ERR);
	pair_down();
}

/* a PD and a CQ in use are not destroyed */
static void busy_objects(void)
{
	pair_up(NULL, NULL);
	expect_eq(ibv_dealloc_pd(a.pd), EBUSY);
	expect_eq(ibv_destroy_cq(a.scq), EBUSY);
	pair_down();
}

/* many objects of each kind at the same time */
static void many_objects(void)
{
	enum { N = 200 };
	static struct ibv_pd *pd[N];
	static struct ibv_cq *cq[N];
	static struct ibv_qp *qp[N];
	static struct ibv_mr *mr[N];
	struct ibv_qp_init_attr attr = { .cap = small, .qp_type = IBV_QPT_RC };
	int i;

	solo_up(NULL);
	for (i = 0; i < N; i++) {
		pd[i] = ibv_alloc_pd(a.id->verbs);
		must(pd[i]);
		cq[i] = ibv_create_cq(a.id->verbs, 4, NULL, NULL, 0);
		must(cq[i]);
		attr.send_cq = cq[i];
		attr.recv_cq = cq[i];
		qp[i] = ibv_create_qp(pd[i], &attr);
		must(qp[i]);
		mr[i] = ibv_reg_mr(pd[i], a.buf, 4096, ALL_RIGHTS);
		must(mr[i]);
	}
	for (i = 0; i < N; i++) {
		must(!ibv_dereg_mr(mr[i]));
		must(!ibv_destroy_qp(qp[i]));
		must(!ibv_destroy_cq(cq[i]));
		must(!ibv_dealloc_pd(pd[i]));
	}
	pair_down();
}

/* ---- shares --------------------------------------------------------------- */

/* register @len bytes as another user; Return: 0 or the errno, -1 if setup failed */
static int pin_as_nobody(struct ibv_device *device, size_t len)
{
	const struct rlimit most = { 1 << 20, 1 << 20 };
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED || setrlimit(RLIMIT_MEMLOCK, &most) || setuid(65534))
		return -1;
	ctx = ibv_open_device(device);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	if (!pd)
		return -1;
	return ibv_reg_mr(pd, p, len, ALL_RIGHTS) ? 0 : errno;
}

static int pin_in_child(size_t len)
{
	int status;
	pid_t pid = fork();

	must(pid >= 0);
	if (!pid)
		_exit(pin_as_nobody(a.id->verbs->device, len));
	must(waitpid(pid, &status, 0) == pid);
	must(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void share_of_memory(void)
{
	solo_up(NULL);
	expect_eq(pin_in_child(256 << 10), 0);
	expect_eq(pin_in_child(2 << 20), ENOMEM);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "QP limits hold: at them it works, beyond them EINVAL", qp_limits },
	{ "inline limit", inline_limit },
	{ "QP types other than RC: EOPNOTSUPP", qp_types },
	{ "each unknown QP create flag or attribute: EOPNOTSUPP", qp_flags },
	{ "DDP-116, RDMAP-154: CQ limits hold, EINVAL beyond them", cq_limits },
	{ "SRQ limits hold, EINVAL beyond them", srq_limits },
	{ "query_device", device_attributes },
	{ "query_port and query_gid", port_attributes },
	{ "query_qp", qp_attributes },
	{ "modify_qp cannot make RTS, can make ERROR", qp_states },
	{ "PD and CQ in use are not destroyed", busy_objects },
	{ "200 of each object", many_objects },
	{ "DDP-116, DDP-119, RDMAP-151, RDMAP-155: a process pins no more memory than it may lock",
	  share_of_memory },
};

const struct tap_theme limit_theme = { tests, ARRAY_LEN(tests) };
