# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Functions over `limit` lines, of C and of shell: name, file, length. Kernel style
# is assumed: a body closes with a brace in column 0, and opens with one, or, in
# shell, at the end of the first line. A comment that says "longer than" before the
# function gives the reason for its length.
FNR == 1 { start = 0; pending = 0 }
/^[A-Za-z].*[A-Za-z0-9_]\(/ { name = $0; reason = pending; pending = 0 }
/longer than 60 lines/ { pending = 1 }
/^{/ || /^[a-z][a-z0-9_-]*\(\) *{ *$/ { start = FNR }
/^}/ && start {
	len = FNR - start - 1
	if (len > limit && !reason) {
		sub(/^TEST\(/, "", name)
		sub(/[(,].*/, "", name)
		printf "%s: %s has %d lines\n", FILENAME, name, len
	}
	start = 0
	reason = 0
}
