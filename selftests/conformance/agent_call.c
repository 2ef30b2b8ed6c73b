// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The words of commands and answers, taken and written one by one. */
#include "agent_call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *arg_word(struct call *c)
{
	const char *word = c->words[c->next];

	if (!word) {
		c->error = EINVAL;
		return "";
	}
	c->next++;
	return word;
}

uint64_t arg_number(struct call *c, uint64_t max)
{
	const char *word = arg_word(c);
	uint64_t v;
	char *end;

	errno = 0;
	v = strtoull(word, &end, 0);
	if (errno || end == word || *end || *word == '-') {
		c->error = EINVAL;
		return 0;
	}
	if (v > max) {
		c->error = ERANGE;
		return 0;
	}
	return v;
}

static int hex_digit(char ch)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = ch ? strchr(digits, ch) : NULL;

	return at ? at - digits : -1;
}

size_t arg_bytes(struct call *c, void *buf, size_t max)
{
	const char *word = arg_word(c);
	size_t i, len = strlen(word) / 2;
	uint8_t *out = buf;

	if (!strcmp(word, "-"))
		return 0;
	if (len > max || strlen(word) % 2) {
		c->error = ERANGE;
		return 0;
	}
	for (i = 0; i < len; i++) {
		int high = hex_digit(word[2 * i]), low = hex_digit(word[2 * i + 1]);

		if (high < 0 || low < 0) {
			c->error = EINVAL;
			return 0;
		}
		out[i] = high << 4 | low;
	}
	return len;
}

int arg_end(struct call *c)
{
	if (c->words[c->next])
		return EINVAL;
	return c->error;
}

void say(struct call *c, const char *fmt, ...)
{
	size_t room = sizeof(c->out) - c->out_len;
	va_list ap;
	int n;

	if (room < 2)
		return;
	c->out[c->out_len] = ' ';
	va_start(ap, fmt);
	n = vsnprintf(c->out + c->out_len + 1, room - 1, fmt, ap);
	va_end(ap);
	if (n >= 0)
		c->out_len += 1 + ((size_t)n < room - 1 ? (size_t)n : room - 2);
}

void say_bytes(struct call *c, const void *data, size_t len)
{
	const uint8_t *at = data;
	size_t i;

	if (!len || c->out_len + 2 * len + 2 > sizeof(c->out)) {
		say(c, "-");
		return;
	}
	say(c, "%s", "");
	for (i = 0; i < len; i++)
		c->out_len += sprintf(c->out + c->out_len, "%02x", at[i]);
}
