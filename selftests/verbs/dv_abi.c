// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The kernel's side of terndv.h (TERN_OBJECT_DV in tern-abi.h), called by ioctl(): each
 * wrong size, value, handle and state returns its own errno.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/rdma_user_ioctl.h>

#include "dv.h"
#include "tern-abi.h"

/* ---- an ioctl -------------------------------------------------------------------------- */

static struct {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[4];
} cmd;

static void begin(uint16_t method)
{
	memset(&cmd, 0, sizeof(cmd));
	cmd.hdr.object_id = TERN_OBJECT_DV;
	cmd.hdr.method_id = method;
	cmd.hdr.driver_id = TERN_DRIVER_ID;
}

static void add(uint16_t id, uint16_t len, uint64_t data)
{
	cmd.attrs[cmd.hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id,
		.len = len,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
}

/* 0 or an errno */
static int call_fd(int fd)
{
	cmd.hdr.length = sizeof(cmd.hdr) +
			 cmd.hdr.num_attrs * sizeof(cmd.attrs[0]);
	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd) ? errno : 0;
}

static int call(void)
{
	return call_fd(a.id->verbs->cmd_fd);
}

static int set_options_at(uint64_t handle, const void *data, uint16_t len)
{
	begin(TERN_METHOD_DV_SET_OPTIONS);
	add(TERN_ATTR_DV_OPTIONS_QP, 0, handle);
	add(TERN_ATTR_DV_OPTIONS_IN, len, (uintptr_t)data);
	return call();
}

static int set_options(struct tern_qp_options w)
{
	return set_options_at(a.qp->handle, &w, sizeof(w));
}

static int report_at(uint64_t handle, void *to, uint16_t len)
{
	begin(TERN_METHOD_DV_REPORT);
	add(TERN_ATTR_DV_REPORT_QP, 0, handle);
	add(TERN_ATTR_DV_REPORT_OUT, len, (uintptr_t)to);
	return call();
}

#define W(bits, ...) ((struct tern_qp_options){ .mask = (bits), ##__VA_ARGS__ })

/* ---- sizes and memory -------------------------------------------------------------------- */

static void sizes_in(void)
{
	static const uint16_t shorter[] = { 0, 1, 8, 31 };
	uint8_t longer[256] = {};
	unsigned int i;

	solo_up(NULL);
	for (i = 0; i < ARRAY_LEN(shorter); i++)
		expect_eq(set_options_at(a.qp->handle, longer, shorter[i]), EINVAL);
	for (i = sizeof(struct tern_qp_options); i <= sizeof(longer); i += 37)
		expect_eq(set_options_at(a.qp->handle, longer, i), 0);
	for (i = sizeof(struct tern_qp_options); i < sizeof(longer); i += 31) {
		longer[i] = 1;
		expect_eq(set_options_at(a.qp->handle, longer, sizeof(longer)),
			  EOPNOTSUPP);
		longer[i] = 0;
	}
	pair_down();
}

static void sizes_out(void)
{
	uint8_t out[256];
	unsigned int i;

	solo_up(NULL);
	expect_eq(report_at(a.qp->handle, out, 0), EINVAL);
	expect_eq(report_at(a.qp->handle, out,
			    sizeof(struct tern_qp_report) - 1), EINVAL);
	memset(out, 0x5a, sizeof(out));
	expect_eq(report_at(a.qp->handle, out, sizeof(out) - 1), 0);
	for (i = sizeof(struct tern_qp_report); i < sizeof(out) - 1; i++)
		expect_eq(out[i], 0);
	expect_eq(out[sizeof(out) - 1], 0x5a);
	begin(TERN_METHOD_DV_DEVICE);
	add(TERN_ATTR_DV_DEVICE_OUT, sizeof(struct tern_dv_device) - 1,
	    (uintptr_t)out);
	expect_eq(call(), EINVAL);
	pair_down();
}

static void bad_memory(void)
{
	const uint16_t in = sizeof(struct tern_qp_options);
	const uint16_t out = sizeof(struct tern_qp_report);
	void *kernel = (void *)0xffff888000000000ul;

	solo_up(NULL);
	expect_eq(set_options_at(a.qp->handle, NULL, in), EFAULT);
	expect_eq(set_options_at(a.qp->handle, kernel, in), EFAULT);
	expect_eq(report_at(a.qp->handle, NULL, out), EFAULT);
	expect_eq(report_at(a.qp->handle, kernel, out), EFAULT);
	pair_down();
}

static void bad_attributes(void)
{
	struct tern_qp_options w = {};

	solo_up(NULL);
	begin(TERN_METHOD_DV_SET_OPTIONS);
	add(TERN_ATTR_DV_OPTIONS_QP, 0, a.qp->handle);
	expect_eq(call(), EINVAL);
	begin(TERN_METHOD_DV_SET_OPTIONS);
	add(TERN_ATTR_DV_OPTIONS_IN, sizeof(w), (uintptr_t)&w);
	expect_eq(call(), EINVAL);
	begin(TERN_METHOD_DV_SET_OPTIONS);
	add(TERN_ATTR_DV_OPTIONS_QP, 0, a.qp->handle);
	add(TERN_ATTR_DV_OPTIONS_IN, sizeof(w), (uintptr_t)&w);
	add(TERN_ATTR_DV_OPTIONS_IN, sizeof(w), (uintptr_t)&w);
	expect_eq(call(), EINVAL);
	begin(TERN_METHOD_DV_SET_OPTIONS);
	add(TERN_ATTR_DV_OPTIONS_QP, 0, a.qp->handle);
	add(TERN_ATTR_DV_OPTIONS_IN, sizeof(w), (uintptr_t)&w);
	add(TERN_ATTR_DV_OPTIONS_IN + 1, sizeof(w), (uintptr_t)&w);
	expect_eq(call(), EPROTONOSUPPORT);
	begin(TERN_METHOD_DV_REPORT + 1);
	expect_eq(call(), EPROTONOSUPPORT);
	pair_down();
}

/* ---- values --------------------------------------------------------------------------------- */

static void unknown_bits(void)
{
	unsigned int bit;

	solo_up(NULL);
	for (bit = 11; bit < 32; bit++)
		expect_eq(set_options(W(1u << bit)), EOPNOTSUPP);
	expect_eq(set_options(W(0, .reserved1 = { 0, 1 })), EINVAL);
	/* a field whose bit is clear is ignored, but for those that were reserved bytes */
	expect_eq(set_options(W(0, .version = 9, .rtr = { 9, 9, 9 }, .p2p = 9)), 0);
	expect_eq(set_options(W(0, .extensions = 1)), EINVAL);
	expect_eq(set_options(W(0, .features = TERN_FEATURE_7306)), EINVAL);
	expect_eq(set_options(W(0, .max_fpdu = 8192)), EINVAL);
	expect_eq(set_options(W(TERN_OPTION_FEATURES, .extensions = 1,
				.features = TERN_FEATURE_7306)), EINVAL);
	pair_down();
}

static void values(void)
{
	static const struct tern_qp_options bad[] = {
		W(TERN_OPTION_MARKERS, .markers = 2),
		W(TERN_OPTION_CRC, .crc = 255),
		W(TERN_OPTION_ENHANCED, .enhanced = 2),
		W(TERN_OPTION_P2P, .p2p = 128),
		W(TERN_OPTION_RTR, .rtr = {}),
		W(TERN_OPTION_RTR, .rtr = { 1, 1 }),
		W(TERN_OPTION_RTR, .rtr = { 1, 2, 1 }),
		W(TERN_OPTION_RTR, .rtr = { 1, 0, 2 }),
		W(TERN_OPTION_RTR, .rtr = { 0, 1 }),
		W(TERN_OPTION_RTR, .rtr = { 4 }),
		W(TERN_OPTION_RTR, .rtr = { 255, 255, 255 }),
		W(TERN_OPTION_RTR_MS, .rtr_ms = 0),
		W(TERN_OPTION_RTR_MS, .rtr_ms = TERN_OPTION_MAX_MS + 1),
		W(TERN_OPTION_RTR_MS, .rtr_ms = -1),
		W(TERN_OPTION_EXTENSIONS, .extensions = 3),
		W(TERN_OPTION_FEATURES, .features = TERN_FEATURE_V2),
		W(TERN_OPTION_FEATURES, .features = 1 << 15),
		W(TERN_OPTION_MAX_FPDU, .max_fpdu = 1),
		W(TERN_OPTION_MAX_FPDU, .max_fpdu = TERN_OPTION_FPDU_MIN - 1),
		W(TERN_OPTION_MAX_FPDU, .max_fpdu = TERN_OPTION_FPDU_MAX + 1),
		W(TERN_OPTION_MAX_FPDU, .max_fpdu = -1),
		W(TERN_OPTION_P2P | TERN_OPTION_ENHANCED, .p2p = 1),
		W(TERN_OPTION_P2P | TERN_OPTION_MPA_REV, .p2p = 1, .mpa_rev = 1),
		W(TERN_OPTION_ENHANCED | TERN_OPTION_MPA_REV, .enhanced = 1,
		  .mpa_rev = 1),
	};
	unsigned int i;

	solo_up(NULL);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		expect_eq(set_options(bad[i]), EINVAL);
	expect_eq(set_options(W(TERN_OPTION_RTR_MS, .rtr_ms = 1)), 0);
	expect_eq(set_options(W(TERN_OPTION_RTR_MS, .rtr_ms = TERN_OPTION_MAX_MS)), 0);
	expect_eq(set_options(W(TERN_OPTION_MAX_FPDU)), 0);
	expect_eq(set_options(W(TERN_OPTION_MAX_FPDU, .max_fpdu = TERN_OPTION_FPDU_MIN)), 0);
	expect_eq(set_options(W(TERN_OPTION_MAX_FPDU, .max_fpdu = TERN_OPTION_FPDU_MAX)), 0);
	pair_down();
}

/* ---- versions, and markers with them ----------------------------------------------------------- */

static void version_not_supported(void)
{
	static const struct tern_qp_options bad[] = {
		W(TERN_OPTION_VERSION, .version = 0),
		W(TERN_OPTION_VERSION, .version = 2),
		W(TERN_OPTION_VERSION, .version = 255),
		W(TERN_OPTION_MPA_REV, .mpa_rev = 0),
		W(TERN_OPTION_MPA_REV, .mpa_rev = 3),
	};
	unsigned int i;

	set_defaults();
	solo_up(NULL);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		expect_eq(set_options(bad[i]), EPFNOSUPPORT);
	expect_eq(set_options(W(TERN_OPTION_VERSION, .version = 1)), 0);
	pair_down();
}

static void permissive(void)
{
	const uint32_t v = TERN_OPTION_VERSION;

	set_device("a", "rnic permissive");
	solo_up(NULL);
	expect_eq(set_options(W(v, .version = 0)), 0);
	expect_eq(set_options(W(v | TERN_OPTION_MARKERS)), ENOPROTOOPT);
	expect_eq(set_options(W(v | TERN_OPTION_MARKERS, .markers = 1)), 0);
	expect_eq(set_options(W(v | TERN_OPTION_MPA_REV, .mpa_rev = 1)), EPFNOSUPPORT);
	expect_eq(set_options(W(v | TERN_OPTION_P2P, .p2p = 1)), EPFNOSUPPORT);
	expect_eq(set_options(W(v | TERN_OPTION_P2P, .p2p = 0)), 0);
	expect_eq(set_options(W(v | TERN_OPTION_ENHANCED, .enhanced = 1)), EPFNOSUPPORT);
	expect_eq(set_options(W(v, .version = 1)), 0);
	expect_eq(set_options(W(TERN_OPTION_MARKERS)), 0);
	set_defaults();
	pair_down();
}

static void rdmac(void)
{
	set_device("a", "rnic rdmac");
	solo_up(NULL);
	expect_eq(set_options(W(TERN_OPTION_VERSION, .version = 0)), 0);
	expect_eq(set_options(W(TERN_OPTION_VERSION, .version = 1)), EPFNOSUPPORT);
	expect_eq(set_options(W(TERN_OPTION_MPA_REV, .mpa_rev = 2)), EPFNOSUPPORT);
	expect_eq(set_options(W(TERN_OPTION_P2P, .p2p = 1)), EPFNOSUPPORT);
	expect_eq(set_options(W(TERN_OPTION_MARKERS)), ENOPROTOOPT);
	expect_eq(set_options(W(TERN_OPTION_MARKERS, .markers = 1)), 0);
	set_defaults();
	pair_down();
}

/* the device's settings change after an option was granted: connecting fails */
static void settings_moved_on(void)
{
	static const struct want want;

	set_device("a", "rnic permissive");
	solo_up(NULL);
	expect_eq(set_options(W(TERN_OPTION_VERSION, .version = 0)), 0);
	set_device("a", "rnic non-permissive");
	expect(end_connect(&a, &want) && errno == EPFNOSUPPORT);
	pair_down();

	set_device("a", "rnic permissive");
	solo_up(NULL);
	expect_eq(set_options(W(TERN_OPTION_MARKERS)), 0);
	set_device("a", "rnic rdmac");
	expect(end_connect(&a, &want) && errno == ENOPROTOOPT);
	set_defaults();
	pair_down();
}

/* ---- handles and states --------------------------------------------------------------------------- */

static void handles(void)
{
	struct tern_qp_options w = {};
	struct tern_qp_report r;
	struct ibv_context *other;
	uint32_t gone;
	unsigned int i;

	solo_up(NULL);
	expect_eq(set_options_at(a.scq->handle, &w, sizeof(w)), EINVAL);
	expect_eq(report_at(a.pd->handle, &r, sizeof(r)), EINVAL);
	for (i = 0; i < 64; i++)
		expect_eq(set_options_at(1000000 + i, &w, sizeof(w)), ENOENT);
	expect(set_options_at(-1, &w, sizeof(w)));
	expect(report_at(1ull << 40, &r, sizeof(r)));
	/* another context of the same device, without a QP */
	other = ibv_open_device(a.id->verbs->device);
	must(other);
	begin(TERN_METHOD_DV_SET_OPTIONS);
	add(TERN_ATTR_DV_OPTIONS_QP, 0, a.qp->handle);
	add(TERN_ATTR_DV_OPTIONS_IN, sizeof(w), (uintptr_t)&w);
	expect_eq(call_fd(other->cmd_fd), ENOENT);
	must(!ibv_close_device(other));
	gone = a.qp->handle;
	rdma_destroy_qp(a.id);
	a.qp = NULL;
	expect_eq(set_options_at(gone, &w, sizeof(w)), ENOENT);
	expect_eq(report_at(gone, &r, sizeof(r)), ENOENT);
	pair_down();
}

static void states(void)
{
	static const struct want want;

	dv_request(NULL, NULL);
	/* the Request is sent, no Reply has arrived */
	expect_eq(set_options(W(0)), EISCONN);
	must(!end_accept(&b, &want));
	dv_established();
	expect_eq(set_options(W(0)), EISCONN);
	expect_eq(dv.modify_qp(b.qp, &(struct terndv_qp_init_attr){}), TERNDV_ERR_STATE);
	must(!rdma_disconnect(a.id));
	expect_error_state(&a);
	expect_eq(set_options(W(0)), EISCONN);
	dv_query();
	pair_down();
}

/* ---- random input ---------------------------------------------------------------------------------- */

static uint32_t noise = 4711;

static uint32_t draw(void)
{
	noise ^= noise << 13;
	noise ^= noise >> 17;
	return noise ^= noise << 5;
}

/* mostly small numbers, so that some are valid */
static struct tern_qp_options any_options(void)
{
	struct tern_qp_options w = W(draw() & (draw() % 8 ? TERN_OPTION_ALL : -1));
	uint8_t *field = &w.markers;
	unsigned int i;

	for (i = 0; i < 10; i++)
		field[i] = draw() % 32 ? draw() % 3 : draw();
	w.features = draw() % 32 ? draw() % 4 : draw();
	w.rtr_ms = draw() >> draw() % 32;
	w.max_fpdu = draw() % 2 ? 0 : draw() >> draw() % 32;
	return w;
}

static bool documented(int err)
{
	return !err || err == EINVAL || err == EOPNOTSUPP ||
	       err == EPFNOSUPPORT || err == ENOPROTOOPT;
}

static void random_options(void)
{
	static const char *const types[] = { "non-permissive", "permissive",
					     "rdmac" };
	unsigned int i, type, granted = 0;
	char line[32];

	for (type = 0; type < ARRAY_LEN(types); type++) {
		snprintf(line, sizeof(line), "rnic %s", types[type]);
		set_device("a", line);
		solo_up(NULL);
		for (i = 0; i < 5000; i++) {
			int err = set_options(any_options());

			must(documented(err));
			granted += !err;
		}
		pair_down();
	}
	expect(granted > 100);
	set_defaults();
}

/* a child changes the options in a loop while we connect */
static void race_with_connect(void)
{
	static const struct want want;
	pid_t child;
	int i;

	for (i = 0; i < 20; i++) {
		dv_request(&(struct terndv_qp_init_attr){ .comp_mask = TERNDV_QP_CRC }, NULL);
		child = fork();
		must(child >= 0);
		if (!child) {
			struct tern_qp_options w = W(TERN_OPTION_MARKERS,
						    .markers = 1);

			for (;;) {
				begin(TERN_METHOD_DV_SET_OPTIONS);
				add(TERN_ATTR_DV_OPTIONS_QP, 0, b.qp->handle);
				add(TERN_ATTR_DV_OPTIONS_IN, sizeof(w),
				    (uintptr_t)&w);
				call_fd(b.id->verbs->cmd_fd);
			}
		}
		usleep(draw() % 2000);
		must(!end_accept(&b, &want));
		dv_established();
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		dv_query();
		expect_eq(qb.rx_markers, qb.asked.markers);
		dv_traffic();
		pair_down();
	}
}

static const struct tap_test tests[] = {
	{ "MPA-152: options of other sizes: EINVAL, EOPNOTSUPP", sizes_in },
	{ "MPA-151: reports of other sizes: EINVAL, zeros", sizes_out },
	{ "MPA-152: options and reports at bad addresses: EFAULT", bad_memory },
	{ "MPA-152: missing, doubled, unknown attributes and methods", bad_attributes },
	{ "MPA-152: unknown bits: EOPNOTSUPP; reserved fields: EINVAL", unknown_bits },
	{ "MPA-152, MPA-190: values out of range, contradictions: EINVAL", values },
	{ "MPA-152: version not supported: EPFNOSUPPORT", version_not_supported },
	{ "MPA-152: disabling markers not supported: ENOPROTOOPT", permissive },
	{ "MPA-152: versions and markers on a device of the RDMAC type", rdmac },
	{ "MPA-152: an option that new device settings rule out fails the connect",
	  settings_moved_on },
	{ "MPA-152: handles of other contexts, other types, no object: ENOENT, EINVAL", handles },
	{ "MPA-152: options after Idle: EISCONN", states },
	{ "MPA-152: random options: only documented errnos", random_options },
	{ "MPA-152: options can change until the connect, and not after it", race_with_connect },
};

const struct tap_theme dv_abi_theme = { tests, ARRAY_LEN(tests) };
