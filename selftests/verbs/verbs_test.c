// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Every object and opcode of item 3, against one pair of devices; both hosts
 * are played by this one process. Run by verbs.sh, which makes the hosts.
 *
 *	verbs_test [WORD]	only the tests whose name holds WORD
 */
#include <string.h>

#include "pair.h"

int main(int argc, char **argv)
{
	static struct tap_test all[160];
	const char *type = getenv("TERN_TYPE");
	unsigned int n = 0;

	over_siw = type && !strcmp(type, "siw");
	enter_netns(NULL);
#define ADD(theme) do {							\
	memcpy(all + n, theme##_tests, theme##_count * sizeof(*all));	\
	n += theme##_count;						\
} while (0)
	ADD(data);
	ADD(queue);
	ADD(rights);
	ADD(limit);
	ADD(cm);
	/* siw has neither */
	if (!over_siw) {
		ADD(mr);
		ADD(mw);
		ADD(mw_rights);
	}
	return tap_run(all, n, argc > 1 ? argv[1] : NULL);
}
