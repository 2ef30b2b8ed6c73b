// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

const char *module_kernel(void)
{
	static struct utsname name;

	uname(&name);
	return name.release;
}

/* depmod lists each module in modules.dep: its path, a colon, those that it needs */
bool module_is_installed(void)
{
	char path[sizeof(struct utsname)], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", module_kernel());
	file = fopen(path, "r");
	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0) {
		line[strcspn(line, ":")] = 0;
		found = strstr(line, "/tern.ko");
	}
	free(line);
	fclose(file);
	return found;
}
