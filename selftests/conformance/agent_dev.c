// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Open the device under test and what its connections share. */
#define _GNU_SOURCE
#include "agent_dev.h"
#include "agent_ext.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define CQ_DEPTH	4096

struct dev dev;
int controller = -1;

/*
 * librdmacm opens a device when the first id is bound to it and closes it with the
 * last one. This id keeps it open so that a reset is quick.
 */
static struct rdma_cm_id *anchor;

int dev_attach(const struct sockaddr_storage *addr)
{
	int error;

	if (rdma_create_id(NULL, &anchor, NULL, RDMA_PS_TCP))
		return errno;
	dev.addr = *addr;
	if (rdma_bind_addr(anchor, (struct sockaddr *)&dev.addr)) {
		error = errno;
		dev_detach();
		return error;
	}
	if (!anchor->verbs) {
		dev_detach();
		return ENODEV;
	}
	dev.verbs = anchor->verbs;
	return 0;
}

void dev_detach(void)
{
	if (anchor)
		rdma_destroy_id(anchor);
	anchor = NULL;
	dev.verbs = NULL;
}

static int make_queue(void)
{
	struct ibv_device_attr attr;
	int depth = CQ_DEPTH;

	if (!ibv_query_device(dev.verbs, &attr) && attr.max_cqe < depth)
		depth = attr.max_cqe;
	dev.comp = ibv_create_comp_channel(dev.verbs);
	if (!dev.comp)
		return errno;
	dev.cq_ex = ext_create_cq(depth);
	if (dev.cq_ex)
		dev.cq = ibv_cq_ex_to_cq(dev.cq_ex);
	else
		dev.cq = ibv_create_cq(dev.verbs, depth, NULL, dev.comp, 0);
	return dev.cq ? 0 : errno;
}

static int make_shared(void)
{
	int i;

	dev.events = rdma_create_event_channel();
	if (!dev.events)
		return errno;
	for (i = 0; i < DEV_PDS; i++) {
		dev.pd[i] = ibv_alloc_pd(dev.verbs);
		if (!dev.pd[i])
			return errno;
	}
	return make_queue();
}

int dev_open(void)
{
	int error;

	if (!dev.verbs)
		return ENODEV;
	if (dev.cq)
		return 0;
	error = make_shared();
	if (error)
		dev_close();
	return error;
}

void dev_close(void)
{
	int i;

	if (dev.cq)
		ibv_destroy_cq(dev.cq);
	if (dev.comp)
		ibv_destroy_comp_channel(dev.comp);
	for (i = 0; i < DEV_PDS; i++) {
		if (dev.pd[i])
			ibv_dealloc_pd(dev.pd[i]);
		dev.pd[i] = NULL;
	}
	if (dev.events)
		rdma_destroy_event_channel(dev.events);
	dev.cq = NULL;
	dev.cq_ex = NULL;
	dev.comp = NULL;
	dev.events = NULL;
	dev.spoilt = false;
}

void dev_reset(void)
{
	struct ibv_wc wc[16];
	int n;

	if (!dev.cq)
		return;
	do
		n = ibv_poll_cq(dev.cq, 16, wc);
	while (n > 0);
	if (n < 0 || dev.spoilt)
		dev_close();
}

bool wait_readable(int fd, int ms)
{
	struct pollfd pfd[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = controller, .events = POLLRDHUP },
	};

	return poll(pfd, 2, ms) > 0 && pfd[0].revents;
}

uint64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}
