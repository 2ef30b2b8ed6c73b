#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run TAP programs one after the other; print their output and the totals. A program
# that dies without a "not ok" counts as one failure. RUN is an emulator of the machine that
# programs were built for; scripts run without it.
set -euo pipefail

passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

count() {
	grep -c -E "$1" "$log" || true
}

for prog in "$@"; do
	echo "# $(basename "$prog")"
	status=0
	run=()
	[[ $prog == *.sh ]] || read -ra run <<<"${RUN:-}"
	"${run[@]}" "$prog" 2>&1 | tee "$log" || status=$?
	bad=$(count '^not ok ')
	skip=$(count '^ok .*# SKIP')
	if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
		echo "not ok - $(basename "$prog") ended with status $status"
		bad=1
	fi
	passed=$((passed + $(count '^ok ') - skip))
	skipped=$((skipped + skip))
	failed=$((failed + bad))
done
echo "# $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
