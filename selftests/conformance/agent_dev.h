/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device under test, and what all connections of a controller share: two
 * PDs, one CQ with its completion channel, one rdma_cm event channel. They are
 * made when the first command needs them. reset, which runs behind each of many
 * tests, keeps them if they are as good as new.
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
	struct rdma_event_channel *events;
	bool spoilt;	/* the CQ was armed, or has an error */
};

extern struct dev dev;

/* Use the device that owns @addr until dev_detach(). Return: 0 or an errno. */
int dev_attach(const struct sockaddr_storage *addr);
void dev_detach(void);

/* what the connections share: make it if it is not there; Return: 0 or an errno */
int dev_open(void);
void dev_close(void);
/* the last step of reset: empty the CQ, whose QPs are gone, or have a new one made */
void dev_reset(void);

/* wait until @fd has something or its end, @ms at most or until the controller leaves */
bool wait_readable(int fd, int ms);
/* milliseconds of a clock that only moves forward */
uint64_t clock_ms(void);

/* the controller's connection, or -1: a wait ends when it closes */
extern int controller;

#endif /* AGENT_DEV_H */
