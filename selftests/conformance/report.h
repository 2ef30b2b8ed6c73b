/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The report file: what the points of a run say of each requirement, summed up by
 * section of the RFCs, and which requirements take a hook of the device.
 */
#ifndef REPORT_H
#define REPORT_H

#include "conform.h"

enum outcome { PASSED = 1, FAILED, SKIPPED, HUNG };

/* the running test asks for a hook, "set crc off" or "state peer_ird" */
void report_hook(const char *command, const char *words);

/* how the running test ended; @point: its name and role, @why: NULL if it passed */
void report_point(const struct conform_test *t, enum outcome outcome, const char *point,
		  const char *why);

/* Return: false, and a line on stderr, when the file cannot be written */
bool report_write(const char *path, const char *device);

#endif /* REPORT_H */
