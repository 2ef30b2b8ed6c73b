// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "tern.h"

#define OTHER_SCREEN	"\033[?1049h"
#define FIRST_SCREEN	"\033[?1049l"
#define HIDE_CURSOR	"\033[?25l"
#define SHOW_CURSOR	"\033[?25h"
#define HOME		"\033[H"
#define CLEAR_LINE	"\033[K"
#define CLEAR_BELOW	"\033[J"

bool screen_is_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

/* ---- taking and giving back -------------------------------------------------------- */

/* letters are read as they are typed, and not shown */
static void enter(struct screen *s)
{
	struct termios raw;

	if (s->keys) {
		tcgetattr(STDIN_FILENO, &s->old);
		raw = s->old;
		raw.c_lflag &= ~(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	}
	fputs(OTHER_SCREEN HIDE_CURSOR, stdout);
	fflush(stdout);
}

static void leave(struct screen *s)
{
	fputs(SHOW_CURSOR FIRST_SCREEN, stdout);
	fflush(stdout);
	if (s->keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &s->old);
}

bool screen_open(struct screen *s)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (s->signals < 0) {
		complain("signals: %s", strerror(errno));
		return false;
	}
	s->keys = isatty(STDIN_FILENO);
	enter(s);
	return true;
}

void screen_close(struct screen *s)
{
	leave(s);
	close(s->signals);
}

/* ---- showing ---------------------------------------------------------------------- */

static void draw_line(const char *line, size_t len, size_t columns)
{
	size_t i;

	for (i = 0; i < len && i < columns; i++)
		putchar(line[i] >= ' ' && line[i] <= '~' ? line[i] : '?');
}

void screen_draw(const char *text)
{
	struct winsize size = {};
	size_t row, len;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col) {
		size.ws_row = 24;
		size.ws_col = 80;
	}
	fputs(HOME, stdout);
	for (row = 0; row < size.ws_row && *text; row++) {
		len = strcspn(text, "\n");
		/* clear first: after the last column there is nothing left to clear */
		fputs(row ? "\r\n" CLEAR_LINE : CLEAR_LINE, stdout);
		draw_line(text, len, size.ws_col);
		text += len + (text[len] == '\n');
	}
	if (row < size.ws_row)
		fputs("\r\n" CLEAR_BELOW, stdout);
	fflush(stdout);
}

/* ---- waiting ---------------------------------------------------------------------- */

static int ms_until(double until)
{
	struct timespec ts;
	double ms;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ms = (until - ts.tv_sec - ts.tv_nsec / 1e9) * 1000;
	return ms > 0 ? (int)ms + 1 : 0;
}

static enum screen_event on_signal(struct screen *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return SCREEN_END;
	if (info.ssi_signo == SIGWINCH)
		return SCREEN_SIZE;
	if (info.ssi_signo != SIGTSTP)
		return SCREEN_END;
	leave(s);
	raise(SIGSTOP);
	enter(s);
	return SCREEN_SIZE;
}

enum screen_event screen_wait(struct screen *s, double until, char *key)
{
	struct pollfd fds[] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->keys ? STDIN_FILENO : -1, .events = POLLIN },
	};

	if (poll(fds, ARRAY_SIZE(fds), ms_until(until)) <= 0)
		return SCREEN_TIME;
	if (fds[0].revents)
		return on_signal(s);
	return read(STDIN_FILENO, key, 1) == 1 ? SCREEN_KEY : SCREEN_END;
}
