/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What tern diagnose finds, and its checks. */
#ifndef TERN_TOOL_FINDING_H
#define TERN_TOOL_FINDING_H

#include <stdbool.h>

struct device;
struct findings;
struct json_object;
struct options;

enum result { OK, WARN, FAIL };

/**
 * struct findings - so far
 * @opt: options
 * @list: JSON, NULL for text
 * @failed: a check did
 */
struct findings {
	const struct options *opt;
	struct json_object *list;
	bool failed;
};

/**
 * found() - report the result of a check
 * @f: findings
 * @check: its name, a word
 * @result: result
 * @todo: what to do about it; NULL with OK
 * @format: what was found
 */
void found(struct findings *f, const char *check, enum result result, const char *todo,
	   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* netdev, address and MTU below a device */
void check_netdev(struct findings *f, const struct device *dev);

/* libibverbs finds a provider for the device, and may open it */
void check_provider(struct findings *f, const struct device *dev);

void check_memlock(struct findings *f);
void check_rdma_cm(struct findings *f);
void check_firewall(struct findings *f);

/* a test connection to rping -s at @address and @port */
void check_peer(struct findings *f, const char *address, const char *port);

#endif /* TERN_TOOL_FINDING_H */
