/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The commands of the tool tern, and what they share. */
#ifndef TERN_TOOL_TERN_H
#define TERN_TOOL_TERN_H

#include <stdbool.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* exit status: done, refused or failed, wrong usage */
enum { DONE, FAILED, USAGE };

/**
 * struct options - what the command line asks for beside the command
 * @json: print JSON
 * @pretty: in many lines
 * @info: details of connections
 * @all: ended connections, too; every link that has a file
 * @timestamp: when each event was received
 * @openmetrics: metrics in this format
 * @batch: reports without a screen
 * @count: number of reports, NULL for no end
 * @delay: seconds between reports, NULL for the usual one
 * @sort: order of connections, NULL for the usual one
 */
struct options {
	bool json;
	bool pretty;
	bool info;
	bool all;
	bool timestamp;
	bool openmetrics;
	bool batch;
	const char *count;
	const char *delay;
	const char *sort;
};

/* the commands: words after the name of the command, and their number; an exit status */
int show(const struct options *opt, int argc, char **argv);
int set(const struct options *opt, int argc, char **argv);
int monitor(const struct options *opt, int argc, char **argv);
int top(const struct options *opt, int argc, char **argv);
int diagnose(const struct options *opt, int argc, char **argv);
int metrics(const struct options *opt, int argc, char **argv);
int up(const struct options *opt, int argc, char **argv);
int down(const struct options *opt, int argc, char **argv);
int save(const struct options *opt, int argc, char **argv);
int showconf(const struct options *opt, int argc, char **argv);
int setconf(const struct options *opt, int argc, char **argv);

/* the orders of tern top */
void top_help(FILE *to);

/* print "tern: " and a line on stderr */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* likewise, and refer to the help; Return: USAGE */
int wrong_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * take_device() - the name of a device at the front of a command's words
 * @argc: number of words, as @argv without those that were taken afterwards
 * @argv: words; the word "dev" may be before the name
 *
 * Return: the name, NULL if there are no words.
 */
const char *take_device(int *argc, char ***argv);

#endif /* TERN_TOOL_TERN_H */
