/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * What users can see of a connection: a copy of its values, taken under the
 * endpoint's lock, and the copies of those that ended recently.
 */
#ifndef TERN_CONN_H
#define TERN_CONN_H

#include <linux/types.h>

#include "core/mpa.h"
#include "stream/sock.h"
#include "stream/sock_open.h"
#include "stream/stream.h"
#include "stream/user.h"
#include "uapi/rdma/tern-abi.h"

struct tern_cep;
struct tern_device;

/* ended connections that a device keeps */
#define TERN_CONN_ENDED		64

/**
 * struct tern_conn - values of a connection at one moment
 * @nr: its number, never 0
 * @net_cookie: of its netns
 * @qpn: its QP, 0 if there is none yet
 * @state: name of the endpoint's state
 * @ended: only this copy is left
 * @active: our end is the initiator
 * @addr: both ends
 * @own: our frame
 * @peer: the peer's frame
 * @agreed: @params is valid
 * @params: what both ends agreed on; its rtr was sent or received
 * @decided: @features is final, see tern_stream_features()
 * @features: enum tern_feature that both ends agreed on so far
 * @mss: TCP's segment size, 0 without TCP
 * @mulpdu: MULPDU, 0 without TCP
 * @terms: its errors
 * @error: cause of the failure, negative, or 0
 * @began: when it began, of the boot clock
 * @over: when it ended, with @ended
 * @messages: how many went each way
 * @flow: what TCP knew when the copy was made, with @mss
 */
struct tern_conn {
	u32 nr;
	u64 net_cookie;
	u32 qpn;
	const char *state;
	bool ended;
	bool active;
	struct tern_sock_addr addr;
	struct tern_mpa_side own;
	struct tern_mpa_side peer;
	bool agreed;
	struct tern_mpa_params params;
	bool decided;
	u16 features;
	u32 mss;
	u32 mulpdu;
	struct tern_stream_terms terms;
	int error;
	ktime_t began;
	ktime_t over;
	struct tern_stream_messages messages;
	struct tern_sock_flow flow;
};

/**
 * tern_conn_next() - next connection of a device, ended ones included
 * @dev: device
 * @from: lowest number to look for
 * @conn: result: the first one from there on
 *
 * A walk meets each connection that exists all the time once, even if others
 * begin or end during it. Context: process. Return: false when there is none.
 */
bool tern_conn_next(struct tern_device *dev, unsigned long from,
		    struct tern_conn *conn);

/* @cep ends: keep a copy; Context: process, its lock is held */
void tern_conn_remember(struct tern_cep *cep);

enum tern_conn_news {
	TERN_CONN_START,	/* it was established */
	TERN_CONN_END,		/* it ended, with an error or without */
	TERN_CONN_ERROR,	/* it ended with an error */
};

/* tell the listener; Context: as above */
void tern_conn_tell(struct tern_cep *cep, enum tern_conn_news news);

/* @cep's values now; Context: as above */
void tern_conn_copy(struct tern_cep *cep, struct tern_conn *conn);

/* set the listener, while there is no device */
void tern_conn_set_listener(void (*notify)(struct tern_cep *cep,
					   enum tern_conn_news news));

/* a device's ring of ended connections; Return: 0 or -ENOMEM */
int tern_conn_init(struct tern_device *dev);
void tern_conn_exit(struct tern_device *dev);

#endif /* TERN_CONN_H */
