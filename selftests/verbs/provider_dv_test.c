// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * terndv.h against a stand-in for the kernel's methods: each field is passed correctly
 * in both directions, and an error leaks nothing. Built by
 * `userspace-provider/build --test`.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <infiniband/cmd_ioctl.h>

#include "abi.h"
#include "pd.h"
#include "qp.h"
#include "tern.h"
#include "terndv.h"

#include "provider_tap.h"

/* ---- the kernel ----------------------------------------------------------- */

static struct {
	int qps;
	unsigned int calls;
	int answer;
	uint32_t qp_handle;
	struct tern_qp_options options;
	struct tern_qp_report report;
	struct tern_dv_device device;
} kernel;

static void take_options(const struct ib_uverbs_attr *attrs)
{
	expect(attrs[0].attr_id == TERN_ATTR_DV_OPTIONS_QP && !attrs[0].len);
	expect_eq(attrs[1].attr_id, TERN_ATTR_DV_OPTIONS_IN);
	expect_eq(attrs[1].len, sizeof(kernel.options));
	kernel.qp_handle = attrs[0].data;
	memcpy(&kernel.options, (void *)(uintptr_t)attrs[1].data,
	       sizeof(kernel.options));
}

static void give(const struct ib_uverbs_attr *attr, uint16_t id,
		 const void *what, size_t len)
{
	expect(attr->attr_id == id && attr->len == len);
	memcpy((void *)(uintptr_t)attr->data, what, len);
}

int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd)
{
	const struct ib_uverbs_attr *attrs = cmd->hdr.attrs;

	expect_eq(cmd->hdr.object_id, TERN_OBJECT_DV);
	kernel.calls++;
	if (kernel.answer)
		return kernel.answer;
	switch (cmd->hdr.method_id) {
	case TERN_METHOD_DV_SET_OPTIONS:
		take_options(attrs);
		break;
	case TERN_METHOD_DV_REPORT:
		expect_eq(attrs[0].attr_id, TERN_ATTR_DV_REPORT_QP);
		give(attrs + 1, TERN_ATTR_DV_REPORT_OUT, &kernel.report,
		     sizeof(kernel.report));
		break;
	default:
		expect_eq(cmd->hdr.method_id, TERN_METHOD_DV_DEVICE);
		give(attrs, TERN_ATTR_DV_DEVICE_OUT, &kernel.device,
		     sizeof(kernel.device));
	}
	return 0;
}

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	struct tern_cmd_create_qp_resp *ours = (void *)resp;
	uint64_t page = sysconf(_SC_PAGESIZE);

	ours->drv_payload.sq = (struct tern_uring){ .size = page, .entries = 8,
						    .stride = 320 };
	ours->drv_payload.rq = ours->drv_payload.sq;
	ours->drv_payload.max_inline = 256;
	qp->qp.context = context;
	qp->qp.handle = 42;
	attr->cap.max_send_wr += 3;
	kernel.qps++;
	return 0;
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	kernel.qps--;
	return 0;
}

/* ---- the caller ----------------------------------------------------------- */

static const struct verbs_device_ops *driver;

void verbs_register_driver(const struct verbs_device_ops *ops)
{
	driver = ops;
}

static struct verbs_device ours, foreign;
static struct tern_context ctx;
static struct tern_pd pd;
static struct ibv_qp qp;

static void fresh(void)
{
	static const struct verbs_device_ops others;

	memset(&kernel, 0, sizeof(kernel));
	ours.ops = driver;
	foreign.ops = &others;
	ctx.vctx.context.device = &ours.device;
	pd.pd.context = &ctx.vctx.context;
	qp.context = &ctx.vctx.context;
	qp.handle = 7;
}

static struct ibv_qp_init_attr_ex qp_attr(void)
{
	return (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = &pd.pd,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 16, .max_recv_sge = 16 },
	};
}

/* ---- tests ---------------------------------------------------------------- */

static const struct terndv_qp_init_attr all = {
	.comp_mask = 0x7ff,
	.markers = true,
	.p2p = true,
	.version = 1,
	.mpa_rev = 2,
	.rtr = { TERNDV_RTR_SEND, TERNDV_RTR_WRITE },
	.extensions = TERNDV_EXTENSIONS_ASSUME_7306,
	.features = 0x8003,
	.rtr_timeout_ms = 0x12345678,
	.max_fpdu = 0x9abcdef0,
};

static void modify__each_option_reaches_its_field(void)
{
	fresh();
	expect(!terndv_modify_qp(&qp, &all));
	expect_eq(kernel.qp_handle, 7);
	expect_eq(kernel.options.mask, 0x7ff);
	expect(kernel.options.markers == 1 && kernel.options.crc == 0);
	expect(kernel.options.p2p == 1 && kernel.options.enhanced == 0);
	expect(kernel.options.version == 1 && kernel.options.mpa_rev == 2);
	expect(kernel.options.rtr[0] == 3 && kernel.options.rtr[1] == 1);
	expect_eq(kernel.options.rtr[2], 0);
	expect_eq(kernel.options.rtr_ms, 0x12345678);
	expect_eq(kernel.options.extensions, TERN_EXTENSIONS_ASSUME_7306);
	expect_eq(kernel.options.features, 0x8003);
	expect_eq(kernel.options.max_fpdu, 0x9abcdef0);
	expect(!kernel.options.reserved1[0] && !kernel.options.reserved1[1]);
}

/* padding or reserved bytes of an older program, and fields read from terndv_query_device() */
static void modify__passes_no_newer_options_without_their_bits(void)
{
	struct terndv_qp_init_attr attr = all;

	fresh();
	attr.comp_mask = 0x0ff;
	expect(!terndv_modify_qp(&qp, &attr));
	expect(!kernel.options.extensions && !kernel.options.features);
	expect(!kernel.options.max_fpdu);
	attr.comp_mask = TERNDV_QP_FEATURES;
	expect(!terndv_modify_qp(&qp, &attr));
	expect(!kernel.options.extensions && kernel.options.features == 0x8003);
	attr.comp_mask = TERNDV_QP_EXTENSIONS;
	expect(!terndv_modify_qp(&qp, &attr));
	expect(kernel.options.extensions && !kernel.options.features);
	attr.comp_mask = TERNDV_QP_MAX_FPDU;
	expect(!terndv_modify_qp(&qp, &attr));
	expect(kernel.options.max_fpdu && !kernel.options.features);
}

static void modify__refuses_unknown_bits(void)
{
	struct terndv_qp_init_attr attr = { .comp_mask = 1ull << 32 };

	fresh();
	expect_eq(terndv_modify_qp(&qp, &attr), EOPNOTSUPP);
	attr.comp_mask = 1 << 11;
	expect_eq(terndv_modify_qp(&qp, &attr), EOPNOTSUPP);
	expect(!kernel.calls);
}

static void modify__returns_the_kernels_error(void)
{
	static const int errors[] = { TERNDV_ERR_VERSION, TERNDV_ERR_MARKERS,
				      TERNDV_ERR_STATE, EINVAL, EIO };
	unsigned int i;

	fresh();
	for (i = 0; i < ARRAY_LEN(errors); i++) {
		kernel.answer = errors[i];
		expect_eq(terndv_modify_qp(&qp, &all), errors[i]);
	}
	/* a module without the methods */
	kernel.answer = EPROTONOSUPPORT;
	expect_eq(terndv_modify_qp(&qp, &all), EOPNOTSUPP);
}

static void create__sets_the_options(void)
{
	struct ibv_qp_init_attr_ex attr = qp_attr();
	struct ibv_qp *made;

	fresh();
	made = terndv_create_qp(&ctx.vctx.context, &attr, &all);
	expect(made && kernel.qps == 1 && kernel.qp_handle == 42);
	expect(kernel.options.mask == 0x7ff && attr.cap.max_send_wr == 7);
	expect(!tern_qp_destroy(made));
}

static void create__fails_when_the_kernel_refuses_the_options(void)
{
	struct ibv_qp_init_attr_ex attr = qp_attr();

	fresh();
	kernel.answer = TERNDV_ERR_MARKERS;
	errno = 0;
	expect(!terndv_create_qp(&ctx.vctx.context, &attr, &all));
	expect_eq(errno, TERNDV_ERR_MARKERS);
	expect(!kernel.qps && attr.cap.max_send_wr == 4);
}

static void query_qp__copies_each_field(void)
{
	struct terndv_qp_attr attr;

	fresh();
	kernel.report = (struct tern_qp_report){
		.asked = { .mask = 1, .markers = 1, .rtr = { 2 }, .rtr_ms = 5,
			   .max_fpdu = 8192, .extensions = 1, .features = 0x4001 },
		.own = { .there = 1, .rev = 2, .flags = 0x50, .enhanced = 1,
			 .ird = 0xc011, .ord = 0x8012, .pd_len = 13 },
		.peer = { .there = 1, .rev = 1, .pd_len = 14 },
		.flags = TERN_REPORT_CONNECTED | TERN_REPORT_RX_MARKERS |
			 TERN_REPORT_TERM_RX,
		.term_rx = 0x1234, .version = 1, .mpa_rev = 2, .rtr = 3,
		.ird = 15, .ord = 16, .emss = 1448, .mulpdu = 1442,
		.features = 0x12345,
	};
	expect(!terndv_query_qp(&qp, &attr, sizeof(attr)));
	expect(attr.asked.comp_mask == 1 && attr.asked.markers);
	expect(attr.asked.rtr[0] == 2 && attr.asked.rtr_timeout_ms == 5);
	expect_eq(attr.asked.max_fpdu, 8192);
	expect(attr.own.there && attr.own.rev == 2 && attr.own.enhanced);
	expect(attr.own.flags == 0x50 && attr.own.pd_len == 13);
	expect(attr.own.ird == 0xc011 && attr.own.ord == 0x8012);
	expect(attr.peer.there && attr.peer.rev == 1 && !attr.peer.enhanced);
	expect(attr.connected && attr.rx_markers && !attr.tx_markers);
	expect(!attr.crc && !attr.p2p && !attr.initiator && !attr.retried);
	expect(attr.term_received && attr.term_rx == 0x1234 && !attr.term_sent);
	expect(attr.version == 1 && attr.mpa_rev == 2 && attr.rtr == 3);
	expect(attr.ird == 15 && attr.ord == 16);
	expect(attr.emss == 1448 && attr.mulpdu == 1442);
	expect_eq(attr.asked.extensions, TERNDV_EXTENSIONS_NEGOTIATE);
	expect(attr.asked.features == 0x4001 && attr.features == 0x12345);
	expect(!attr.decided);
}

static void query_qp__copies_each_flag(void)
{
	struct terndv_qp_attr a;
	uint32_t bit;

	fresh();
	for (bit = 1; bit <= TERN_REPORT_DECIDED; bit <<= 1) {
		kernel.report.flags = bit;
		expect(!terndv_query_qp(&qp, &a, sizeof(a)));
		expect_eq(a.connected, bit == TERN_REPORT_CONNECTED);
		expect_eq(a.initiator, bit == TERN_REPORT_INITIATOR);
		expect_eq(a.retried, bit == TERN_REPORT_RETRIED);
		expect_eq(a.term_sent, bit == TERN_REPORT_TERM_TX);
		expect_eq(a.term_received, bit == TERN_REPORT_TERM_RX);
		expect_eq(a.crc, bit == TERN_REPORT_CRC);
		expect_eq(a.tx_markers, bit == TERN_REPORT_TX_MARKERS);
		expect_eq(a.rx_markers, bit == TERN_REPORT_RX_MARKERS);
		expect_eq(a.p2p, (bit == TERN_REPORT_P2P));
		expect_eq(a.decided, (bit == TERN_REPORT_DECIDED));
	}
}

static void query_device__tells_the_features(void)
{
	struct terndv_device_attr attr;

	fresh();
	kernel.device.features = 0x83;
	kernel.device.settings.extensions = 2;
	kernel.device.settings.features = 3;
	kernel.device.choice = TERN_OPTION_EXTENSIONS | TERN_OPTION_FEATURES;
	expect(!terndv_query_device(&ctx.vctx.context, &attr, sizeof(attr)));
	expect_eq(attr.features, 0x83);
	expect_eq(attr.settings.extensions, TERNDV_EXTENSIONS_ASSUME_7306);
	expect_eq(attr.settings.features,
		  TERNDV_FEATURE_7306 | TERNDV_FEATURE_V2);
	expect_eq(attr.selectable, TERNDV_QP_EXTENSIONS | TERNDV_QP_FEATURES);
}

static void query__a_shorter_struct_is_not_overrun(void)
{
	const size_t half = offsetof(struct terndv_device_attr, versions);
	struct terndv_qp_init_attr *settings = malloc(half);

	fresh();
	kernel.device.settings.mpa_rev = 2;
	/* ASan watches the memory after it */
	expect(!terndv_query_device(&ctx.vctx.context, (void *)settings, half));
	expect_eq(settings->mpa_rev, 2);
	free(settings);
}

static void query__a_longer_struct_ends_with_zeros(void)
{
	struct {
		struct terndv_device_attr attr;
		uint8_t more[32];
	} a;
	unsigned int i;

	fresh();
	kernel.device.max_pd = 512;
	memset(&a, 0x5a, sizeof(a));
	expect(!terndv_query_device(&ctx.vctx.context, &a.attr, sizeof(a)));
	expect_eq(a.attr.max_pd, 512);
	for (i = 0; i < sizeof(a.more); i++)
		expect(!a.more[i]);
}

static void foreign_device__is_refused_without_a_call(void)
{
	struct ibv_qp_init_attr_ex attr = qp_attr();
	struct terndv_device_attr device;
	struct terndv_qp_attr got;

	fresh();
	expect(terndv_is_supported(&ours.device));
	expect(!terndv_is_supported(&foreign.device));
	ctx.vctx.context.device = &foreign.device;
	expect(terndv_query_device(&ctx.vctx.context, &device,
				   sizeof(device)) == EOPNOTSUPP);
	expect(!terndv_create_qp(&ctx.vctx.context, &attr, &all));
	expect_eq(errno, EOPNOTSUPP);
	expect_eq(terndv_modify_qp(&qp, &all), EOPNOTSUPP);
	expect_eq(terndv_query_qp(&qp, &got, sizeof(got)), EOPNOTSUPP);
	expect(!kernel.calls && !kernel.qps);
}

static const struct tap_test tests[] = {
	TEST(modify__each_option_reaches_its_field),
	TEST(modify__passes_no_newer_options_without_their_bits),
	TEST(modify__refuses_unknown_bits),
	TEST(modify__returns_the_kernels_error),
	TEST(create__sets_the_options),
	TEST(create__fails_when_the_kernel_refuses_the_options),
	TEST(query_qp__copies_each_field),
	TEST(query_qp__copies_each_flag),
	TEST(query_device__tells_the_features),
	TEST(query__a_shorter_struct_is_not_overrun),
	TEST(query__a_longer_struct_ends_with_zeros),
	TEST(foreign_device__is_refused_without_a_call),
};

int main(void)
{
	/* queues are mapped from this file */
	ctx.vctx.context.cmd_fd = memfd_create("uverbs", MFD_CLOEXEC);
	expect(!ftruncate(ctx.vctx.context.cmd_fd, 65536));
	return tap_run(tests, ARRAY_LEN(tests));
}
