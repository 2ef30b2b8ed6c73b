/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The endpoints of a device that have no QP: what a stranger can make this host
 * keep. They are counted by the source they come from, and there are three kinds.
 * The quiet ones wait for their Request or for FINs: a newcomer is always let in,
 * and takes the place of one of the source that has most. Those that asked wait
 * for the program's answer: when there are too many, a Request is rejected. The
 * tails of streams that ended compete with each other only, for they hold what had
 * completed with success.
 */
#ifndef TERN_CROWD_H
#define TERN_CROWD_H

#include <linux/types.h>

struct tern_cep;
struct tern_device;

enum tern_crowd_kind {
	TERN_CROWD_QUIET,
	TERN_CROWD_ASKED,
	TERN_CROWD_TAIL,
	TERN_CROWD_NONE,	/* has a QP, or is over */
};

/* Return: 0 or -ENOMEM; Context: process */
int tern_crowd_init(struct tern_device *dev);
void tern_crowd_exit(struct tern_device *dev);

/* an endpoint as it is made: counted nowhere */
void tern_crowd_join(struct tern_cep *cep);

/*
 * The state of @cep changed to one of this kind. One more tail than there may be ends
 * the oldest one of the source that has most of them. Context: @cep->lock is held.
 */
void tern_crowd_move(struct tern_cep *cep, enum tern_crowd_kind kind);

/**
 * tern_crowd_let_in() - a connection was accepted
 * @cep: its endpoint in CM_IDLE; counts as a quiet one from now on
 *
 * When as many endpoints as the setting half-open says were quiet before, @cep takes
 * the place of the oldest one of the source that has most of them. The caller ends
 * that one by tern_cep_crowd_out(): by a Reply with R=1, not by the bare end of its
 * connection, by which an initiator would know a peer of revision 1.
 *
 * Return: that one, with a reference, or NULL. Context: @cep->lock is held.
 */
struct tern_cep *tern_crowd_let_in(struct tern_cep *cep);

/**
 * tern_crowd_ask() - a good Request came: may the program be asked?
 * @cep: in CM_REQUEST_WAIT; is counted as one that asked from now on
 *
 * When as many as half-open wait for an answer, the newest one of the source that
 * has most of them makes room, unless that is the source of @cep.
 *
 * Return: false when the Request is to be rejected. Context: @cep->lock is held.
 */
bool tern_crowd_ask(struct tern_cep *cep);

#endif /* TERN_CROWD_H */
