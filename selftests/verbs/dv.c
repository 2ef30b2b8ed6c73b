// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * terndv.h on the devices of a and b, both driven by this one process: the options of a
 * QP, their effect, and what terndv_query_qp() reports. Run by dv.sh.
 *
 *	dv [WORD...]	only the tests whose name holds one of them
 */
#define _GNU_SOURCE
#include "dv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dv_library dv;
struct terndv_qp_attr qa, qb;

static void *name(void *library, const char *function)
{
	return dlvsym(library, function, "TERN_1.0");
}

bool dv_load(void)
{
	void *lib = dlopen("libtern.so.1", RTLD_NOW);

	if (!lib) {
		printf("#   %s\n", dlerror());
		return false;
	}
	dv.is_supported = name(lib, "terndv_is_supported");
	dv.query_device = name(lib, "terndv_query_device");
	dv.create_qp = name(lib, "terndv_create_qp");
	dv.modify_qp = name(lib, "terndv_modify_qp");
	dv.query_qp = name(lib, "terndv_query_qp");
	return dv.is_supported && dv.query_device && dv.create_qp &&
	       dv.modify_qp && dv.query_qp;
}

/* ---- the devices' settings ---------------------------------------------------- */

void set_defaults(void)
{
	static const char all[] =
		"rnic non-permissive mpa-rev 2 enhanced on crc on markers off "
		"p2p on rtr write,read,send rtr-ms 10000 extensions negotiate "
		"features 7306,v2,long-fpdu max-fpdu 32768";

	set_device("a", all);
	set_device("b", all);
}

/* ---- a pair with options -------------------------------------------------------- */

static struct end listener;

void dv_request(const struct terndv_qp_init_attr *wa, const struct terndv_qp_init_attr *wb)
{
	static const struct want want = { .ird = 5, .ord = 6 };
	int port = new_port();

	must(!enter_netns("b"));
	must(!end_listen(&listener, IP_B, port));
	must(!enter_netns("a"));
	must(!end_resolve(&a, IP_B, port, IP_A));
	must(!end_build(&a, &want));
	must(!wa || !dv.modify_qp(a.qp, wa));
	must(!end_connect(&a, &want));
	must(!end_request(&listener, &b));
	must(!end_build(&b, &want));
	must(!wb || !dv.modify_qp(b.qp, wb));
	must(!enter_netns(NULL));
	end_free(&listener);
}

void dv_established(void)
{
	must(!end_expect(&a, RDMA_CM_EVENT_ESTABLISHED));
	must(!end_expect(&b, RDMA_CM_EVENT_ESTABLISHED));
}

void dv_pair(const struct terndv_qp_init_attr *wa, const struct terndv_qp_init_attr *wb)
{
	static const struct want want = { .ird = 3, .ord = 4 };

	dv_request(wa, wb);
	must(!end_accept(&b, &want));
	dv_established();
	dv_query();
}

/* one end received the frame that the other sent */
static void same_frame(const struct terndv_mpa_frame *sent,
		       const struct terndv_mpa_frame *came)
{
	expect(sent->there && came->there);
	expect_eq(sent->rev, came->rev);
	expect_eq(sent->flags, came->flags);
	expect_eq(sent->enhanced, came->enhanced);
	expect_eq(sent->ird, came->ird);
	expect_eq(sent->ord, came->ord);
	expect_eq(sent->pd_len, came->pd_len);
}

void dv_query(void)
{
	must(!dv.query_qp(a.qp, &qa, sizeof(qa)));
	must(!dv.query_qp(b.qp, &qb, sizeof(qb)));
	same_frame(&qa.own, &qb.peer);
	same_frame(&qb.own, &qa.peer);
	expect(qa.connected && qb.connected);
	expect(qa.initiator && !qb.initiator);
	expect_eq(qa.version, qb.version);
	expect_eq(qa.mpa_rev, qb.mpa_rev);
	expect_eq(qa.crc, qb.crc);
	expect_eq(qa.p2p, qb.p2p);
	expect_eq(qa.rtr, qb.rtr);
	expect_eq(qa.tx_markers, qb.rx_markers);
	expect_eq(qa.rx_markers, qb.tx_markers);
}

void dv_traffic(void)
{
	fill(a.buf, 5000, 1);
	post_recv(&b, 1, 0, 5000);
	post_send(&a, 2, 0, 5000, IBV_SEND_SIGNALED);
	expect_wc(a.scq, 2, IBV_WC_SUCCESS);
	expect_recv(&b, 1, 5000);
	expect(filled(b.buf, 5000, 1));
	post_recv(&a, 3, 8192, 5000);
	post_send(&b, 4, 0, 5000, IBV_SEND_SIGNALED);
	expect_wc(b.scq, 4, IBV_WC_SUCCESS);
	expect_recv(&a, 3, 5000);
	expect(filled(a.buf + 8192, 5000, 1));
}

int main(int argc, char **argv)
{
	static const struct tap_theme *const themes[] = {
		&dv_options_theme, &dv_wire_theme, &dv_abi_theme, NULL,
	};

	enter_netns(NULL);
	if (!dv_load()) {
		printf("Bail out! libtern.so.1 does not load\n");
		return 1;
	}
	return tap_run(themes, argc - 1, argv + 1);
}
