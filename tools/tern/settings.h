/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The settings by name: one table for parsing, printing and help. */
#ifndef TERN_TOOL_SETTINGS_H
#define TERN_TOOL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <rdma/tern-nl.h>

struct json_object;
struct nl_msg;
struct nlattr;

/* longer than any list in which each type is once */
#define SETTING_LIST	8

/**
 * struct settings - those settings that are known
 * @known: the setting with this attribute number is
 * @value: its value, as the kernel has it; a list's number of elements
 * @rtr: the list of RTR types
 */
struct settings {
	bool known[TERN_A_SETTINGS_MAX + 1];
	uint32_t value[TERN_A_SETTINGS_MAX + 1];
	uint32_t rtr[SETTING_LIST];
};

/**
 * settings_parse() - add one setting
 * @s: settings
 * @name: as the user wrote it, '-' and '_' alike
 * @value: as the user wrote it
 * @why: result: what is wrong, in a line
 * @size: size of @why
 *
 * Return: true if nothing is wrong. The kernel checks the ranges.
 */
bool settings_parse(struct settings *s, const char *name, const char *value, char *why,
		    size_t size);

/* is any known? */
bool settings_any(const struct settings *s);

/* those in a nest of the kernel */
void settings_read(struct settings *s, struct nlattr *nest);

/* add the nest TERN_A_DEV_SETTINGS to @msg; Return: true, false if it does not fit */
bool settings_put(struct nl_msg *msg, const struct settings *s);

/**
 * settings_print() - a line for each
 * @s: settings
 * @to: where
 * @indent: before the name
 * @width: of the name, with blanks after it
 * @between: after the name
 */
void settings_print(const struct settings *s, FILE *to, const char *indent, int width,
		    const char *between);

struct json_object *settings_json(const struct settings *s);

/* the names and what each takes, in lines; or the names alone, in a line */
void settings_help(FILE *to);
void settings_names(FILE *to);

/* name of a setting by its attribute, and what it takes; NULL for an unknown one */
const char *setting_name(int attr);
const char *setting_range(int attr);

/* name of an RTR type, "?" for an unknown one */
const char *rtr_name(uint32_t type);

/* names of enum tern_feature_flag's bits with commas between, or "none" */
void features_text(uint32_t flags, char *buf, size_t size);
struct json_object *features_json(uint32_t flags);

#endif /* TERN_TOOL_SETTINGS_H */
