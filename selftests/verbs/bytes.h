/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
#ifndef VERBS_BYTES_H
#define VERBS_BYTES_H

#include "tap.h"

/* bytes_rewrite.c: buffers that are rewritten when they complete */
extern const struct tap_theme rewrite_theme;

#endif /* VERBS_BYTES_H */
