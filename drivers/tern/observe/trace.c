// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Define the tracepoints that trace.h declares. */
#define CREATE_TRACE_POINTS
#include "trace.h"
