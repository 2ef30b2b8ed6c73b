// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The report file: results by section of the RFCs. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"
#include "report.h"

/**
 * struct point - the result of a test in one role
 * @name: name of the test, with the role
 * @why: the reason why it failed or was skipped, or NULL
 * @hook: the first hook that it asked for, or NULL
 */
struct point {
	const struct conform_test *test;
	enum outcome outcome;
	char *name;
	char *why;
	char *hook;
};

static struct point *points;
static size_t count;
static char *hook;

static void *checked(void *p)
{
	if (!p)
		err(2, "tern-conform");
	return p;
}

void report_hook(const char *command, const char *words)
{
	if (!hook && asprintf(&hook, "%s %s", command, words) < 0)
		err(2, "tern-conform");
}

void report_point(const struct conform_test *t, enum outcome outcome, const char *point,
		  const char *why)
{
	points = checked(realloc(points, (count + 1) * sizeof(*points)));
	points[count++] = (struct point) {
		.test = t, .outcome = outcome, .name = checked(strdup(point)),
		.why = why ? checked(strdup(why)) : NULL, .hook = hook,
	};
	hook = NULL;
}

/* ---- the result of a requirement ---- */

static bool asserts(const struct point *p, const struct requirement *r)
{
	size_t len = strlen(r->id), n;
	const char *id;

	for (id = p->test->ids; *id; id += n, id += *id == ' ') {
		n = strcspn(id, " ");
		if (n == len && !strncmp(id, r->id, n))
			return true;
	}
	return false;
}

enum verdict { PASS, FAIL, SKIP, NONE, VERDICTS };

/* failed if one of its points failed; passed if one passed and the rest passed or were
 * skipped */
static enum verdict verdict_of(const struct requirement *r)
{
	enum verdict v = NONE;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!asserts(&points[i], r))
			continue;
		if (points[i].outcome == FAILED || points[i].outcome == HUNG)
			return FAIL;
		if (points[i].outcome == PASSED)
			v = PASS;
		else if (v == NONE)
			v = SKIP;
	}
	return v;
}

/* Return: the first hook that its points need if all of them need one, or NULL */
static const char *hook_of(const struct requirement *r)
{
	const char *first = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!asserts(&points[i], r))
			continue;
		if (!points[i].hook)
			return NULL;
		if (!first)
			first = points[i].hook;
	}
	return first;
}

/* ---- by section ---- */

static bool same_section(const struct requirement *a, const struct requirement *b)
{
	return !strcmp(a->document, b->document) && !strcmp(a->section, b->section);
}

/* Return: @r is the first row of its section */
static bool is_first(const struct requirement *r)
{
	const struct requirement *other;

	for (other = requirements; other != r; other++)
		if (same_section(other, r))
			return false;
	return true;
}

enum column { MUSTS, SHOULDS, OTHERS, COLUMNS };

static enum column column_of(const struct requirement *r)
{
	switch (requirement_level(r)) {
	case LEVEL_MUST:
		return MUSTS;
	case LEVEL_SHOULD:
		return SHOULDS;
	default:
		return OTHERS;
	}
}

static void write_section(FILE *f, const struct requirement *first)
{
	unsigned int sum[COLUMNS][VERDICTS] = {}, c;
	const struct requirement *r;

	for (r = first; r->id; r++)
		if (same_section(r, first))
			sum[column_of(r)][verdict_of(r)]++;
	fprintf(f, "%-18s%-8s", first->document, first->section);
	for (c = 0; c < COLUMNS; c++)
		fprintf(f, " %4u %4u %4u %4u", sum[c][PASS], sum[c][FAIL], sum[c][SKIP],
			sum[c][NONE]);
	fputc('\n', f);
}

static bool is_rfc(const struct requirement *r)
{
	return !strncmp(r->document, "RFC", 3);
}

static int by_section(const void *a, const void *b)
{
	const struct requirement *const *x = a, *const *y = b;

	return is_rfc(*y) - is_rfc(*x) ?:
	       strcmp((*x)->document, (*y)->document) ?:
	       strverscmp((*x)->section, (*y)->section);
}

/* sections of RFCs first, then the others */
static void write_sections(FILE *f)
{
	const struct requirement *firsts[256], *r;
	size_t n = 0, i;
	int c;

	fprintf(f, "\nRequirements by section: passed, failed, skipped, none of its tests run\n\n");
	fprintf(f, "%-26s %-19s %-19s %s\n", "", "MUST", "SHOULD", "other");
	fprintf(f, "%-26s", "");
	for (c = 0; c < COLUMNS; c++)
		fprintf(f, " pass fail skip none");
	fputc('\n', f);
	for (r = requirements; r->id && n < sizeof(firsts) / sizeof(*firsts); r++)
		if (is_first(r))
			firsts[n++] = r;
	qsort(firsts, n, sizeof(*firsts), by_section);
	for (i = 0; i < n; i++)
		write_section(f, firsts[i]);
}

/* ---- the lists after the table ---- */

static void write_failures(FILE *f)
{
	const struct requirement *r;
	size_t i;

	fprintf(f, "\nFailed\n\n");
	for (r = requirements; r->id; r++)
		if (verdict_of(r) == FAIL)
			fprintf(f, "%s %s %s %s\n", r->document, r->section, r->id, r->word);
	for (i = 0; i < count; i++)
		if (points[i].outcome == FAILED || points[i].outcome == HUNG)
			fprintf(f, "%s (%s; %s): %s\n", points[i].name,
				level_name(test_level(points[i].test)),
				points[i].test->ids, points[i].why);
}

static bool takes(const struct requirement *r, const char *wanted)
{
	const char *of = wanted ? hook_of(r) : NULL;

	return of && !strcmp(of, wanted);
}

/* one line for all rows that need the same hook */
static void write_hooks(FILE *f, const char *device)
{
	const struct requirement *r, *other;
	const char *first;

	fprintf(f, "\nRows that take a hook of %s (tern-conform-agent's --set and --state)\n\n",
		device);
	for (r = requirements; r->id; r++) {
		first = hook_of(r);
		for (other = requirements; first && other != r; other++)
			if (takes(other, first))
				first = NULL;
		if (!first)
			continue;
		fprintf(f, "%s:", first);
		for (other = r; other->id; other++)
			if (takes(other, first))
				fprintf(f, " %s%s", other->id,
					verdict_of(other) == SKIP ? "(skipped)" : "");
		fputc('\n', f);
	}
}

bool report_write(const char *path, const char *device)
{
	FILE *f = fopen(path, "we");

	if (f) {
		fprintf(f, "tern-conform: %s at %s, %zu points\n", device,
			options.target ?: "no target", count);
		write_sections(f);
		write_failures(f);
		write_hooks(f, device);
	}
	if (f && !ferror(f) && !fclose(f))
		return true;
	fprintf(stderr, "tern-conform: %s: %s\n", path, strerror(errno));
	return false;
}
