/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Who owns a QP: what the RDMA core lets the caller see. */
#ifndef TERN_TOOL_PROGRAM_H
#define TERN_TOOL_PROGRAM_H

#include <stdint.h>

/* a name of TASK_COMM_LEN or of a module, each byte escaped */
#define PROGRAM_NAME	260

/**
 * struct program - the owner of a QP
 * @pid: of a program that the caller can see, else 0
 * @name: that of the program or of the kernel's user, escaped; "" if it is unknown
 */
struct program {
	uint32_t pid;
	char name[PROGRAM_NAME];
};

/* the owner of QP @qpn of the device with the number @index */
struct program program_of(uint32_t index, uint32_t qpn);

/* owners may have changed: ask the kernel again */
void program_forget(void);

#endif /* TERN_TOOL_PROGRAM_H */
