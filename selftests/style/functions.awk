# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Functions over `limit` lines: name, file, length. Kernel style is assumed: a
# body opens and closes with a brace in column 0. A comment that says
# "longer than" before the function gives the reason for its length.
/^[a-z].*[a-z0-9_]\(/ { name = $0; reason = pending; pending = 0 }
/longer than 60 lines/ { pending = 1 }
/^{/ { start = FNR }
/^}/ && start {
	len = FNR - start - 1
	if (len > limit && !reason) {
		sub(/\(.*/, "", name)
		printf "%s: %s has %d lines\n", FILENAME, name, len
	}
	start = 0
	reason = 0
}
