/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One command of the controller: its words, taken one by one with their bounds
 * checked, and the words of the answer. A word that is missing or wrong sets
 * @error and yields 0; a command looks at it before it does anything.
 */
#ifndef AGENT_CALL_H
#define AGENT_CALL_H

#include <stddef.h>
#include <stdint.h>

#define CALL_WORDS_MAX	32
#define CALL_LINE_MAX	(80 * 1024)	/* octets of a command or of an answer */
#define CALL_MS_MAX	60000

/* what a command returns besides 0 and an errno: there is nothing to report */
#define CALL_NONE	(-1)

/**
 * struct call - a command on its way
 * @words: what follows the command's name, NULL-terminated
 * @next: the word that is taken next
 * @error: an errno, once a word was wrong
 * @out: words of the answer, each with a blank in front
 * @out_len: octets of them
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

/* octets in hex, "-" for none; Return: how many */
size_t arg_octets(struct call *c, void *buf, size_t max);

/* all words are taken and none was wrong: 0, or the errno */
int arg_end(struct call *c);

void say(struct call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void say_octets(struct call *c, const void *data, size_t len);

typedef int command_fn(struct call *c);

/* a row of the command table: name, and who does it */
struct command {
	const char *name;
	command_fn *run;
};

#endif /* AGENT_CALL_H */
