/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The settings by name: one table for parsing and printing. */
#ifndef TERN_TOOL_SETTINGS_H
#define TERN_TOOL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/netlink.h>

struct nl_msg;
struct nlattr;

/**
 * setting_put() - add one setting to a request
 * @msg: message, inside the nest of settings
 * @name: as the user wrote it, '-' and '_' alike
 * @value: as the user wrote it
 *
 * Return: 0, or -1 with a message on stderr.
 */
int setting_put(struct nl_msg *msg, const char *name, const char *value);

/* print the settings in @nest, "name value" each, or as a JSON object */
void settings_print(struct nlattr *nest, bool json);

/**
 * setting_blame() - name the setting that the kernel refused
 * @dev: device
 * @attr: its attribute number
 * @why: the kernel's message
 *
 * Return: true when a message was printed on stderr.
 */
bool setting_blame(const char *dev, int attr, const char *why);

/* name of an RTR type, "?" for an unknown one */
const char *setting_rtr_name(uint32_t type);

/* print the names of enum tern_feature_flag's bits, or "none"; @json: as an array */
void features_print(uint32_t flags, bool json);

/* print @s as a JSON string; names of devices have no control characters */
void print_quoted(const char *s);

#endif /* TERN_TOOL_SETTINGS_H */
