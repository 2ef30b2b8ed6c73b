/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Limits for the endpoints of a device that have no QP, which a stranger can
 * make this host keep. They are counted by source and kind. Quiet ones wait for
 * their Request or for FINs: a new one is always let in, and evicts one of the
 * source that has most. Those that asked wait for the program's answer: when
 * there are too many, a Request is rejected. Tails of ended streams evict only
 * each other, because they hold data that has completed with success.
 */
#ifndef TERN_CROWD_H
#define TERN_CROWD_H

#include <linux/list.h>
#include <linux/types.h>

struct tern_cep;
struct tern_device;

enum tern_crowd_kind {
	TERN_CROWD_QUIET,
	TERN_CROWD_ASKED,
	TERN_CROWD_TAIL,
	TERN_CROWD_NONE,	/* has a QP, or is over */
};

/**
 * struct tern_crowd_place - an endpoint's place among those without a QP; guarded by the
 * lock of the crowd
 * @node: in the list of its slot
 * @slot: that of its source
 * @kind: what it counts as
 */
struct tern_crowd_place {
	struct list_head node;
	u32 slot;
	enum tern_crowd_kind kind;
};

/* Return: 0 or -ENOMEM; Context: process */
int tern_crowd_init(struct tern_device *dev);
void tern_crowd_exit(struct tern_device *dev);

/* initialize an endpoint: it is not counted */
void tern_crowd_join(struct tern_cep *cep);

/*
 * The state of @cep changed to one of @kind. If there are too many tails, the
 * oldest of the source that has most of them is evicted. Context: @cep->lock is
 * held.
 */
void tern_crowd_move(struct tern_cep *cep, enum tern_crowd_kind kind);

/**
 * tern_crowd_let_in() - a connection was accepted
 * @cep: its endpoint in CM_IDLE; counts as quiet from now on
 *
 * If settings.half_open endpoints or more were quiet before, @cep evicts the
 * oldest of the source that has most of them. The caller ends that one by
 * tern_cep_crowd_out(), with a Reply with R=1: an initiator would take a bare
 * FIN for a peer of revision 1.
 *
 * Return: the evicted one, with a reference, or NULL. Context: @cep->lock is
 * held.
 */
struct tern_cep *tern_crowd_let_in(struct tern_cep *cep);

/**
 * tern_crowd_ask() - may a good Request be reported to the program?
 * @cep: in CM_REQUEST_WAIT; counts as one that asked from now on
 *
 * If settings.half_open endpoints or more already wait for an answer, the
 * newest of the source that has most of them is evicted, unless that is the
 * source of @cep.
 *
 * Return: false when the Request is to be rejected. Context: @cep->lock is held.
 */
bool tern_crowd_ask(struct tern_cep *cep);

#endif /* TERN_CROWD_H */
