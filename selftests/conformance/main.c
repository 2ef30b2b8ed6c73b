// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The runner: selects tests, runs each in its roles, and reports in TAP. When a test
 * is left by must() or skip(), or hangs, the runner closes what it opened, resets the
 * device and goes on with the next test.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "conform.h"
#include "level.h"
#include "peer.h"
#include "report.h"

#define HANG_S		20	/* a test that takes longer counts as hanging */
#define HANG_SLOW_S	60
#define LONG_MS		1500	/* report a test that takes longer */
#define LIST_SEP	','

struct conform_options options;

static const char *agent_port = AGENT_PORT;
static const char *only, *without, *report_path;
static unsigned int only_levels = LEVEL_ALL;
static enum role only_role = EITHER;
static double scale = 1;
static bool list_only, stop_at_failure;

static const struct conform_test *running;
static enum role running_role;
static bool armed;		/* guarded() runs a step, so leave() may jump */
static sigjmp_buf out_of_test;
static enum outcome left_as;
static char why[512];
static unsigned int count[HUNG + 1];
unsigned int test_failures;

/* ---- what tests call ---- */

enum role dut_role(void)
{
	return running_role;
}

const struct conform_test *current_test(void)
{
	return running;
}

const void *row_of_test(const void *rows, size_t size)
{
	const char *row, *name;

	for (row = rows; (name = *(const char *const *)row); row += size)
		if (!strcmp(name, running->name))
			return row;
	must(false, "no row for this test");
}

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

int patience(int ms)
{
	return ms * scale;
}

static void __attribute__((noreturn)) leave(enum outcome outcome)
{
	left_as = outcome;
	if (armed)
		siglongjmp(out_of_test, 1);
	printf("Bail out! %s\n", why);
	exit(2);
}

void test_report(const char *file, int line, const char *text)
{
	if (test_failures == 1)
		snprintf(why, sizeof(why), "%s:%d: %s", file, line, text);
}

void test_leave(void)
{
	leave(FAILED);
}

void test_skip(const char *text)
{
	if (test_failures)
		leave(FAILED);
	snprintf(why, sizeof(why), "%s", text);
	leave(SKIPPED);
}

void skip_hook(const char *command, const char *words)
{
	skip("the agent has no command for: %s %s", command, words);
}

/* ---- selecting ---- */

static bool is_equal(const char *text, const char *word, size_t len)
{
	return strlen(text) == len && !strncmp(text, word, len);
}

/* Return: @word is one of the words of @text */
static bool is_word(const char *text, const char *word, size_t len)
{
	size_t n;

	for (; *text; text += n + (text[n] == ' ')) {
		n = strchrnul(text, ' ') - text;
		if (n == len && !strncmp(text, word, len))
			return true;
	}
	return false;
}

/* Return: @list has an ID of the test, its name or its group */
static bool listed(const char *list, const struct conform_group *g,
		   const struct conform_test *t)
{
	size_t len;

	for (; list; list = list[len] ? list + len + 1 : NULL) {
		len = strchrnul(list, LIST_SEP) - list;
		if (is_word(t->ids, list, len) || is_equal(t->name, list, len) ||
		    is_equal(g->name, list, len))
			return true;
	}
	return false;
}

static bool picked(const struct conform_group *g, const struct conform_test *t)
{
	if ((t->role && !(t->role & only_role)) || !(test_level(t) & only_levels))
		return false;
	return (!only || listed(only, g, t)) && !listed(without, g, t);
}

/* call @f for each selected test, in each role that it runs in */
static void for_picked(void (*f)(const struct conform_group *g,
				 const struct conform_test *t, enum role role))
{
	const struct conform_group *const *g;
	const struct conform_test *t;

	for (g = conform_groups; *g; g++) {
		for (t = (*g)->tests; t->name; t++) {
			if (!picked(*g, t))
				continue;
			if (t->role != EITHER || only_role != EITHER) {
				f(*g, t, t->role & only_role);
				continue;
			}
			f(*g, t, INITIATOR);
			f(*g, t, RESPONDER);
		}
	}
}

static const char *role_name(enum role role)
{
	static const char *const names[] = { "-", "initiator", "responder", "either" };

	return names[role];
}

static const char *hooks_name(const struct conform_test *t)
{
	static const char *const names[] = { "-", "set", "state", "set state" };

	return names[t->needs & (NEED_SET | NEED_STATE)];
}

static void list(void)
{
	const struct conform_group *const *g;
	const struct conform_test *t;

	for (g = conform_groups; *g; g++)
		for (t = (*g)->tests; t->name; t++)
			if (picked(*g, t))
				printf("%s\t%s\t%s\t%s\t%s\t%s\n", t->name, t->ids,
				       role_name(t->role), (*g)->name,
				       level_name(test_level(t)), hooks_name(t));
}

/* ---- running ---- */

static void hang(int sig)
{
	(void)sig;
	left_as = HUNG;
	siglongjmp(out_of_test, 1);
}

/* Run a step that leave() may end by a jump; keep no local value across the jump. */
static enum outcome guarded(void (*step)(void), unsigned int limit_s)
{
	if (!sigsetjmp(out_of_test, 1)) {
		armed = true;
		test_failures = 0;
		alarm(limit_s * (scale > 1 ? scale : 1));
		step();
		left_as = test_failures ? FAILED : PASSED;
	}
	alarm(0);
	armed = false;
	if (left_as == HUNG)
		snprintf(why, sizeof(why), "it hangs: stopped after %u s", limit_s);
	return left_as;
}

static void connect_agent(void)
{
	if (agent_open(options.target, agent_port)) {
		printf("Bail out! no agent at %s port %s\n", options.target, agent_port);
		exit(2);
	}
	agent_peer_address(options.local);
}

/* Clean up after each test. After a hang the agent may be in the middle of an answer, so
 * connect to it again; likewise when its reset fails. */
static void clean_up(enum outcome outcome)
{
	peers_close();
	if (!running_role)
		return;
	if (outcome != HUNG && guarded(agent_reset, HANG_S) == PASSED)
		return;
	printf("# the agent is connected to again%s%s\n", outcome == HUNG ? "" : ": ",
	       outcome == HUNG ? "" : why);
	agent_close();
	connect_agent();
}

/* print the rows that the test asserts, each with its level */
static void print_rule(const struct conform_test *t)
{
	const struct requirement *r;
	const char *id;

	printf("#   rule (%s): %s\n", t->ids, t->rule);
	if (test_level(t) == LEVEL_SELF)
		return;
	for (id = t->ids; *id; id += strcspn(id, " "), id += *id == ' ') {
		r = requirement_of(id);
		printf("#   %s: %s %s, %s\n", r->id, r->document, r->section, r->word);
	}
}

static void report(enum outcome outcome, unsigned int number, const char *suffix)
{
	const char *level = level_name(test_level(running));
	bool bad = outcome == FAILED || outcome == HUNG;
	char point[160];

	snprintf(point, sizeof(point), "%s%s", running->name, suffix);
	report_point(running, outcome, point, outcome == PASSED ? NULL : why);
	printf("%s %u - %s # %s%s%s%s\n", bad ? "not ok" : "ok", number, point,
	       outcome == SKIPPED ? "SKIP " : "", level, outcome == SKIPPED ? ": " : "",
	       outcome == SKIPPED ? why : "");
	if (bad) {
		print_rule(running);
		printf("#   %s\n", why);
		peers_trace();
	}
	fflush(stdout);
}

static void run(const struct conform_group *g, const struct conform_test *t,
		enum role role)
{
	static unsigned int number;
	uint64_t start = now_ms();
	enum outcome outcome;

	(void)g;
	if (stop_at_failure && count[FAILED] + count[HUNG])
		return;
	running = t;
	running_role = role;
	outcome = guarded(t->run, t->needs & NEED_SLOW ? HANG_SLOW_S : HANG_S);
	count[outcome]++;
	report(outcome, ++number, t->role != EITHER ? "" :
	       role == INITIATOR ? "[initiator]" : "[responder]");
	clean_up(outcome);
	peers_free();
	if (now_ms() - start > LONG_MS)
		printf("#   %s took %d ms\n", t->name, (int)(now_ms() - start));
}

static unsigned int planned, with_target;

static void plan(const struct conform_group *g, const struct conform_test *t,
		 enum role role)
{
	(void)g;
	(void)t;
	planned++;
	with_target += role != NO_ROLE;
}

/* ---- the command line ---- */

/* resolve a name or an address to a numeric address */
static const char *numeric(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char text[NI_MAXHOST];
	struct addrinfo *ai;
	int err;

	err = getaddrinfo(host, NULL, &hints, &ai);
	if (!err)
		err = getnameinfo(ai->ai_addr, ai->ai_addrlen, text, sizeof(text), NULL,
				  0, NI_NUMERICHOST);
	if (err) {
		fprintf(stderr, "tern-conform: %s: %s\n", host, gai_strerror(err));
		exit(2);
	}
	freeaddrinfo(ai);
	return strdup(text);
}

/* our address towards the target: the one that a UDP socket would send from */
static const char *own_address(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char text[NI_MAXHOST] = "";
	struct addrinfo *ai;
	int fd;

	if (getaddrinfo(options.target, agent_port, &hints, &ai))
		return NULL;
	fd = socket(ai->ai_family, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen) ||
	    getsockname(fd, (struct sockaddr *)&sa, &len) ||
	    getnameinfo((struct sockaddr *)&sa, len, text, sizeof(text), NULL, 0,
			NI_NUMERICHOST))
		perror("tern-conform: our address");
	if (fd >= 0)
		close(fd);
	freeaddrinfo(ai);
	return *text ? strdup(text) : NULL;
}

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr,
		"usage: tern-conform --target ADDRESS [--agent-port PORT] [--local ADDRESS]\n"
		"           [--role initiator|responder] [--only ID|NAME|GROUP,...]\n"
		"           [--skip ID|NAME|GROUP,...] [--level MUST|SHOULD|reading|policy|self,...]\n"
		"           [--stop] [--scale FACTOR] [--report FILE] [--list]\n");
	exit(2);
}

static enum role role_of(const char *word)
{
	if (!strcmp(word, "initiator"))
		return INITIATOR;
	if (!strcmp(word, "responder"))
		return RESPONDER;
	usage();
}

static double scale_of(const char *word)
{
	char *end;
	double v = strtod(word, &end);

	if (*end || !(v > 0 && v <= 1000))
		usage();
	return v;
}

static void parse(int argc, char **argv)
{
	static const struct option table[] = {
		{ "target", required_argument, NULL, 't' },
		{ "agent-port", required_argument, NULL, 'a' },
		{ "local", required_argument, NULL, 'l' },
		{ "role", required_argument, NULL, 'r' },
		{ "only", required_argument, NULL, 'o' },
		{ "skip", required_argument, NULL, 'x' },
		{ "level", required_argument, NULL, 'e' },
		{ "report", required_argument, NULL, 'R' },
		{ "stop", no_argument, NULL, 'S' },
		{ "scale", required_argument, NULL, 's' },
		{ "list", no_argument, NULL, 'L' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		switch (c) {
		case 't':
			options.target = numeric(optarg);
			break;
		case 'a':
			agent_port = optarg;
			break;
		case 'l':
			options.local = numeric(optarg);
			break;
		case 'r':
			only_role = role_of(optarg);
			break;
		case 'o':
			only = optarg;
			break;
		case 'x':
			without = optarg;
			break;
		case 'e':
			only_levels = levels_of(optarg);
			if (!only_levels)
				usage();
			break;
		case 'R':
			report_path = optarg;
			break;
		case 'S':
			stop_at_failure = true;
			break;
		case 's':
			scale = scale_of(optarg);
			break;
		case 'L':
			list_only = true;
			break;
		default:
			usage();
		}
	}
	if (optind < argc)
		usage();
}

/* ---- main ---- */

static void prepare_target(void)
{
	if (!options.target)
		usage();
	if (!options.local)
		options.local = own_address();
	if (!options.local)
		exit(2);
	connect_agent();
	running_role = RESPONDER;
	clean_up(PASSED);
}

int main(int argc, char **argv)
{
	uint64_t start = now_ms();

	parse(argc, argv);
	if (list_only) {
		list();
		return 0;
	}
	for_picked(plan);
	if (!planned) {
		fprintf(stderr, "tern-conform: no such test\n");
		return 2;
	}
	signal(SIGALRM, hang);
	signal(SIGPIPE, SIG_IGN);
	if (with_target)
		prepare_target();
	printf("TAP version 13\n1..%u\n", planned);
	for_picked(run);
	printf("# %u passed, %u failed, %u skipped, %llu s\n", count[PASSED],
	       count[FAILED] + count[HUNG], count[SKIPPED],
	       (unsigned long long)(now_ms() - start) / 1000);
	if (report_path && !report_write(report_path, with_target ? agent_device() : "none"))
		return 2;
	return count[FAILED] + count[HUNG] ? 1 : 0;
}
