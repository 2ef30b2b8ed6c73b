#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The lists of planted faults name lines of the sources. Each edit still changes its
# file, and no name stands twice: a fault that plants nothing is found by nobody, and
# the runs that would say so are long.

set -euo pipefail
cd "$(dirname "$0")/.."

out=$(mktemp)
trap 'rm -f "$out"' EXIT
bad=0 n=0

# idle LIST FOLDER...: the faults of a list that plant nothing; their files are in the
# first of the folders that has them
idle()
{
	local list=$1 name file edit folder
	shift

	while IFS='@' read -r name file edit _; do
		read -r name <<<"$name"
		read -r file <<<"$file"
		[[ -n $name && $name != \#* ]] || continue
		for folder; do
			[ ! -f "$folder/$file" ] || break
		done
		sed "$edit" "$folder/$file" >"$out" || { echo "$name: no edit"; continue; }
		! cmp -s "$out" "$folder/$file" || echo "$name: changes nothing of $file"
	done <"$list"
	sed -n 's/ *@.*//p' "$list" | sort | uniq -d | sed 's/$/: stands twice/'
}

# check LIST FOLDER...
check()
{
	local found=()
	n=$((n + 1))
	mapfile -t found < <(idle "$@" 2>&1)
	if [ ${#found[@]} = 0 ]; then
		echo "ok $n - each fault of $1 plants something"
	else
		echo "not ok $n - each fault of $1 plants something"
		printf '# %s\n' "${found[@]}"
		bad=1
	fi
}

echo TAP version 13
echo 1..3
check verbs/faults.list ../drivers/tern ..
check conformance/faults.list ../drivers/tern conformance
check fuzz/mutants.list ../drivers/tern/core
exit $bad
