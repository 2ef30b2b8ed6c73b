// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Every object and opcode of the verbs API, on one pair of devices; this process drives
 * both hosts. Run by verbs.sh, which creates them.
 *
 *	verbs_test [WORD...]	only the tests whose name holds one of them
 */
#include <string.h>

#include "pair.h"

int main(int argc, char **argv)
{
	const char *type = getenv("TERN_TYPE");

	over_siw = type && !strcmp(type, "siw");
	enter_netns(NULL);
	return tap_run((const struct tap_theme *[]) {
		&data_theme, &queue_theme, &rights_theme, &limit_theme, &cm_theme,
		&answer_theme, &mapper_theme,
		/* siw supports none of the others */
		over_siw ? NULL : &mr_theme, &dmabuf_theme, &mw_theme,
		&mw_rights_theme, &charge_theme, &grace_theme, &cut_theme,
		&fallback_theme, &hole_theme, &idle_theme, NULL,
	}, argc - 1, argv + 1);
}
