// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The settings by name. The kernel checks the ranges. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/tern-nl.h>

#include "settings.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum kind { NUMBER, SWITCH, RTR, WORD, FEATURES, FPDU };

/* the value of a setting of kind WORD is the index of its word */
static const char *const rnic_words[] = {
	[TERN_RNIC_TYPE_NON_PERMISSIVE] = "non-permissive",
	[TERN_RNIC_TYPE_PERMISSIVE] = "permissive",
	[TERN_RNIC_TYPE_RDMAC] = "rdmac",
	NULL
};

static const char *const early_words[] = {
	[TERN_EARLY_OCTETS_REFUSE] = "refuse",
	[TERN_EARLY_OCTETS_TOLERATE] = "tolerate",
	NULL
};

static const char *const extension_words[] = {
	[TERN_EXTENSION_MODE_OFF] = "off",
	[TERN_EXTENSION_MODE_NEGOTIATE] = "negotiate",
	[TERN_EXTENSION_MODE_ASSUME_7306] = "assume-7306",
	NULL
};

static const struct setting {
	const char *name;
	enum kind kind;
	const char *range;
	const char *const *words;
} settings[] = {
	[TERN_A_SETTINGS_MPA_REV] = { "mpa-rev", NUMBER, "1 or 2" },
	[TERN_A_SETTINGS_CRC] = { "crc", SWITCH, "on or off" },
	[TERN_A_SETTINGS_MARKERS] = { "markers", SWITCH, "on or off" },
	[TERN_A_SETTINGS_P2P] = { "p2p", SWITCH, "on or off" },
	[TERN_A_SETTINGS_RTR] = { "rtr", RTR,
				  "a list of write, read and send, each once" },
	[TERN_A_SETTINGS_REQUEST_MS] = { "request-ms", NUMBER, "1 to 600000" },
	[TERN_A_SETTINGS_REPLY_MS] = { "reply-ms", NUMBER, "1 to 600000" },
	[TERN_A_SETTINGS_RTR_MS] = { "rtr-ms", NUMBER, "1 to 600000" },
	[TERN_A_SETTINGS_CLOSE_MS] = { "close-ms", NUMBER, "1 to 600000" },
	[TERN_A_SETTINGS_HALF_OPEN] = { "half-open", NUMBER, "1 to 65536" },
	[TERN_A_SETTINGS_RNIC] = { "rnic", WORD,
				   "non-permissive, permissive or rdmac",
				   rnic_words },
	[TERN_A_SETTINGS_ENHANCED] = { "enhanced", SWITCH, "on or off" },
	[TERN_A_SETTINGS_EARLY_OCTETS] = { "early-octets", WORD,
					   "refuse or tolerate", early_words },
	[TERN_A_SETTINGS_KEEPALIVE_S] = { "keepalive-s", NUMBER, "0 to 7200" },
	[TERN_A_SETTINGS_EXTENSIONS] = { "extensions", WORD,
					 "off, negotiate or assume-7306",
					 extension_words },
	[TERN_A_SETTINGS_FEATURES] = { "features", FEATURES,
				       "none, or a list of 7306, v2 and long-fpdu" },
	[TERN_A_SETTINGS_MAX_FPDU] = { "max-fpdu", FPDU, "mss, or 1024 to 64750" },
};

#define COUNT		((int)ARRAY_SIZE(settings))

static const char *const rtr_names[] = {
	[TERN_RTR_TYPE_WRITE] = "write",
	[TERN_RTR_TYPE_READ] = "read",
	[TERN_RTR_TYPE_SEND] = "send",
};

#define RTR_COUNT	((int)ARRAY_SIZE(rtr_names))

static const struct feature {
	const char *name;
	uint32_t flag;
} features[] = {
	{ "7306", TERN_FEATURE_FLAG_7306 },
	{ "v2", TERN_FEATURE_FLAG_V2 },
	{ "long-fpdu", TERN_FEATURE_FLAG_LONG_FPDU },
};

#define FEATURE_COUNT	((int)ARRAY_SIZE(features))

static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != (*b == '_' ? '-' : *b))
			return false;
	return !*a && !*b;
}

static int find(const char *name)
{
	int i;

	for (i = 1; i < COUNT; i++)
		if (same_name(settings[i].name, name))
			return i;
	return -1;
}

bool setting_blame(const char *dev, int attr, const char *why)
{
	if (attr <= 0 || attr >= COUNT)
		return false;
	fprintf(stderr, "tern: %s: %s: %s (it takes %s)\n", dev,
		settings[attr].name, why, settings[attr].range);
	return true;
}

/* ---- parsing ------------------------------------------------------------------ */

static int bad_value(int i, const char *value)
{
	fprintf(stderr, "tern: %s: '%s' is not %s\n", settings[i].name, value,
		settings[i].range);
	return -1;
}

static int put_u32(struct nl_msg *msg, int i, uint32_t value)
{
	if (nla_put_u32(msg, i, value) < 0) {
		fprintf(stderr, "tern: the request is too long\n");
		return -1;
	}
	return 0;
}

static int put_number(struct nl_msg *msg, int i, const char *value)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || end == value || *value == '-' || n > UINT32_MAX)
		return bad_value(i, value);
	return put_u32(msg, i, n);
}

static int put_switch(struct nl_msg *msg, int i, const char *value)
{
	if (!strcmp(value, "on"))
		return put_u32(msg, i, 1);
	if (!strcmp(value, "off"))
		return put_u32(msg, i, 0);
	return bad_value(i, value);
}

static int put_word(struct nl_msg *msg, int i, const char *value)
{
	int n;

	for (n = 0; settings[i].words[n]; n++)
		if (!strcmp(settings[i].words[n], value))
			return put_u32(msg, i, n);
	return bad_value(i, value);
}

static int rtr_type(const char *word, size_t len)
{
	int i;

	for (i = 1; i < RTR_COUNT; i++)
		if (strlen(rtr_names[i]) == len &&
		    !strncmp(rtr_names[i], word, len))
			return i;
	return -1;
}

static int put_rtr(struct nl_msg *msg, int i, const char *value)
{
	const char *word = value;
	size_t len;
	int type;

	for (;; word += len + 1) {
		len = strcspn(word, ",");
		type = rtr_type(word, len);
		if (type < 0)
			return bad_value(i, value);
		if (put_u32(msg, i, type))
			return -1;
		if (!word[len])
			return 0;
	}
}

/* 0: no such feature */
static uint32_t feature_flag(const char *word, size_t len)
{
	int i;

	for (i = 0; i < FEATURE_COUNT; i++)
		if (strlen(features[i].name) == len &&
		    !strncmp(features[i].name, word, len))
			return features[i].flag;
	return 0;
}

/* the kernel refuses those that it does not have */
static int put_features(struct nl_msg *msg, int i, const char *value)
{
	const char *word = value;
	uint32_t flag, flags = 0;
	size_t len;

	if (!strcmp(value, "none"))
		return put_u32(msg, i, 0);
	for (;; word += len + 1) {
		len = strcspn(word, ",");
		flag = feature_flag(word, len);
		if (!flag)
			return bad_value(i, value);
		flags |= flag;
		if (!word[len])
			return put_u32(msg, i, flags);
	}
}

static int put_fpdu(struct nl_msg *msg, int i, const char *value)
{
	return strcmp(value, "mss") ? put_number(msg, i, value) : put_u32(msg, i, 0);
}

int setting_put(struct nl_msg *msg, const char *name, const char *value)
{
	int i = find(name);

	if (i < 0) {
		fprintf(stderr, "tern: unknown setting '%s'; there are", name);
		for (i = 1; i < COUNT; i++)
			fprintf(stderr, " %s", settings[i].name);
		fputc('\n', stderr);
		return -1;
	}
	switch (settings[i].kind) {
	case NUMBER:
		return put_number(msg, i, value);
	case SWITCH:
		return put_switch(msg, i, value);
	case RTR:
		return put_rtr(msg, i, value);
	case WORD:
		return put_word(msg, i, value);
	case FEATURES:
		return put_features(msg, i, value);
	case FPDU:
		return put_fpdu(msg, i, value);
	}
	return -1;
}

/* ---- printing ------------------------------------------------------------------- */

const char *setting_rtr_name(uint32_t type)
{
	return type > 0 && type < RTR_COUNT ? rtr_names[type] : "?";
}

static const char *word_name(int i, uint32_t value)
{
	uint32_t n;

	for (n = 0; settings[i].words[n]; n++)
		if (n == value)
			return settings[i].words[n];
	return "?";
}

static void print_rtr(struct nlattr *nest, bool json)
{
	const char *sep = "";
	struct nlattr *attr;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != TERN_A_SETTINGS_RTR)
			continue;
		printf(json ? "%s\"%s\"" : "%s%s", sep,
		       setting_rtr_name(nla_get_u32(attr)));
		sep = json ? ", " : ",";
	}
}

void features_print(uint32_t flags, bool json)
{
	const char *sep = "";
	int i;

	printf(json ? "[" : flags ? "" : "none");
	for (i = 0; i < FEATURE_COUNT; i++) {
		if (!(flags & features[i].flag))
			continue;
		printf(json ? "%s\"%s\"" : "%s%s", sep, features[i].name);
		sep = json ? ", " : ",";
	}
	if (json)
		putchar(']');
}

static void print_text(struct nlattr *nest, struct nlattr **tb, int i)
{
	printf("    %-12s ", settings[i].name);
	if (settings[i].kind == RTR)
		print_rtr(nest, false);
	else if (settings[i].kind == SWITCH)
		printf("%s", nla_get_u32(tb[i]) ? "on" : "off");
	else if (settings[i].kind == WORD)
		printf("%s", word_name(i, nla_get_u32(tb[i])));
	else if (settings[i].kind == FEATURES)
		features_print(nla_get_u32(tb[i]), false);
	else if (settings[i].kind == FPDU && !nla_get_u32(tb[i]))
		printf("mss");
	else
		printf("%u", nla_get_u32(tb[i]));
	putchar('\n');
}

static void print_json(struct nlattr *nest, struct nlattr **tb, int i)
{
	const char *c;

	putchar('"');
	for (c = settings[i].name; *c; c++)
		putchar(*c == '-' ? '_' : *c);
	printf("\": ");
	if (settings[i].kind == RTR) {
		putchar('[');
		print_rtr(nest, true);
		putchar(']');
	} else if (settings[i].kind == SWITCH) {
		printf("%s", nla_get_u32(tb[i]) ? "true" : "false");
	} else if (settings[i].kind == WORD) {
		printf("\"%s\"", word_name(i, nla_get_u32(tb[i])));
	} else if (settings[i].kind == FEATURES) {
		features_print(nla_get_u32(tb[i]), true);
	} else if (settings[i].kind == FPDU && !nla_get_u32(tb[i])) {
		printf("\"mss\"");
	} else {
		printf("%u", nla_get_u32(tb[i]));
	}
}

void settings_print(struct nlattr *nest, bool json)
{
	struct nlattr *tb[COUNT];
	const char *sep = "";
	int i;

	if (nla_parse_nested(tb, COUNT - 1, nest, NULL) < 0)
		return;
	if (json)
		putchar('{');
	for (i = 1; i < COUNT; i++) {
		if (!tb[i])
			continue;
		if (json) {
			fputs(sep, stdout);
			sep = ", ";
			print_json(nest, tb, i);
		} else {
			print_text(nest, tb, i);
		}
	}
	if (json)
		putchar('}');
}

void print_quoted(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
	putchar('"');
}
