/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* All connection endpoints: their numbers, and the end of those of a device or netns. */
#ifndef TERN_CEPS_H
#define TERN_CEPS_H

#include <linux/list.h>
#include <linux/types.h>

struct net;
struct tern_cep;
struct tern_device;

/**
 * struct tern_ceps_net - the endpoints of a netns
 * @ceps: all of them; those that the end of the netns has taken are the last ones
 */
struct tern_ceps_net {
	struct list_head ceps;
};

/**
 * struct tern_ceps_node - an endpoint's place among others
 * @of_net: in its netns' list; guarded by the lock of these lists
 * @dev_aborted: an abort of its device has taken it; guarded by the lock of the
 *	device's endpoints
 * @net_aborted: an abort of its netns has; guarded by the lock of the lists
 */
struct tern_ceps_node {
	struct list_head of_net;
	bool dev_aborted;
	bool net_aborted;
};

/* where a netns keeps its struct tern_ceps_net */
extern unsigned int tern_ceps_net_id;

/* a netns begins */
int tern_ceps_net_init(struct net *net);

/* a device is registered: endpoints may be added; Context: process */
void tern_ceps_let_in(struct tern_device *dev);

/*
 * number an endpoint and list it; Context: process. Return: 0, -ENOMEM, or -ENODEV: its device
 * is removed
 */
int tern_ceps_add(struct tern_cep *cep);

/* Return: it is listed; Context: its lock is held, so it stays so */
bool tern_ceps_has(const struct tern_cep *cep);

/* unlist it: its device and its netns may go; Context: process */
void tern_ceps_remove(struct tern_cep *cep);

/**
 * tern_cep_abort_device() - abort all endpoints of a device (link deleted,
 * netdev or netns gone) and wait until none is left
 * @dev: device, which gets no new ones until tern_ceps_let_in()
 *
 * Context: process.
 */
void tern_cep_abort_device(struct tern_device *dev);

/* the same for those of a netns; Context: process */
void tern_cep_abort_net(struct net *net);

#endif /* TERN_CEPS_H */
