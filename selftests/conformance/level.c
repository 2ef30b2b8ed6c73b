// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* How much a test's failure says, by the rows of `requirements` that the test names. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

const struct requirement requirements[] = {
#include "requirements.inc"
	{}
};

static const struct {
	const char *word;
	enum level level;
} words[] = {
	{ "MUST", LEVEL_MUST }, { "MUST NOT", LEVEL_MUST }, { "required", LEVEL_MUST },
	{ "SHOULD", LEVEL_SHOULD }, { "SHOULD NOT", LEVEL_SHOULD },
	{ "recommended", LEVEL_SHOULD },
	{ "READING", LEVEL_READING }, { "POLICY", LEVEL_POLICY },
};

static const struct {
	const char *name;
	enum level level;
} names[] = {
	{ "MUST", LEVEL_MUST }, { "SHOULD", LEVEL_SHOULD }, { "reading", LEVEL_READING },
	{ "policy", LEVEL_POLICY }, { "self", LEVEL_SELF },
};

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

const struct requirement *requirement_of(const char *id)
{
	size_t len = strcspn(id, " ");
	const struct requirement *r;

	for (r = requirements; r->id; r++)
		if (strlen(r->id) == len && !strncmp(r->id, id, len))
			return r;
	fprintf(stderr, "tern-conform: no such requirement: %.*s\n", (int)len, id);
	exit(2);
}

/* MUST and SHOULD count in a row of an RFC only; any other row is a reading of ours, or
 * a policy if its word says so. */
enum level requirement_level(const struct requirement *r)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (!strcmp(r->word, words[i].word) &&
		    (words[i].level > LEVEL_SHOULD || !strncmp(r->document, "RFC", 3)))
			return words[i].level;
	return LEVEL_READING;
}

/* a row that exists because it contains a choice of ours */
static bool is_choice(const struct requirement *r)
{
	return !strcmp(r->word, "READING") || !strcmp(r->word, "POLICY");
}

enum level test_level(const struct conform_test *t)
{
	enum level level, best = LEVEL_READING;
	const struct requirement *r;
	const char *id;

	if (!strcmp(t->ids, "-"))
		return LEVEL_SELF;
	for (id = t->ids; *id; id += strcspn(id, " "), id += *id == ' ') {
		r = requirement_of(id);
		level = requirement_level(r);
		if (is_choice(r))
			return level;
		if (level < best)
			best = level;
	}
	return best;
}

const char *level_name(enum level level)
{
	size_t i;

	for (i = 0; i < COUNT(names) - 1 && names[i].level != level; i++)
		;
	return names[i].name;
}

unsigned int levels_of(const char *list)
{
	unsigned int found, levels = 0;
	size_t i, len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		found = 0;
		for (i = 0; i < COUNT(names); i++)
			if (strlen(names[i].name) == len &&
			    !strncasecmp(names[i].name, list, len))
				found = names[i].level;
		if (!found)
			return 0;
		levels |= found;
	}
	return levels;
}
