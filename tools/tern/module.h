/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Why the running kernel is without the module. */
#ifndef TERN_TOOL_MODULE_H
#define TERN_TOOL_MODULE_H

#include <stdbool.h>

/* Return: true if a module tern is installed for the running kernel */
bool module_is_installed(void);

/* the version of the running kernel */
const char *module_kernel(void);

#endif /* TERN_TOOL_MODULE_H */
