/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * One command of the controller: its words, taken one by one with their bounds
 * checked, and the words of the answer. A missing or wrong word sets @error and reads
 * as 0, so a command checks @error before it acts.
 */
#ifndef AGENT_CALL_H
#define AGENT_CALL_H

#include <stddef.h>
#include <stdint.h>

#define CALL_WORDS_MAX	32
#define CALL_LINE_MAX	(80 * 1024)	/* bytes of a command or of an answer */
#define CALL_MS_MAX	60000

/* a command returns 0, an errno, or this: nothing to report */
#define CALL_NONE	(-1)

/**
 * struct call - one command while it runs
 * @words: what follows the command's name, NULL-terminated
 * @next: the word that is taken next
 * @error: 0, or an errno after a wrong word
 * @out: words of the answer, each with a blank in front
 * @out_len: bytes in @out
 */
struct call {
	char *words[CALL_WORDS_MAX + 1];
	int next;
	int error;
	char out[CALL_LINE_MAX];
	size_t out_len;
};

const char *arg_word(struct call *c);
uint64_t arg_number(struct call *c, uint64_t max);

/* bytes in hex, "-" for none; Return: how many */
size_t arg_bytes(struct call *c, void *buf, size_t max);

/* Return: 0 if all words are taken and none was wrong, or an errno */
int arg_end(struct call *c);

void say(struct call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void say_bytes(struct call *c, const void *data, size_t len);

typedef int command_fn(struct call *c);

/* a row of the command table */
struct command {
	const char *name;
	command_fn *run;
};

#endif /* AGENT_CALL_H */
