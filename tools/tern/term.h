/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* What the codes of Terminates mean. */
#ifndef TERN_TOOL_TERM_H
#define TERN_TOOL_TERM_H

#include <stddef.h>
#include <stdint.h>

/* Return: the name of a code (layer << 12 | type << 8 | code), as in traces */
const char *term_name(uint32_t code);

/* Return: the RFC and section that define it, NULL for a code that no RFC defines */
const char *term_section(uint32_t code);

/* layer/type/code as text */
void term_number(uint32_t code, char *buf, size_t size);

#endif /* TERN_TOOL_TERM_H */
