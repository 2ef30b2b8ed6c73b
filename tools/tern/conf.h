/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Files of links: see tern-link(5). */
#ifndef TERN_TOOL_CONF_H
#define TERN_TOOL_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "dev.h"

#define CONF_DIR	"/etc/tern/links"

/**
 * struct conf - a link as a file describes it
 * @file: path of the file
 * @name: name of the link, that of the file
 * @netdev: name of the netdev
 * @settings: those that are in the file
 */
struct conf {
	char file[PATH_MAX];
	char name[DEV_NAME_MAX];
	char netdev[IFNAMSIZ];
	struct settings settings;
};

/**
 * conf_find() - the file of a link
 * @conf: result: file and name
 * @word: a link's name, or the path of a file: that has a '/' in it
 *
 * Return: true, or false after a message.
 */
bool conf_find(struct conf *conf, const char *word);

/* read @conf->file; Return: true, or false after a message that names the line */
bool conf_read(struct conf *conf);

/* write a file's lines for @dev */
void conf_print(FILE *to, const struct device *dev);

/* replace the file of the link @dev, or keep it; Return: true, or false after a message */
bool conf_save(const struct device *dev);

/**
 * conf_each() - call @fn for each file of a link, in the order of their names
 * @fn: function; an exit status
 * @arg: its second argument
 *
 * Return: DONE, or FAILED if one of them was not.
 */
int conf_each(int (*fn)(const char *name, void *arg), void *arg);

#endif /* TERN_TOOL_CONF_H */
