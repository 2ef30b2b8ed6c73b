/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* rdma_cm's commands, written to its file directly; each returns 0 or an errno. */
#ifndef VERBS_UCMA_RAW_H
#define VERBS_UCMA_RAW_H

#include <stdint.h>

/* for parties; the first two return a descriptor and an id */
int raw_open(void);
uint32_t raw_create(int fd);
int raw_connect(int fd, uint32_t id, uint32_t qpn);
int raw_query(int fd, uint32_t id);
/* resolve address and route, and wait for the events */
int raw_resolve(int fd, uint32_t id, const char *ip, int port);

/* every command that takes an id */
extern const unsigned int raw_commands;
const char *raw_name(unsigned int command);
int raw_try(int fd, unsigned int command, uint32_t id);

#endif /* VERBS_UCMA_RAW_H */
