/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The device under test, and what all connections of a controller share: two PDs, one
 * CQ with its completion channel, one rdma_cm event channel. The first command that
 * needs them creates them. reset, which runs after each test, keeps them unless the CQ
 * is spoilt: tests are many.
 */
#ifndef AGENT_DEV_H
#define AGENT_DEV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define DEV_PDS		2

struct dev {
	struct sockaddr_storage addr;
	struct ibv_context *verbs;
	struct ibv_pd *pd[DEV_PDS];
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;	/* the same, or NULL: see agent_ext.h */
	struct rdma_event_channel *events;
	bool spoilt;	/* the CQ was armed or has an error: do not reuse it */
};

extern struct dev dev;

/* Use the device that owns @addr until dev_detach(). Return: 0 or an errno. */
int dev_attach(const struct sockaddr_storage *addr);
void dev_detach(void);

/* create what the connections share, if it is not there; Return: 0 or an errno */
int dev_open(void);
void dev_close(void);
/* the last step of reset: empty the CQ, whose QPs are gone, or destroy it if spoilt */
void dev_reset(void);

/* wait until @fd is readable or closed, at most @ms; ends early when the controller
 * leaves */
bool wait_readable(int fd, int ms);
/* milliseconds of CLOCK_MONOTONIC */
uint64_t clock_ms(void);

/* the controller's connection, or -1; closing it ends a wait */
extern int controller;

#endif /* AGENT_DEV_H */
