// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* tern: settings and connections of software RNICs. See tern(8). */
#define _GNU_SOURCE
#include "tern.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "settings.h"

/**
 * struct command - a row of the table
 * @name: first word
 * @usage: lines without that word
 * @help: what it does
 * @more: print more help, may be NULL
 * @run: do it; an exit status
 * @options: letters of the options that it takes, beside those of all commands
 */
struct command {
	const char *name;
	const char *usage[3];
	const char *help;
	void (*more)(FILE *to);
	int (*run)(const struct options *opt, int argc, char **argv);
	const char *options;
};

static int help(const struct options *opt, int argc, char **argv);

static void help_settings(FILE *to)
{
	fprintf(to, "\nSettings:\n");
	settings_help(to);
}

/* of two commands that begin alike, the first is meant */
static const struct command commands[] = {
	{ "show", { "[[dev] DEV]", "connections [[dev] DEV]" },
	  "Print settings of devices, or their connections.", NULL, show,
	  "ai" },
	{ "set", { "[dev] DEV NAME VALUE [NAME VALUE]..." },
	  "Change settings of a device: all of them, or none when one is wrong.",
	  help_settings, set, "" },
	{ "monitor", { "" },
	  "Print each connection that ends with an error; with --all, each that starts or ends.",
	  NULL, monitor, "ait" },
	{ "top", { "[[dev] DEV]" },
	  "Show what devices and connections move per second, again and again.", top_help, top,
	  "bnds" },
	{ "metrics", { "[FILE]" },
	  "Print counters and connections for Prometheus, or replace a file by them.", NULL,
	  metrics, "o" },
	{ "diagnose", { "[PEER [PORT]]" },
	  "Check this machine, and by a test connection a peer that runs rping -s.", NULL,
	  diagnose, "" },
	{ "up", { "LINK", "FILE", "--all" },
	  "Add a link as its file says, or give it the settings of the file.", NULL, up, "a" },
	{ "down", { "LINK", "FILE", "--all" }, "Delete a link that has a file.", NULL, down,
	  "a" },
	{ "save", { "LINK" }, "Write a link and its settings into its file.", NULL, save, "" },
	{ "showconf", { "LINK" }, "Print a link and its settings as a file has them.", NULL,
	  showconf, "" },
	{ "setconf", { "LINK FILE" }, "Give a link the settings of a file.", NULL, setconf, "" },
	{ "help", { "[COMMAND]" }, "Print help.", NULL, help, "" },
};

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, 'p' },
	{ "all", no_argument, NULL, 'a' },
	{ "info", no_argument, NULL, 'i' },
	{ "openmetrics", no_argument, NULL, 'o' },
	{ "timestamp", no_argument, NULL, 't' },
	{ "batch", no_argument, NULL, 'b' },
	{ "count", required_argument, NULL, 'n' },
	{ "delay", required_argument, NULL, 'd' },
	{ "sort", required_argument, NULL, 's' },
	{}
};

static const char option_help[] =
	"    -h, --help       help, of the command if there is one\n"
	"    -V, --version    version of the tool\n"
	"    -j, --json       print JSON\n"
	"    -p, --pretty     print JSON in lines\n"
	"    -a, --all        show connections: those that have ended, too;\n"
	"                     monitor: each connection that starts or ends;\n"
	"                     up, down: all links that have a file\n"
	"    -i, --info       show connections, monitor: who, since when, how much, and the path\n"
	"    -o, --openmetrics  metrics: in OpenMetrics 1.0\n"
	"    -t, --timestamp  monitor: when each event was received\n"
	"    -b, --batch      top: print report after report, as where there is no terminal\n"
	"    -n, --count N    top: end after N reports\n"
	"    -d, --delay S    top: seconds between reports (1)\n"
	"    -s, --sort ORDER  top: of connections, see tern help top (bytes)\n";

static void say(const char *format, va_list args, const char *end)
{
	fputs("tern: ", stderr);
	vfprintf(stderr, format, args);
	fputs(end, stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, "\n");
	va_end(args);
}

int wrong_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, " (see: tern help)\n");
	va_end(args);
	return USAGE;
}

const char *take_device(int *argc, char ***argv)
{
	int words = *argc > 1 && !strcmp(**argv, "dev") ? 2 : *argc > 0;

	*argc -= words;
	*argv += words;
	return words ? (*argv)[-1] : NULL;
}

/* ---- help ------------------------------------------------------------------------ */

static const struct command *find_command(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, word))
			return &commands[i];
	for (i = 0; *word && i < ARRAY_SIZE(commands); i++)
		if (!strncmp(commands[i].name, word, strlen(word)))
			return &commands[i];
	return NULL;
}

static void print_usage(const struct command *c, const char *before, FILE *to)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c->usage) && c->usage[i]; i++)
		fprintf(to, "%stern %s%s%s\n", i ? "       " : before, c->name,
			c->usage[i][0] ? " " : "", c->usage[i]);
}

static int help_command(const struct command *c)
{
	print_usage(c, "Usage: ", stdout);
	printf("\n%s\n", c->help);
	if (c->more)
		c->more(stdout);
	return DONE;
}

static void help_all(FILE *to)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		print_usage(&commands[i], i ? "       " : "Usage: ", to);
	fprintf(to, "\nOptions, anywhere:\n%s\nCommands can be shortened. See tern(8).\n",
		option_help);
}

static int help(const struct options *opt, int argc, char **argv)
{
	const struct command *c = argc ? find_command(argv[0]) : NULL;

	if (argc > 1 || (argc && !c))
		return wrong_usage("there is no command '%s'", argv[argc - 1]);
	if (c)
		return help_command(c);
	help_all(stdout);
	return DONE;
}

/* ---- options and command ---------------------------------------------------------- */

/* the letters that were given; NULL after a message */
static const char *take_options(int argc, char **argv, struct options *opt)
{
	static char given[32];
	size_t n = 0;
	int letter;

	/* the library's message begins with this */
	argv[0] = "tern";
	while ((letter = getopt_long_only(argc, argv, "hVjpaiotbn:d:s:", long_options,
					  NULL)) != -1) {
		if (letter == '?')
			return NULL;
		opt->json |= letter == 'j';
		opt->pretty |= letter == 'p';
		opt->all |= letter == 'a';
		opt->info |= letter == 'i';
		opt->openmetrics |= letter == 'o';
		opt->timestamp |= letter == 't';
		opt->batch |= letter == 'b';
		opt->count = letter == 'n' ? optarg : opt->count;
		opt->delay = letter == 'd' ? optarg : opt->delay;
		opt->sort = letter == 's' ? optarg : opt->sort;
		if (!strchr(given, letter))
			given[n++] = letter;
	}
	return given;
}

static int run(const struct options *opt, const char *given, int argc, char **argv)
{
	const struct command *c = find_command(argv[0]);

	if (!c)
		return wrong_usage("there is no command '%s'", argv[0]);
	if (strchr(given, 'h') || (argc == 2 && !strcmp(argv[1], "help")))
		return help_command(c);
	for (; *given; given++)
		if (!strchr("jp", *given) && !strchr(c->options, *given))
			return wrong_usage("tern %s has no option -%c", c->name, *given);
	return c->run(opt, argc - 1, argv + 1);
}

/* output that was lost is a failure */
static int flushed(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	complain("standard output: %s", strerror(errno));
	return FAILED;
}

int main(int argc, char **argv)
{
	struct options opt = {};
	const char *given = take_options(argc, argv, &opt);

	if (!given)
		return USAGE;
	if (strchr(given, 'V')) {
		printf("tern %s\n", TERN_VERSION);
		return DONE;
	}
	if (optind < argc)
		return flushed(run(&opt, given, argc - optind, argv + optind));
	help_all(strchr(given, 'h') ? stdout : stderr);
	return strchr(given, 'h') ? DONE : USAGE;
}
