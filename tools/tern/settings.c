// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The settings by name. The kernel checks the ranges. */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "tern.h"

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

static const struct nla_policy policy[COUNT] = {
	[1 ... COUNT - 1] = { .type = NLA_U32 },
};

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

/* room for the text of a value */
#define TEXT		128

const char *setting_name(int attr)
{
	return attr > 0 && attr < COUNT ? settings[attr].name : NULL;
}

const char *setting_range(int attr)
{
	return attr > 0 && attr < COUNT ? settings[attr].range : NULL;
}

bool settings_any(const struct settings *s)
{
	int i;

	for (i = 1; i < COUNT; i++)
		if (s->known[i])
			return true;
	return false;
}

/* ---- parsing ------------------------------------------------------------------ */

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

static bool parse_number(const char *text, uint32_t *value)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	*value = n;
	return !errno && !*end && *text >= '0' && *text <= '9' && n <= UINT32_MAX;
}

static bool parse_switch(const char *text, uint32_t *value)
{
	*value = !strcmp(text, "on");
	return *value || !strcmp(text, "off");
}

static bool parse_word(const char *const *words, const char *text, uint32_t *value)
{
	for (*value = 0; words[*value]; ++*value)
		if (!strcmp(words[*value], text))
			return true;
	return false;
}

/* is @name the first @len bytes of @text? */
static bool names(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && !strncmp(name, text, len);
}

static uint32_t rtr_type(const char *word, size_t len)
{
	int i;

	for (i = 1; i < RTR_COUNT; i++)
		if (names(word, len, rtr_names[i]))
			return i;
	return 0;
}

/* the kernel refuses a type that is there twice */
static bool parse_rtr(const char *text, uint32_t *list, uint32_t *count)
{
	size_t len;

	for (*count = 0; *count < SETTING_LIST; text += len + 1) {
		len = strcspn(text, ",");
		list[*count] = rtr_type(text, len);
		if (!list[(*count)++])
			return false;
		if (!text[len])
			return true;
	}
	return false;
}

static uint32_t feature_flag(const char *word, size_t len)
{
	int i;

	for (i = 0; i < FEATURE_COUNT; i++)
		if (names(word, len, features[i].name))
			return features[i].flag;
	return 0;
}

static bool parse_features(const char *text, uint32_t *flags)
{
	uint32_t flag;
	size_t len;

	*flags = 0;
	if (!strcmp(text, "none"))
		return true;
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		flag = feature_flag(text, len);
		if (!flag)
			return false;
		*flags |= flag;
		if (!text[len])
			return true;
	}
}

static bool parse_fpdu(const char *text, uint32_t *bytes)
{
	*bytes = 0;
	return !strcmp(text, "mss") || parse_number(text, bytes);
}

static bool parse_value(struct settings *s, int i, const char *text)
{
	uint32_t *value = &s->value[i];

	switch (settings[i].kind) {
	case NUMBER:
		return parse_number(text, value);
	case SWITCH:
		return parse_switch(text, value);
	case RTR:
		return parse_rtr(text, s->rtr, value);
	case WORD:
		return parse_word(settings[i].words, text, value);
	case FEATURES:
		return parse_features(text, value);
	case FPDU:
		return parse_fpdu(text, value);
	}
	return false;
}

/* "...; there are NAME NAME..." */
static void unknown(const char *name, char *why, size_t size)
{
	FILE *f = fmemopen(why, size, "w");

	if (!f)
		return;
	fprintf(f, "unknown setting '%.40s'; there are ", name);
	settings_names(f);
	fclose(f);
	why[size - 1] = '\0';
}

bool settings_parse(struct settings *s, const char *name, const char *value, char *why,
		    size_t size)
{
	int i = find(name);

	if (i < 0)
		unknown(name, why, size);
	else if (s->known[i])
		snprintf(why, size, "%s is there twice", settings[i].name);
	else if (!parse_value(s, i, value))
		snprintf(why, size, "%s: '%.80s' is not %s", settings[i].name, value,
			 settings[i].range);
	else
		return s->known[i] = true;
	return false;
}

/* ---- netlink -------------------------------------------------------------------- */

void settings_read(struct settings *s, struct nlattr *nest)
{
	struct nlattr *tb[COUNT], *attr;
	uint32_t n = 0;
	int i, rem;

	memset(s, 0, sizeof(*s));
	if (nla_parse_nested(tb, COUNT - 1, nest, policy) < 0)
		return;
	for (i = 1; i < COUNT; i++) {
		s->known[i] = tb[i];
		s->value[i] = tb[i] ? nla_get_u32(tb[i]) : 0;
	}
	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == TERN_A_SETTINGS_RTR && n < SETTING_LIST)
			s->rtr[n++] = nla_get_u32(attr);
	s->value[TERN_A_SETTINGS_RTR] = n;
}

static bool put_one(struct nl_msg *msg, const struct settings *s, int i)
{
	uint32_t n;

	if (settings[i].kind != RTR)
		return nla_put_u32(msg, i, s->value[i]) >= 0;
	for (n = 0; n < s->value[i]; n++)
		if (nla_put_u32(msg, i, s->rtr[n]) < 0)
			return false;
	return true;
}

bool settings_put(struct nl_msg *msg, const struct settings *s)
{
	struct nlattr *nest = nla_nest_start(msg, TERN_A_DEV_SETTINGS);
	int i;

	if (!nest)
		return false;
	for (i = 1; i < COUNT; i++)
		if (s->known[i] && !put_one(msg, s, i))
			return false;
	nla_nest_end(msg, nest);
	return true;
}

/* ---- printing ------------------------------------------------------------------- */

const char *rtr_name(uint32_t type)
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

/* add @word to the list in @buf */
static void add_word(char *buf, size_t size, const char *word)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s", len ? "," : "", word);
}

void features_text(uint32_t flags, char *buf, size_t size)
{
	int i;

	*buf = '\0';
	for (i = 0; i < FEATURE_COUNT; i++)
		if (flags & features[i].flag)
			add_word(buf, size, features[i].name);
	if (!*buf)
		snprintf(buf, size, "none");
}

struct json_object *features_json(uint32_t flags)
{
	struct json_object *list = json_object_new_array();
	int i;

	for (i = 0; i < FEATURE_COUNT; i++)
		if (flags & features[i].flag)
			json_object_array_add(list, json_object_new_string(features[i].name));
	return list;
}

static void text_of(const struct settings *s, int i, char *buf, size_t size)
{
	uint32_t value = s->value[i], n;

	*buf = '\0';
	switch (settings[i].kind) {
	case NUMBER:
		snprintf(buf, size, "%u", value);
		break;
	case SWITCH:
		snprintf(buf, size, "%s", value ? "on" : "off");
		break;
	case RTR:
		for (n = 0; n < value; n++)
			add_word(buf, size, rtr_name(s->rtr[n]));
		break;
	case WORD:
		snprintf(buf, size, "%s", word_name(i, value));
		break;
	case FEATURES:
		features_text(value, buf, size);
		break;
	case FPDU:
		if (value)
			snprintf(buf, size, "%u", value);
		else
			snprintf(buf, size, "mss");
		break;
	}
}

void settings_print(const struct settings *s, FILE *to, const char *indent, int width,
		    const char *between)
{
	char text[TEXT];
	int i;

	for (i = 1; i < COUNT; i++) {
		if (!s->known[i])
			continue;
		text_of(s, i, text, sizeof(text));
		fprintf(to, "%s%-*s%s%s\n", indent, width, settings[i].name, between, text);
	}
}

static struct json_object *json_of(const struct settings *s, int i)
{
	struct json_object *list;
	uint32_t n;

	switch (settings[i].kind) {
	case NUMBER:
		return json_object_new_int64(s->value[i]);
	case SWITCH:
		return json_object_new_boolean(s->value[i]);
	case RTR:
		list = json_object_new_array();
		for (n = 0; n < s->value[i]; n++)
			json_object_array_add(list, json_object_new_string(rtr_name(s->rtr[n])));
		return list;
	case WORD:
		return json_object_new_string(word_name(i, s->value[i]));
	case FEATURES:
		return features_json(s->value[i]);
	case FPDU:
		return s->value[i] ? json_object_new_int64(s->value[i]) :
				     json_object_new_string("mss");
	}
	return NULL;
}

struct json_object *settings_json(const struct settings *s)
{
	struct json_object *all = json_object_new_object();
	char key[TEXT], *c;
	int i;

	for (i = 1; i < COUNT; i++) {
		if (!s->known[i])
			continue;
		snprintf(key, sizeof(key), "%s", settings[i].name);
		for (c = key; *c; c++)
			if (*c == '-')
				*c = '_';
		json_object_object_add(all, key, json_of(s, i));
	}
	return all;
}

void settings_help(FILE *to)
{
	int i;

	for (i = 1; i < COUNT; i++)
		fprintf(to, "    %-12s %s\n", settings[i].name, settings[i].range);
}

void settings_names(FILE *to)
{
	int i;

	for (i = 1; i < COUNT; i++)
		fprintf(to, "%s%s", i > 1 ? " " : "", settings[i].name);
}
