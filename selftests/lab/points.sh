# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by tests of the lab whose points are functions of their own. Each point is a process,
# where the first command that fails ends it: bash goes on after that in a function whose status
# its caller looks at, and the point would have the status of its last command. So the script
# runs its arguments when they are `--point FUNCTION ARG...`, and exports what they need.

: "${suite:?the first half of the names}"
n=0 failed=0

# point NAME FUNCTION [ARG...]: a line of TAP, and the end of the output if it fails
point()
{
	local name=$1 output status=0

	n=$((n + 1))
	shift
	output=$("$0" --point "$@" 2>&1 </dev/null) || status=$?
	if [ $status = 0 ]; then
		echo "ok $n - ${suite}__$name"
	else
		tail -n 40 <<<"$output" | sed 's/^/# /'
		echo "not ok $n - ${suite}__$name"
		failed=1
	fi
	return $status
}

# plan: what comes last
plan()
{
	echo "1..$n"
	return $failed
}
