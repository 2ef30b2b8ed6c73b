// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Async events of QPs and CQs reach only the object that they are about; events of the
 * port and the device. The last test deletes the device and adds it again, so it runs
 * after all others.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "queue_verbs.h"

/* a second QP of each device, which must get no event */
static struct end c, d;

static void up(void)
{
	static const struct want same = { .share = &a }, peer = { .share = &b };

	pair_up(NULL, NULL);
	connect_ends(&c, &d, IP_A, IP_B, &same, &peer);
	/* drop the events of both connections' start */
	drop_async(&a);
	drop_async(&b);
}

static void down(void)
{
	post_rdma(&c, &d, IBV_WR_RDMA_READ, 1, 0, 8, 0, IBV_SEND_SIGNALED);
	expect_wc(c.scq, 1, IBV_WC_SUCCESS);
	end_free(&c);
	end_free(&d);
	pair_down();
}

static bool only_of(struct end *e, enum ibv_event_type type)
{
	struct ibv_async_event event = next_async(e, type);

	return event.element.qp == e->qp && no_async(e);
}

/* the peer reads beyond the buffer */
static void access_error(void)
{
	up();
	post_rdma(&a, &b, IBV_WR_RDMA_READ, 1, 0, 8, 1 << 20, IBV_SEND_SIGNALED);
	expect_wc(a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	expect(only_of(&b, IBV_EVENT_QP_ACCESS_ERR));
	down();
}

/* the peer sends, and no receive is posted */
static void request_error(void)
{
	up();
	post_send(&a, 1, 0, 8, 0);
	expect(only_of(&b, IBV_EVENT_QP_REQ_ERR));
	expect_error_state(&b);
	down();
}

static void cq_error(void)
{
	static const struct want small = { .cqe = 4, .sig_all = true };
	struct ibv_async_event event;
	int i;

	pair_up(&small, NULL);
	for (i = 0; i < 5; i++)
		post_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 8, 0, 0);
	event = next_async(&a, IBV_EVENT_CQ_ERR);
	expect(event.element.cq == a.scq);
	event = next_async(&a, IBV_EVENT_QP_FATAL);
	expect(event.element.qp == a.qp);
	/* completions lost after that raise no further event */
	post_rdma(&a, &b, IBV_WR_RDMA_WRITE, 9, 0, 8, 0, 0);
	expect(no_async(&a));
	pair_down();
}

static enum ibv_port_state port_state(struct end *e)
{
	struct ibv_port_attr port;

	must(!ibv_query_port(e->id->verbs, 1, &port));
	return port.state;
}

static void expect_port(struct end *e, enum ibv_event_type type,
			enum ibv_port_state state)
{
	struct ibv_async_event event = next_async(e, type);

	expect_eq(event.element.port_num, 1);
	expect_eq(port_state(e), state);
}

/* a netdev that goes down takes both ports down, and ibv_devinfo shows it */
static void port_down_and_up(void)
{
	static const char *const is_down[] = { "state:", "PORT_DOWN", NULL };
	static const char *const is_up[] = { "state:", "PORT_ACTIVE", NULL };
	char devinfo[64];

	snprintf(devinfo, sizeof(devinfo), "ibv_devinfo -d %s", getenv("DEV_A"));
	pair_up(NULL, NULL);
	expect(says(devinfo, is_up));
	must(!shell("ip -n a link set v0a down"));
	expect_port(&a, IBV_EVENT_PORT_ERR, IBV_PORT_DOWN);
	expect_port(&b, IBV_EVENT_PORT_ERR, IBV_PORT_DOWN);
	expect(says(devinfo, is_down));
	must(!shell("ip -n a link set v0a up"));
	expect_port(&a, IBV_EVENT_PORT_ACTIVE, IBV_PORT_ACTIVE);
	expect_port(&b, IBV_EVENT_PORT_ACTIVE, IBV_PORT_ACTIVE);
	expect(says(devinfo, is_up));
	expect(no_async(&a));
	pair_down();
	/* going down removed the IPv6 addresses */
	must(!shell("ip -n a addr add %s/64 dev v0a nodad", IP6_A));
}

static int gid_byte(struct end *e)
{
	union ibv_gid gid;

	must(!ibv_query_gid(e->id->verbs, 1, 0, &gid));
	return gid.raw[5];
}

static void expect_gid(struct end *e, int last)
{
	long long end = now_ns(CLOCK_MONOTONIC) + patience_ms() * 1000000LL;

	while (gid_byte(e) != last && now_ns(CLOCK_MONOTONIC) < end)
		usleep(1000);
	expect_eq(gid_byte(e), last);
}

/*
 * A GID is made of the netdev's address. The GID event updates the core's cache of
 * them; the core reports it to programs for RoCE only.
 */
static void address_changed(void)
{
	union ibv_gid gid;
	char mac[24];

	pair_up(NULL, NULL);
	must(!ibv_query_gid(a.id->verbs, 1, 0, &gid));
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x", gid.raw[0],
		 gid.raw[1], gid.raw[2], gid.raw[3], gid.raw[4]);
	must(!shell("ip -n a link set v0a address %s:%02x", mac,
		    gid.raw[5] ^ 1));
	expect_gid(&a, gid.raw[5] ^ 1);
	must(!shell("ip -n a link set v0a address %s:%02x", mac, gid.raw[5]));
	expect_gid(&a, gid.raw[5]);
	expect(no_async(&a) && no_async(&b));
	pair_down();
}

/* after the device is deleted, calls fail, and nothing hangs or crashes */
static void device_gone(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE };

	pair_up(NULL, NULL);
	must(!shell("rdma link del %s", getenv("DEV_A")));
	next_async(&a, IBV_EVENT_DEVICE_FATAL);
	expect_eq(ibv_post_send(a.qp, &wr, &bad), EIO);
	expect_eq(ibv_resize_cq(a.scq, 200), EIO);
	expect_eq(ibv_modify_cq(a.scq, &attr), EIO);
	expect(!ibv_create_cq(a.id->verbs, 4, NULL, NULL, 0));
	expect_error_state(&b);
	end_free(&a);
	end_free(&b);
	must(!shell("ip netns exec a rdma link add %s type tern netdev v0a",
		    getenv("DEV_A")));
}

static const struct tap_test tests[] = {
	{ "async__access_error_to_the_qp_that_refused", access_error },
	{ "async__request_error_to_the_qp_that_had_no_receive", request_error },
	{ "async__cq_error_once_and_fatal_to_its_qp", cq_error },
	{ "async__port_error_and_active_at_both_ends", port_down_and_up },
	{ "async__gid_follows_the_address_of_the_netdev", address_changed },
	{ "async__device_fatal_when_the_link_is_deleted", device_gone },
};

const struct tap_theme event_theme = { tests, ARRAY_LEN(tests) };
