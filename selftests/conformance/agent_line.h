/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A line to tern-conform-agent, and its answer word by word, for the files that are
 * agent.h and agent_ext.h: see tern-conform-agent(8).
 */
#ifndef AGENT_LINE_H
#define AGENT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_PIECE	32768	/* most bytes of memory in a line */

/* an answer: "ok" and words, "none", or "no" and an errno */
enum line_verdict { LINE_OK, LINE_NONE, LINE_NO };

/* of the last answer that was LINE_NO */
extern int line_errno;

/* Return: the connection to the agent, or -1 after a line on stderr */
int line_open(const char *addr, const char *port);
void line_close(void);

/* send the command and read its answer, which may take @ms and a while */
enum line_verdict line_try(int ms, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* the same, but leave the test when the agent refuses; Return: true for "ok" */
#define line_ask(ms, ...) line_answered(line_try(ms, __VA_ARGS__))
bool line_answered(enum line_verdict v);

/* leave the test: the agent refused the last command, or broke the protocol */
__attribute__((noreturn))
void line_refused(void);
__attribute__((noreturn, format(printf, 1, 2)))
void line_lost(const char *fmt, ...);

/* the next words of the answer; all that are left */
const char *line_word(void);
uint64_t line_number(void);
const char *line_rest(void);
/* decode the next word from hex, @max bytes at most; Return: how many */
size_t line_bytes(void *buf, size_t max);
/* encode in hex; the buffer is valid until the next call */
const char *line_hex(const void *data, size_t len);

#endif /* AGENT_LINE_H */
