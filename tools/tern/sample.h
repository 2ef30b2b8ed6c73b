/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Devices and connections at one moment, and how fast they moved since another one. */
#ifndef TERN_TOOL_SAMPLE_H
#define TERN_TOOL_SAMPLE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev.h"
#include "program.h"

struct talk;

/* what a connection moves */
enum flow { TX_BYTES, RX_BYTES, TX_MESSAGES, RX_MESSAGES, RETRANSMITS, FLOWS };

/**
 * struct conn_sample - a connection
 * @index: the RDMA core's number of its device
 * @nr: its number on that device
 * @qpn: its QP, 0 for none
 * @device: name of the device
 * @state: of the endpoint
 * @ended: it has ended
 * @shown: it was there at some time since the earlier sample
 * @local: address
 * @remote: address
 * @local_port: port
 * @remote_port: port
 * @program: owner of the QP
 * @age_ms: how long ago it began
 * @rtt_us: TCP's smoothed round trip time, 0 if it is unknown
 * @total: moved so far
 * @rate: moved per second since the earlier sample
 */
struct conn_sample {
	uint32_t index;
	uint32_t nr;
	uint32_t qpn;
	char device[DEV_NAME_MAX];
	char state[16];
	bool ended;
	bool shown;
	char local[INET6_ADDRSTRLEN];
	char remote[INET6_ADDRSTRLEN];
	uint32_t local_port;
	uint32_t remote_port;
	struct program program;
	uint64_t age_ms;
	uint32_t rtt_us;
	uint64_t total[FLOWS];
	double rate[FLOWS];
};

/**
 * struct dev_sample - a device
 * @index: the RDMA core's number
 * @name: name
 * @netdev: name of the netdev
 * @conns: connections that have not ended
 * @rate: the sum of those of its connections
 */
struct dev_sample {
	uint32_t index;
	char name[DEV_NAME_MAX];
	char netdev[IFNAMSIZ];
	unsigned int conns;
	double rate[FLOWS];
};

/**
 * struct sample - all of it
 * @began: monotonic time before the kernel was asked, in seconds
 * @done: and when it had answered
 * @seconds: since the earlier sample, 0 if there is none
 * @dev: array of devices
 * @devs: its elements
 * @conn: array of connections, by device and number
 * @conns: its elements
 */
struct sample {
	double began;
	double done;
	double seconds;
	struct dev_sample *dev;
	size_t devs;
	struct conn_sample *conn;
	size_t conns;
};

/**
 * sample_take() - ask the kernel
 * @t: socket
 * @device: only this one, NULL for all
 * @s: result; a device that is not there leaves it empty
 *
 * Return: 0 or a negative errno; without the module, -ENOENT.
 */
int sample_take(struct talk *t, const char *device, struct sample *s);

/* fill in what @s says of the time since @old */
void sample_compare(struct sample *s, const struct sample *old);

void sample_free(struct sample *s);

#endif /* TERN_TOOL_SAMPLE_H */
