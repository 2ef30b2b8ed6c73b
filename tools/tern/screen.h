/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* A terminal that shows one page at a time, by the sequences of ECMA-48. */
#ifndef TERN_TOOL_SCREEN_H
#define TERN_TOOL_SCREEN_H

#include <stdbool.h>
#include <termios.h>

/* why the wait for a time ended: that time, a key, another size, or the end was asked for */
enum screen_event { SCREEN_TIME, SCREEN_KEY, SCREEN_SIZE, SCREEN_END };

/**
 * struct screen - the terminal at standard output
 * @old: what standard input was like
 * @signals: descriptor that reads them
 * @keys: standard input is a terminal, too
 */
struct screen {
	struct termios old;
	int signals;
	bool keys;
};

/* Return: standard output is a terminal that can do this */
bool screen_is_there(void);

/* take the terminal; Return: false after a message */
bool screen_open(struct screen *s);

/* give it back as it was */
void screen_close(struct screen *s);

/* show as much of @text as has room; bytes that are not printable are shown as ? */
void screen_draw(const char *text);

/**
 * screen_wait() - wait for a time or for the user; stop while the user wants that (^Z)
 * @s: screen
 * @until: monotonic time in seconds
 * @key: result for SCREEN_KEY
 *
 * Return: what came first.
 */
enum screen_event screen_wait(struct screen *s, double until, char *key);

#endif /* TERN_TOOL_SCREEN_H */
