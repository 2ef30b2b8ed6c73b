# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by the checks of this folder: each of their points is a function that prints
# what breaks a rule, a line each, and prints nothing when nothing does.

echo "TAP version 13"
points=0 failed=0

# verdict NAME FUNCTION [ARG]...: one point, named after its script. What the function
# says on stderr counts too, so that a tool that is missing is not a pass. If
# TERN_STYLE_POINT is set, only the points that it names run.
verdict()
{
	local name found
	name=$(basename "$0" .sh)__$1
	shift
	[[ " ${TERN_STYLE_POINT:-$name} " == *" $name "* ]] || return 0
	points=$((points + 1))
	found=$("$@" 2>&1) || true
	if [ -n "$found" ]; then
		sed -n '1,60s/^/# /p' <<<"$found"
		echo -n 'not '
		failed=1
	fi
	echo "ok $points - $name"
}

# finish: the plan and the status of the script
finish()
{
	echo "1..$points"
	exit "$failed"
}

# files [PATTERN]...: of the work tree, those that git ignores left out
files()
{
	git ls-files --cached --others --exclude-standard -- "$@" |
		while read -r f; do
			[ ! -f "$f" ] || echo "$f"
		done
}
