#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# How the code reads: checkpatch --strict on C, kernel-doc on the driver, shellcheck on
# scripts, pipes that end well, no function over 60 lines and no file over 640, an SPDX
# line in every file.
#
#	style.sh CHECKPATCH	the script of a kernel source, with kernel-doc beside it
#
# checkpatch cannot parse the insides of TRACE_EVENT() and X-macros, and asks programs to
# use what only the kernel has. For those files only the checks named here are left out.
# nl_gen.[ch] are generated, and not checked.
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.."
checkpatch=${1:?usage: style.sh CHECKPATCH}
# The file list and the types of messages that do not apply to it.
run_checkpatch()
{
	local ignore=$1
	shift
	printf '%s\0' "$@" | xargs -0 -n 16 -P "$(nproc)" \
		perl "$checkpatch" --no-tree --strict --terse --show-types -f \
		--ignore "$ignore" 2>&1 | grep -v '^total:' || true
}

kernel_code()
{
	files 'drivers/tern/*.[ch]' 'selftests/kernel/*.[ch]' 'selftests/matrix/near_*.[ch]' \
		selftests/abuse/tern_cov.c
}

# EMBEDDED_FILENAME misfires on a file named sock.h that says "sock" in its text
common='EMBEDDED_FILENAME,LONG_LINE_COMMENT'
trace="$common,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,SPACING"
xmacro="$common,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,BRACKET_SPACE"

# Checks that do not apply to programs:
# - the kernel's helpers and its errno: u32, __printf, ARRAY_SIZE, BIT, kstrto;
#   -ENOSYS and -1 are what a libc and a provider return
program=$common,PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,BIT_MACRO
program+=,SSCANF_TO_KSTRTO,ENOSYS,USE_NEGATIVE_ERRNO
# - env-user.h is what READ_ONCE() and barriers are made of
program+=,VOLATILE,MEMORY_BARRIER
# - tables of tests: rows by X-macros, TEST() with its IDs in the second line, long
#   vectors of hex, texts that happen to say a function's name or end in a space
program+=,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,BRACKET_SPACE
program+=,PARENTHESIS_ALIGNMENT,SPLIT_STRING,EMBEDDED_FUNCTION_NAME
program+=,QUOTED_WHITESPACE_BEFORE_NEWLINE
# - names that libFuzzer and C11 chose, arrays that are declared in a header
program+=,CAMELCASE,STATIC_CONST_CHAR_ARRAY
# - comments of two lines that begin and end on a line with text
program+=,BLOCK_COMMENT_STYLE

checkpatch_kernel()
{
	local code=()

	mapfile -t code < <(kernel_code |
		grep -vE '/(trace|stats|nl_gen)\.[ch]$' || true)
	run_checkpatch "$common" "${code[@]}"
	run_checkpatch "$trace" drivers/tern/observe/trace.[ch]
	run_checkpatch "$xmacro" drivers/tern/observe/stats.[ch]
}

checkpatch_programs()
{
	local code=()

	mapfile -t code < <(files '*.[ch]' |
		grep -vE '^(drivers/tern/|selftests/(kernel/|matrix/near_|abuse/tern_cov))')
	run_checkpatch "$program" "${code[@]}"
}

kernel_doc()
{
	files 'drivers/tern/*.[ch]' |
		xargs python3 -B "$(dirname "$checkpatch")/kernel-doc" -none -Werror 2>&1 | sort -u
}

# scripts that are run, found by their first line, and those that are sourced
shell_scripts()
{
	files | while read -r f; do
		if [[ $f == *.sh ||
		      $(head -c 64 "$f" | head -n 1 | tr -d '\0') =~ ^#!.*[/\ ](ba)?sh ]]; then
			echo "$f"
		fi
	done
}

check_shell()
{
	shell_scripts | xargs -n 8 -P "$(nproc)" shellcheck -x -P SCRIPTDIR 2>&1 || true
}

long_functions()
{
	{ files '*.[ch]'; shell_scripts; } |
		xargs awk -v limit=60 -f selftests/style/functions.awk || true
	files '*.py' | xargs python3 selftests/style/functions.py 60 2>&1 || true
}

long_files()
{
	{ files '*.[ch]' '*.py' '*Makefile'; shell_scripts; } | sort -u |
		xargs wc -l | awk '$1 > 640 && $2 != "total" { print $2 ": " $1 " lines" }'
}

# every file has the one licence expression, except the netlink spec and what is
# generated from it (COPYING)
wrong_licence()
{
	local expression

	files '*.c' '*.h' '*.sh' '*.py' '*.S' 'Makefile' '*/Makefile' '*Kbuild*' '*.rst' |
		while read -r f; do
			[[ $(head -n 3 "$f") == *SPDX-License-Identifier* ]] ||
				echo "$f: no SPDX line"
		done
	files | grep -vE '^(LICENSES/|COPYING$|Documentation/netlink/|selftests/style/style.sh$)|/nl_gen.[ch]$|/tern-nl.h$' |
		xargs grep -IHoE 'SPDX-License-Identifier: .*' |
		while IFS= read -r line; do
			expression=${line#*Identifier: }
			expression=${expression% \*/}
			[ "$expression" = 'GPL-2.0 OR BSD-2-Clause' ] || echo "$line"
		done
	files '*.[ch]' | grep -vE '/nl_gen\.[ch]$|/tern-nl\.h$' |
		xargs grep -L 'Copyright .* The tern authors' | sed 's/$/: no copyright line/' || true
}

# grep -q at the end of a pipe: the writer sometimes gets SIGPIPE, which pipefail makes
# the result
quiet_greps()
{
	# shellcheck disable=SC2016 # perl's own
	shell_scripts | xargs perl -0777 -ne \
		'while (/\|\s*grep\s+-\w*q.*/g) { print "$ARGV: $&\n" }'
}

verdict checkpatch_strict_is_clean checkpatch_kernel
verdict checkpatch_strict_is_clean_on_programs checkpatch_programs
verdict kernel_doc_is_complete kernel_doc
verdict shellcheck_is_clean check_shell
verdict no_pipe_ends_in_a_quiet_grep quiet_greps
verdict no_function_over_60_lines long_functions
verdict no_file_over_640_lines long_files
verdict every_file_says_its_licence wrong_licence
finish
