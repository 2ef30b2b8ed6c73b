// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Each option of a QP and its effect at both ends: MPA-149 to 153, 161, 190, 191. */
#include <errno.h>
#include <string.h>

#include "dv.h"

#define W(mask, ...)	(&(struct terndv_qp_init_attr){ .comp_mask = (mask), ##__VA_ARGS__ })
#define ALL_FEATURES								\
	(TERNDV_FEATURE_7306 | TERNDV_FEATURE_V2 | TERNDV_FEATURE_LONG_FPDU)
#define TRIPLE(...)	.rtr = { __VA_ARGS__ }

/* ---- the device -------------------------------------------------------------- */

static struct terndv_device_attr device(void)
{
	struct terndv_device_attr attr;

	set_defaults();
	solo_up(NULL);
	must(!dv.query_device(a.id->verbs, &attr, sizeof(attr)));
	return attr;
}

static void device_reports(void)
{
	const struct terndv_device_attr d = device();
	const struct terndv_qp_init_attr *s = &d.settings;

	expect(dv.is_supported(a.id->verbs->device));
	expect(!s->markers && s->crc && s->enhanced && s->p2p);
	expect_eq(s->version, 1);
	expect_eq(s->mpa_rev, 2);
	expect_eq(s->rtr[0], TERNDV_RTR_WRITE);
	expect_eq(s->rtr[1], TERNDV_RTR_READ);
	expect_eq(s->rtr[2], TERNDV_RTR_SEND);
	expect_eq(s->rtr_timeout_ms, 10000);
	expect_eq(s->extensions, TERNDV_EXTENSIONS_NEGOTIATE);
	expect_eq(s->features, ALL_FEATURES);
	expect_eq(s->max_fpdu, 32 * 1024);
	expect_eq(d.versions, 1 << 1);
	expect_eq(d.mpa_revs, 1 << 1 | 1 << 2);
	expect_eq(d.rtr_types, 1 << 1 | 1 << 2 | 1 << 3);
	expect(d.selectable & TERNDV_QP_MARKERS);
	expect(d.selectable & TERNDV_QP_MAX_FPDU);
	expect(!(d.selectable & TERNDV_QP_VERSION));
	expect_eq(d.max_pd, 512);
	expect_eq(d.max_pd_enhanced, 508);
	expect(d.max_ird && d.max_ord && d.max_rtr_timeout_ms);
	pair_down();
}

static void device_follows_settings(void)
{
	struct terndv_device_attr d = device();

	set_device("a", "markers on crc off rnic permissive mpa-rev 1");
	must(!dv.query_device(a.id->verbs, &d, sizeof(d)));
	expect(d.settings.markers && !d.settings.crc);
	expect(!d.settings.enhanced && !d.settings.p2p);
	expect_eq(d.settings.mpa_rev, 1);
	expect_eq(d.versions, 1 << 0 | 1 << 1);
	expect(d.selectable & TERNDV_QP_VERSION);
	set_device("a", "rnic rdmac markers off");
	must(!dv.query_device(a.id->verbs, &d, sizeof(d)));
	expect(d.settings.markers && d.settings.crc);
	expect_eq(d.settings.version, 0);
	expect_eq(d.versions, 1 << 0);
	expect_eq(d.selectable, 0);
	set_defaults();
	pair_down();
}

static void atomic_cap_is(enum ibv_atomic_cap cap, const char *settings)
{
	struct ibv_device_attr_ex dev = {};

	set_device("a", settings);
	must(!ibv_query_device_ex(a.id->verbs, NULL, &dev));
	expect_eq(dev.orig_attr.atomic_cap, cap);
}

static void atomic_cap_follows_settings(void)
{
	device();
	atomic_cap_is(IBV_ATOMIC_GLOB, "extensions negotiate");
	atomic_cap_is(IBV_ATOMIC_NONE, "features none");
	atomic_cap_is(IBV_ATOMIC_GLOB, "features 7306 extensions assume-7306");
	atomic_cap_is(IBV_ATOMIC_NONE, "extensions off");
	set_defaults();
	pair_down();
}

/* programs that were built with a shorter or longer struct */
static void sizes_of_programs(void)
{
	union {
		struct terndv_device_attr attr;
		uint8_t bytes[sizeof(struct terndv_device_attr) + 64];
	} d;
	const size_t half = offsetof(struct terndv_device_attr, versions);
	unsigned int i;

	solo_up(NULL);
	memset(&d, 0x5a, sizeof(d));
	must(!dv.query_device(a.id->verbs, &d.attr, half));
	expect_eq(d.attr.settings.mpa_rev, 2);
	expect_eq(d.bytes[half], 0x5a);
	must(!dv.query_device(a.id->verbs, &d.attr, sizeof(d)));
	for (i = sizeof(d.attr); i < sizeof(d); i++)
		expect_eq(d.bytes[i], 0);
	pair_down();
}

/* ---- how programs set options --------------------------------------------------- */

static struct ibv_qp *create_on(struct end *e, const struct terndv_qp_init_attr *w)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = e->pd,
	};

	return dv.create_qp(e->id->verbs, &attr, w);
}

/*
 * Replace the QP of rdma_cm's id by one of our own, named in the parameters of
 * rdma_connect() and rdma_accept().
 */
static void replace_qp(struct end *e, const struct terndv_qp_init_attr *w,
		       struct rdma_conn_param *param)
{
	rdma_destroy_qp(e->id);
	e->qp = create_on(e, w);
	must(e->qp);
	param->qp_num = e->qp->qp_num;
}

/* end_free() destroys only QPs that rdma_create_qp() created */
static void free_own_qps(void)
{
	must(!ibv_destroy_qp(a.qp));
	must(!ibv_destroy_qp(b.qp));
	a.qp = NULL;
	b.qp = NULL;
	pair_down();
}

static void created_with_options(void)
{
	struct rdma_conn_param param = { .responder_resources = 1 };
	struct end listener;
	int port = new_port();

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, port));
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, port, IP_A));
	must(!end_build(&a, &(struct want){}));
	replace_qp(&a, W(TERNDV_QP_MARKERS, .markers = true), &param);
	must(!rdma_connect(a.id, &param));
	must(!end_request(&listener, &b));
	must(!end_build(&b, &(struct want){}));
	replace_qp(&b, W(TERNDV_QP_CRC, .crc = false), &param);
	must(!rdma_accept(b.id, &param));
	dv_established();
	end_free(&listener);
	must(!enter_netns(NULL));
	dv_query();
	expect(qa.rx_markers && !qa.tx_markers);
	expect_eq(qa.asked.comp_mask, TERNDV_QP_MARKERS);
	expect_eq(qb.asked.comp_mask, TERNDV_QP_CRC);
	dv_traffic();
	free_own_qps();
}

static void create_refuses(void)
{
	solo_up(NULL);
	errno = 0;
	expect(!create_on(&a, W(TERNDV_QP_VERSION, .version = 0)));
	expect_eq(errno, TERNDV_ERR_VERSION);
	expect(!create_on(&a, W(1ull << 40)));
	expect_eq(errno, EOPNOTSUPP);
	expect(!create_on(&a, W(TERNDV_QP_RTR)));
	expect_eq(errno, EINVAL);
	/* no QP stays that would keep the CQs busy */
	rdma_destroy_qp(a.id);
	a.qp = NULL;
	expect_eq(ibv_destroy_cq(a.scq), 0);
	a.scq = NULL;
	pair_down();
}

/* rdma_create_qp(), terndv_modify_qp(), rdma_connect(): what most programs do */
static void modified_before_connect(void)
{
	dv_pair(W(TERNDV_QP_MARKERS, .markers = true), NULL);
	expect(qa.rx_markers && qa.asked.markers);
	expect_eq(qb.asked.comp_mask, 0);
	dv_traffic();
	pair_down();
}

static void options_are_replaced(void)
{
	struct terndv_qp_attr attr;

	solo_up(NULL);
	must(!dv.modify_qp(a.qp, W(TERNDV_QP_MARKERS | TERNDV_QP_RTR_TIMEOUT,
				   .markers = true, .rtr_timeout_ms = 77)));
	must(!dv.query_qp(a.qp, &attr, sizeof(attr)));
	expect(attr.asked.markers && attr.asked.rtr_timeout_ms == 77);
	/* a refused call changes nothing */
	expect_eq(dv.modify_qp(a.qp, W(TERNDV_QP_VERSION)), TERNDV_ERR_VERSION);
	must(!dv.query_qp(a.qp, &attr, sizeof(attr)));
	expect_eq(attr.asked.rtr_timeout_ms, 77);
	must(!dv.modify_qp(a.qp, W(0)));
	must(!dv.query_qp(a.qp, &attr, sizeof(attr)));
	expect_eq(attr.asked.comp_mask, 0);
	expect(!attr.connected && !attr.own.there && !attr.peer.there);
	pair_down();
}

/* ---- framing ------------------------------------------------------------------------ */

/* RFC 5044 4.5: MULPDU from EMSS, without markers and with them (MPA-051, MPA-052) */
static uint32_t mulpdu(uint32_t emss, bool markers)
{
	return emss - (6 + emss % 4) - (markers ? 4 * ((emss + 511) / 512) : 0);
}

static void markers_each_way(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		bool wants_a = i & 1, wants_b = i & 2;

		dv_pair(W(TERNDV_QP_MARKERS | TERNDV_QP_FEATURES, .markers = wants_a),
			W(TERNDV_QP_MARKERS, .markers = wants_b));
		expect_eq(qa.rx_markers, wants_a);
		expect_eq(qa.tx_markers, wants_b);
		expect_eq(!!(qb.peer.flags & TERNDV_MPA_MARKERS), wants_a);
		expect_eq(!!(qa.peer.flags & TERNDV_MPA_MARKERS), wants_b);
		expect_eq(qa.mulpdu, mulpdu(qa.emss, wants_b));
		expect_eq(qb.mulpdu, mulpdu(qb.emss, wants_a));
		dv_traffic();
		pair_down();
	}
}

static void crc_is_an_or(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		bool wants_a = i & 1, wants_b = i & 2;

		dv_pair(W(TERNDV_QP_CRC, .crc = wants_a),
			W(TERNDV_QP_CRC, .crc = wants_b));
		expect_eq(qa.crc, wants_a || wants_b);
		expect_eq(!!(qb.peer.flags & TERNDV_MPA_CRC), wants_a);
		dv_traffic();
		pair_down();
	}
}

/* ---- revision and setup --------------------------------------------------------------- */

static void revision_1(void)
{
	dv_pair(W(TERNDV_QP_MPA_REV, .mpa_rev = 1), NULL);
	expect_eq(qb.peer.rev, 1);
	expect_eq(qa.mpa_rev, 1);
	expect(!qb.peer.enhanced && !qa.p2p && !qa.retried);
	expect_eq(qa.rtr, TERNDV_RTR_NONE);
	dv_traffic();
	pair_down();
}

static void not_enhanced(void)
{
	dv_pair(W(TERNDV_QP_ENHANCED, .enhanced = false), NULL);
	expect(!qb.peer.enhanced && !(qb.peer.flags & TERNDV_MPA_ENHANCED));
	expect(!qa.p2p && !qa.retried);
	dv_traffic();
	pair_down();
}

/* RFC 6581 9.2: A=0, and then B = C.rtr = D = 0 */
static void client_server(void)
{
	dv_pair(W(TERNDV_QP_P2P, .p2p = false), NULL);
	expect(qb.peer.enhanced && !qa.p2p);
	expect_eq(qb.peer.ird & ~TERNDV_MPA_DEPTH, 0);
	expect_eq(qb.peer.ord & ~TERNDV_MPA_DEPTH, 0);
	expect_eq(qb.peer.ird, 5);
	expect_eq(qb.peer.ord, 6);
	expect_eq(qa.rtr, TERNDV_RTR_NONE);
	dv_traffic();
	pair_down();
}

/* options of the program override settings of the device */
static void over_the_settings(void)
{
	set_defaults();
	set_device("a", "mpa-rev 1 p2p off enhanced off markers on");
	dv_pair(NULL, NULL);
	expect(qb.peer.rev == 1 && qa.rx_markers && !qa.p2p);
	pair_down();
	dv_pair(W(TERNDV_QP_P2P | TERNDV_QP_MARKERS, .p2p = true), NULL);
	expect_eq(qb.peer.rev, 2);
	expect(qa.p2p && !qa.rx_markers);
	dv_traffic();
	pair_down();
	dv_pair(W(TERNDV_QP_ENHANCED, .enhanced = true), NULL);
	expect(qb.peer.rev == 2 && qb.peer.enhanced && !qa.p2p);
	pair_down();
	set_defaults();
}

/* ---- RTR -------------------------------------------------------------------------------- */

static uint32_t listed(const struct terndv_mpa_frame *f)
{
	return (f->ord & TERNDV_MPA_ORD_WRITE ? 1 << TERNDV_RTR_WRITE : 0) |
	       (f->ord & TERNDV_MPA_ORD_READ ? 1 << TERNDV_RTR_READ : 0) |
	       (f->ird & TERNDV_MPA_IRD_SEND ? 1 << TERNDV_RTR_SEND : 0);
}

/* the initiator offers RTR types @x, the responder takes @y: they agree on @want */
static void rtr_case(const struct terndv_qp_init_attr *x,
		     const struct terndv_qp_init_attr *y, uint8_t want)
{
	uint32_t all = 0;
	int i;

	for (i = 0; i < TERNDV_RTR_TYPES && x->rtr[i]; i++)
		all |= 1 << x->rtr[i];
	dv_pair(x, y);
	expect(qa.p2p && qb.peer.ird & TERNDV_MPA_IRD_P2P);
	expect_eq(listed(&qb.peer), all);
	expect_eq(qa.rtr, want);
	dv_traffic();
	pair_down();
}

static void rtr_each_type(void)
{
	uint8_t t;

	for (t = TERNDV_RTR_WRITE; t <= TERNDV_RTR_SEND; t++)
		rtr_case(W(TERNDV_QP_RTR, TRIPLE(t)), NULL, t);
}

static void rtr_order(void)
{
	rtr_case(W(TERNDV_QP_RTR, TRIPLE(2, 1, 3)), NULL, TERNDV_RTR_READ);
	rtr_case(W(TERNDV_QP_RTR, TRIPLE(3, 2)), NULL, TERNDV_RTR_SEND);
	rtr_case(W(TERNDV_QP_RTR, TRIPLE(3, 2, 1)),
		 W(TERNDV_QP_RTR, TRIPLE(1, 2)), TERNDV_RTR_READ);
}

/* no common RTR type: the initiator sends Terminate 2/0/07, and both ends report it */
static void rtr_none_shared(void)
{
	static const struct want want;
	struct rdma_cm_event *event;

	dv_request(W(TERNDV_QP_RTR, TRIPLE(1)), W(TERNDV_QP_RTR, TRIPLE(3)));
	must(!end_accept(&b, &want));
	event = end_wait(&a, RDMA_CM_EVENT_CONNECT_ERROR);
	must(event);
	rdma_ack_cm_event(event);
	must(!dv.query_qp(a.qp, &qa, sizeof(qa)));
	expect(!qa.connected && qa.term_sent);
	expect_eq(qa.term_tx, 0x2007);
	expect_eq(listed(&qa.peer), 1 << TERNDV_RTR_SEND);
	expect_error_state(&b);
	must(!dv.query_qp(b.qp, &qb, sizeof(qb)));
	expect(qb.term_received);
	expect_eq(qb.term_rx, 0x2007);
	pair_down();
}

/* ---- extensions ----------------------------------------------------------------------------- */

/* a and b with these options agree on @want; traffic decides it at both ends */
static void agree_on(const struct terndv_qp_init_attr *wa,
		     const struct terndv_qp_init_attr *wb, uint32_t want)
{
	dv_pair(wa, wb);
	dv_traffic();
	dv_query();
	expect(qa.decided && qb.decided);
	expect_eq(qa.features, want);
	expect_eq(qb.features, want);
	pair_down();
}

static void extensions_agreed_on(void)
{
	const struct terndv_qp_init_attr *off = W(TERNDV_QP_EXTENSIONS),
		*only_7306 = W(TERNDV_QP_FEATURES, .features = TERNDV_FEATURE_7306);

	agree_on(NULL, NULL, ALL_FEATURES);
	agree_on(only_7306, NULL, TERNDV_FEATURE_7306);
	agree_on(NULL, only_7306, TERNDV_FEATURE_7306);
	agree_on(off, NULL, 0);
	agree_on(NULL, off, 0);
}

/* the length of FPDUs follows what both ends have; of payload, 32 KiB fit into one */
static void long_fpdus_agreed_on(void)
{
	const struct terndv_qp_init_attr *without = W(TERNDV_QP_FEATURES,
						      .features = TERNDV_FEATURE_7306),
		*alone = W(TERNDV_QP_FEATURES, .features = TERNDV_FEATURE_LONG_FPDU);

	agree_on(alone, NULL, TERNDV_FEATURE_LONG_FPDU);
	expect_eq(qa.mulpdu, 32 * 1024 + 18);
	expect_eq(qb.mulpdu, 32 * 1024 + 18);
	agree_on(NULL, without, TERNDV_FEATURE_7306);
	expect_eq(qa.mulpdu, mulpdu(qa.emss, false));
	expect_eq(qb.mulpdu, mulpdu(qb.emss, false));
}

/* each end has its own: of the QP, or else of the device */
static void fpdus_of_the_length_set(void)
{
	const struct terndv_qp_init_attr *of_8192 = W(TERNDV_QP_MAX_FPDU, .max_fpdu = 8192),
		*of_a_segment = W(TERNDV_QP_MAX_FPDU, .max_fpdu = 0);

	agree_on(of_8192, of_a_segment, ALL_FEATURES);
	expect_eq(qa.mulpdu, 8192 + 18);
	expect_eq(qa.asked.max_fpdu, 8192);
	expect_eq(qb.mulpdu, mulpdu(qb.emss, false));
	set_device("b", "max-fpdu 4096");
	agree_on(of_a_segment, NULL, ALL_FEATURES);
	expect_eq(qa.mulpdu, mulpdu(qa.emss, false));
	expect_eq(qb.mulpdu, 4096 + 18);
	agree_on(NULL, of_8192, ALL_FEATURES);
	expect_eq(qa.mulpdu, 32 * 1024 + 18);
	expect_eq(qb.mulpdu, 8192 + 18);
	set_defaults();
}

/* ---- version ------------------------------------------------------------------------------ */

static void version_0(void)
{
	set_defaults();
	set_device("a", "rnic permissive");
	set_device("b", "rnic permissive");
	dv_pair(W(TERNDV_QP_VERSION, .version = 0), NULL);
	expect_eq(qb.peer.rev, 0);
	expect_eq(qa.version, 0);
	expect_eq(qa.mpa_rev, 0);
	expect(qa.tx_markers && qa.rx_markers && qa.crc);
	dv_traffic();
	pair_down();
	/* the responder asks for version 0: it may answer a revision 1 Request so */
	dv_pair(W(TERNDV_QP_MPA_REV, .mpa_rev = 1),
		W(TERNDV_QP_VERSION, .version = 0));
	expect_eq(qa.own.rev, 1);
	expect_eq(qa.peer.rev, 0);
	expect_eq(qa.version, 0);
	dv_traffic();
	pair_down();
	/* a QP that asks for version 1 on the same device gets it */
	dv_pair(W(TERNDV_QP_VERSION, .version = 1), NULL);
	expect_eq(qa.version, 1);
	pair_down();
	set_defaults();
}

static void accept_contradicts(void)
{
	static const struct want want;

	dv_request(NULL, W(TERNDV_QP_MPA_REV, .mpa_rev = 1));
	expect(end_accept(&b, &want) && errno == TERNDV_ERR_VERSION);
	must(!end_expect(&a, RDMA_CM_EVENT_REJECTED));
	pair_down();
}

/*
 * MPA-180: query_qp reports a Reply with R=1, whose depths the event cannot carry: the
 * IRD that b's device supports, and an ORD that a's IRD allows.
 */
static void reports_rejected(void)
{
	struct terndv_device_attr d;

	dv_request(W(TERNDV_QP_RTR, TRIPLE(2)), NULL);
	must(!dv.query_device(a.id->verbs, &d, sizeof(d)));
	must(!rdma_reject(b.id, NULL, 0));
	must(!end_expect(&a, RDMA_CM_EVENT_REJECTED));
	must(!dv.query_qp(a.qp, &qa, sizeof(qa)));
	expect(!qa.connected && qa.initiator && !qa.retried);
	expect_eq(qa.own.rev, 2);
	expect_eq(qa.own.ird & TERNDV_MPA_DEPTH, 5);
	expect_eq(qa.own.ord & TERNDV_MPA_DEPTH, 6);
	expect(qa.peer.flags & TERNDV_MPA_REJECT && qa.peer.enhanced);
	expect_eq(listed(&qa.peer), 1 << TERNDV_RTR_READ);
	expect_eq(qa.peer.ird & TERNDV_MPA_DEPTH, d.max_ird);
	expect_eq(qa.peer.ord & TERNDV_MPA_DEPTH, 5);
	pair_down();
}

static void reports_depths(void)
{
	dv_pair(NULL, NULL);
	expect_eq(qa.own.ird & TERNDV_MPA_DEPTH, 5);
	expect_eq(qa.own.ord & TERNDV_MPA_DEPTH, 6);
	/* b raised its IRD to a's ORD of 6; its ORD stays at the 4 that it asked for */
	expect_eq(qa.peer.ird & TERNDV_MPA_DEPTH, 6);
	expect_eq(qa.peer.ord & TERNDV_MPA_DEPTH, 4);
	expect_eq(qa.ord, 6);
	expect_eq(qb.ird, 6);
	expect_eq(qb.ord, 4);
	pair_down();
}

static const struct tap_test tests[] = {
	{ "MPA-149: query_device: markers, versions, choices, limits", device_reports },
	{ "MPA-149: query_device follows the device's settings", device_follows_settings },
	{ "query_device: atomic_cap follows the device's settings",
	  atomic_cap_follows_settings },
	{ "MPA-149: structs may be shorter or longer than the library's", sizes_of_programs },
	{ "MPA-150: a QP created with options, named in rdma_connect and rdma_accept",
	  created_with_options },
	{ "MPA-150: creation refuses what it cannot grant, and leaves nothing", create_refuses },
	{ "MPA-152: rdma_create_qp, terndv_modify_qp, rdma_connect", modified_before_connect },
	{ "MPA-152: options are replaced as a whole, or not at all", options_are_replaced },
	{ "MPA-151: markers in either direction, and MULPDU", markers_each_way },
	{ "MPA-150: CRC is on when either end asks", crc_is_an_or },
	{ "MPA-161: option mpa_rev 1: a Request of revision 1", revision_1 },
	{ "MPA-210: option enhanced off: S=0", not_enhanced },
	{ "MPA-191, MPA-192: client-server: A=0, no RTR type", client_server },
	{ "MPA-153: a program's option overrides the device's setting", over_the_settings },
	{ "MPA-190: each RTR type alone: listed, sent, received", rtr_each_type },
	{ "MPA-153, MPA-190: RTR types in order of preference", rtr_order },
	{ "MPA-153: no RTR type in common: Terminate 2/0/07, reported at both ends",
	  rtr_none_shared },
	{ "extensions are those of both ends, by default all; options of either end change that",
	  extensions_agreed_on },
	{ "long FPDUs that both ends agree on", long_fpdus_agreed_on },
	{ "max_fpdu: each end sends FPDUs of the length that it has set", fpdus_of_the_length_set },
	{ "MPA-151, MPA-138: option version 0, at either end", version_0 },
	{ "MPA-152: rdma_accept refuses a QP whose options contradict the Request",
	  accept_contradicts },
	{ "MPA-180: query_qp reports the frames of a rejected connect", reports_rejected },
	{ "MPA-179: query_qp reports IRD and ORD of both ends", reports_depths },
};

const struct tap_theme dv_options_theme = { tests, ARRAY_LEN(tests) };
