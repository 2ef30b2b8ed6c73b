// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * A hostile program, made from a seed:
 *
 *	abuse seed=N [steps=M] [only=LIST] [verbose] uverbs=/dev/infiniband/uverbsN
 *	    device=NAME address=IP
 *
 * One or two processes begin alike (opening[] of abi.c), with two QPs that are connected.
 * Then each does its steps, in one to three threads. The seed decides which step is done
 * with which arguments, by which thread of which process; each step has a series of
 * numbers of its own, so those that remain do the same when others are left out: only=
 * names those that remain, as 0-10,14. Only the order in which threads run differs.
 *
 * The program ends by itself, or kills its processes after LIFE seconds. It fails if one is
 * not dead MOST seconds after that, which it then names with its stack.
 */
#include "abuse.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE		4
#define MOST		10
#define MOST_STEPS	4096
#define MOST_THREADS	3

struct program *program;
struct place *mine;

static struct step {
	unsigned int op;
	unsigned int process;
	unsigned int thread;
} step[MOST_STEPS];
static bool wanted[MOST_STEPS];
static unsigned int n_steps = 60, n_threads;
static volatile bool over;

/* ---- the list ------------------------------------------------------------------------- */

static unsigned int op_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_ops; i++) {
		if (!strcmp(ops[i].name, name))
			return i;
	}
	fprintf(stderr, "abi.c has no %s\n", name);
	exit(2);
}

/* step[0..n_opening) is what each process begins with */
static void make_steps(void)
{
	struct series s = series_of(program->seed, 1);
	unsigned int i;

	program->n_places = 1 + draw(&s) % MOST_PROCESSES;
	n_threads = 1 + draw(&s) % MOST_THREADS;
	n_steps += n_opening;
	for (i = 0; i < n_steps; i++) {
		struct series of = series_of(program->seed, 100 + i);

		step[i].op = i < n_opening ? op_named(opening[i]) :
			     draw_row(&of, &ops[0].weight, sizeof(ops[0]), n_ops);
		step[i].process = draw(&of) % program->n_places;
		step[i].thread = draw(&of) % n_threads;
	}
}

static void want(char *list)
{
	char *word, *save;

	memset(wanted, !list, sizeof(wanted));
	if (!list)
		return;
	for (word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		unsigned int from, to;
		int n = sscanf(word, "%u-%u", &from, &to);

		for (to = n == 2 ? to : from; n > 0 && from <= to && from < MOST_STEPS; from++)
			wanted[from] = true;
	}
}

/* ---- processes ------------------------------------------------------------------------ */

static void do_step(unsigned int i)
{
	struct series s = series_of(program->seed, 1000000 + i);

	if (!wanted[i])
		return;
	if (program->verbose)
		dprintf(2, "# step %u, process %td\n", i, mine - program->places);
	do_op(step[i].op, &s, i < n_opening);
}

static void *thread(void *arg)
{
	unsigned int me = (uintptr_t)arg, i;

	for (i = n_opening; i < n_steps; i++) {
		if (step[i].thread == me && step[i].process == mine - program->places)
			do_step(i);
	}
	return NULL;
}

/* rewrites rings, and lets memory come and go, while the others work */
static void *vandal(void *arg)
{
	struct series s = series_of(program->seed, 2 + (uintptr_t)arg);

	while (!over) {
		spoil(&s, 20);
		if (chance(&s, 5))
			shift_memory(&s);
		usleep(100);
	}
	return NULL;
}

/* a device that goes takes its mappings along */
static void hurt(int sig)
{
	(void)sig;
	_exit(3);
}

static void process(unsigned int me)
{
	pthread_t threads[MOST_THREADS], v;
	unsigned int i;
	bool is_vandal;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGSEGV, hurt);
	signal(SIGBUS, hurt);
	mine = &program->places[me];
	mine->port = 7000 + 10 * (program->seed % 1000) + me;
	place_open();
	for (i = 0; i < n_opening; i++)
		do_step(i);
	is_vandal = series_of(program->seed, 3).state % 2;
	if (is_vandal && pthread_create(&v, NULL, vandal, (void *)(uintptr_t)me))
		_exit(2);
	for (i = 0; i < n_threads; i++) {
		if (pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i))
			_exit(2);
	}
	for (i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	over = true;
	/* sometimes the end comes while data is on its way */
	usleep(series_of(program->seed, 4).state % 50000);
	_exit(0);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void show_stack(int pid)
{
	char command[96];

	snprintf(command, sizeof(command), "cat /proc/%d/stack /proc/%d/status", pid, pid);
	if (system(command))
		printf("no stack of %d\n", pid);
}

/* until no child is left; with PR_SET_CHILD_SUBREAPER their children are ours too */
static bool gone(double seconds)
{
	double end = now() + seconds;
	int pid;

	for (;;) {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0)
			return true;
		if (!pid && now() > end)
			return false;
		if (!pid)
			usleep(2000);
	}
}

/* ---- main ------------------------------------------------------------------------------- */

static char *option(char **argv, const char *name)
{
	size_t len = strlen(name);

	for (; *argv; argv++) {
		if (!strncmp(*argv, name, len) && (*argv)[len] == '=')
			return *argv + len + 1;
	}
	return NULL;
}

static const char *need(char **argv, const char *name)
{
	const char *value = option(argv, name);

	if (!value) {
		fprintf(stderr, "%s= is missing: see abuse.c\n", name);
		exit(2);
	}
	return value;
}

static void report(void)
{
	unsigned int i;

	for (i = 0; i < n_ops; i++) {
		if (program->done[i] + program->refused[i])
			printf("# %s %u %u\n", ops[i].name, program->done[i], program->refused[i]);
	}
}

int main(int argc, char **argv)
{
	const char *scale = getenv("TERN_TIMEOUT_SCALE");
	unsigned int i;
	int pids[MOST_PROCESSES];

	program = mmap(NULL, sizeof(*program), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	program->seed = strtoull(need(argv, "seed"), NULL, 0);
	program->uverbs = need(argv, "uverbs");
	program->device = need(argv, "device");
	program->address = need(argv, "address");
	program->verbose = !strcmp(argv[argc - 1], "verbose");
	if (option(argv, "steps"))
		n_steps = strtoul(option(argv, "steps"), NULL, 0);
	if (n_steps > MOST_STEPS - n_opening)
		n_steps = MOST_STEPS - n_opening;
	want(option(argv, "only"));
	make_steps();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < program->n_places; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			setpgid(0, 0);
			process(i);
		}
		setpgid(pids[i], pids[i]);
	}
	if (!gone(LIFE)) {
		for (i = 0; i < program->n_places; i++)
			kill(-pids[i], SIGKILL);
	}
	if (!gone(MOST * (scale ? atoi(scale) : 1))) {
		for (i = 0; i < program->n_places; i++)
			show_stack(pids[i]);
		return 1;
	}
	if (option(argv, "count"))
		report();
	return 0;
}
