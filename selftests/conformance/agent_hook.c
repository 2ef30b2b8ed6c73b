// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Run the --set and --state commands of this host; read hardware counters. */
#define _GNU_SOURCE
#include "agent_hook.h"
#include "agent_dev.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS_MAX	48
#define OUTPUT_MAX	16384
#define TIME_MS		30000
#define STATUS_UNKNOWN	3	/* the device has no such setting */

const char *hook_set, *hook_state;
static bool changed;

/* a command while it runs; @args point into @text */
struct run {
	char text[1024];
	char *args[ARGS_MAX + 1];
	int count;
	char output[OUTPUT_MAX];
	size_t len;
};

static void add(struct run *r, char *arg)
{
	if (r->count < ARGS_MAX)
		r->args[r->count++] = arg;
	r->args[r->count] = NULL;
}

/* start with the words of @command */
static void prepare(struct run *r, const char *command)
{
	char *save, *word;

	memset(r, 0, sizeof(*r));
	snprintf(r->text, sizeof(r->text), "%s", command);
	for (word = strtok_r(r->text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		add(r, word);
}

/* read the command's output until it ends or TIME_MS is over; Return: it ended */
static bool collect(struct run *r, int fd)
{
	uint64_t end = clock_ms() + TIME_MS;
	char spill[512];

	for (;;) {
		size_t room = sizeof(r->output) - 1 - r->len;
		uint64_t now = clock_ms();
		ssize_t n;

		if (now >= end || !wait_readable(fd, end - now))
			return false;
		if (room)
			n = read(fd, r->output + r->len, room);
		else
			n = read(fd, spill, sizeof(spill));
		if (n <= 0)
			return true;
		if (room)
			r->len += n;
	}
}

/*
 * posix_spawn(), not fork(): on kernels before 5.12 a fork makes registered pages
 * copy-on-write, and the parent's next write would move to a new page.
 */
static int spawn(struct run *r, pid_t *pid, int *out)
{
	posix_spawn_file_actions_t files;
	int fds[2], error;

	if (pipe2(fds, O_CLOEXEC))
		return errno;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, fds[1], 1);
	posix_spawn_file_actions_adddup2(&files, fds[1], 2);
	error = posix_spawnp(pid, r->args[0], &files, NULL, r->args, environ);
	posix_spawn_file_actions_destroy(&files);
	close(fds[1]);
	if (error)
		close(fds[0]);
	else
		*out = fds[0];
	return error;
}

/* Run the command. Return: 0, EOPNOTSUPP for STATUS_UNKNOWN, EINVAL for another
 * failure, ETIMEDOUT, or the errno of starting it. */
static int run(struct run *r)
{
	int fd = -1, status, error;
	pid_t pid;

	error = r->count ? spawn(r, &pid, &fd) : ENOENT;
	if (error)
		return error;
	if (!collect(r, fd)) {
		kill(pid, SIGKILL);
		error = ETIMEDOUT;
	}
	close(fd);
	waitpid(pid, &status, 0);
	if (error)
		return error;
	if (!WIFEXITED(status))
		return EINVAL;
	if (WEXITSTATUS(status) == STATUS_UNKNOWN)
		return EOPNOTSUPP;
	return WEXITSTATUS(status) ? EINVAL : 0;
}

/* append its output to the answer: it says why it failed */
static void complain(struct call *c, struct run *r)
{
	size_t i;

	for (i = 0; i < r->len; i++)
		if (!isprint((unsigned char)r->output[i]))
			r->output[i] = ' ';
	say(c, "%.200s", r->output);
}

int cmd_set(struct call *c)
{
	struct run r;
	int error;

	if (!hook_set)
		return ENOSYS;
	prepare(&r, hook_set);
	while (c->words[c->next])
		add(&r, c->words[c->next++]);
	changed = true;
	error = run(&r);
	if (error)
		complain(c, &r);
	return error;
}

int hook_reset(void)
{
	struct run r;
	int error;

	if (!changed)
		return 0;
	prepare(&r, hook_set);
	add(&r, "default");
	error = run(&r);
	if (!error)
		changed = false;
	return error;
}

/* Return: what follows @key in the line of @text that starts with it, or NULL */
static char *value_of(char *text, const char *key)
{
	size_t len = strlen(key);
	char *line, *save;

	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (!strncmp(line, key, len) && line[len] == ' ')
			return line + len + 1;
	return NULL;
}

int cmd_state(struct call *c)
{
	const char *addr = arg_word(c), *port = arg_word(c), *key = arg_word(c);
	int error = arg_end(c);
	struct run r;
	char *value;

	if (!hook_state)
		return ENOSYS;
	if (error)
		return error;
	prepare(&r, hook_state);
	add(&r, (char *)addr);
	add(&r, (char *)port);
	error = run(&r);
	if (error) {
		complain(c, &r);
		return error;
	}
	value = value_of(r.output, key);
	if (!value)
		return CALL_NONE;
	say(c, "%.1024s", value);
	return 0;
}

/* ---- counters ------------------------------------------------------------ */

static int from_file(const char *path, unsigned long long *v)
{
	FILE *f = fopen(path, "re");
	int n;

	if (!f)
		return 0;
	n = fscanf(f, "%llu", v);
	fclose(f);
	return n == 1;
}

/* The kernel renews these files every 10 ms only and shows them in one network
 * namespace only: use them where rdma(8) is missing. */
static int from_sysfs(const char *device, const char *name, unsigned long long *v)
{
	char path[512];

	usleep(20000);
	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s", device, name);
	return from_file(path, v);
}

/* parse "link DEV/1 NAME VALUE NAME VALUE..." */
static int from_rdma(const char *device, const char *name, unsigned long long *v)
{
	char link[128], *word, *save;
	struct run r;

	snprintf(link, sizeof(link), "%s/1", device);
	prepare(&r, "rdma statistic show link");
	add(&r, link);
	if (run(&r))
		return 0;
	for (word = strtok_r(r.output, " \n", &save); word && strcmp(word, name);
	     word = strtok_r(NULL, " \n", &save))
		;
	word = word ? strtok_r(NULL, " \n", &save) : NULL;
	return word && sscanf(word, "%llu", v) == 1;
}

int cmd_counter(struct call *c)
{
	const char *device, *name = arg_word(c);
	int error = arg_end(c);
	unsigned long long v;

	if (error)
		return error;
	if (!dev.verbs)
		return ENODEV;
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
		return EINVAL;
	device = ibv_get_device_name(dev.verbs->device);
	if (!from_rdma(device, name, &v) && !from_sysfs(device, name, &v))
		return CALL_NONE;
	say(c, "%llu", v);
	return 0;
}
