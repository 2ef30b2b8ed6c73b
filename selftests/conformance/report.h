/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The report file: the results of a run by requirement, summed up by section of the
 * RFCs, and which requirements need a hook of the device.
 */
#ifndef REPORT_H
#define REPORT_H

#include "conform.h"

enum outcome { PASSED = 1, FAILED, SKIPPED, HUNG };

/* record that the running test asks for a hook, "set crc off" or "state peer_ird" */
void report_hook(const char *command, const char *words);

/* record how the running test ended; @point: its name and role, @why: NULL if it
 * passed */
void report_point(const struct conform_test *t, enum outcome outcome, const char *point,
		  const char *why);

/* Return: false, after a line on stderr, when the file cannot be written */
bool report_write(const char *path, const char *device);

#endif /* REPORT_H */
