#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The lists of planted faults name lines of the sources. Each command of an edit still
# changes its file, each range of lines ends where its second address says, and no name
# stands twice: a fault that plants nothing, or half of it, is found by nobody, and the
# runs that would say so are long.

set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0 n=0

# try KIND SCRIPT FILE: say what is wrong with a part (see commands.awk); $tmp/now is the
# file after the commands before it
try()
{
	case $1 in
	range)
		[ -n "$(sed -n "$2" "$3")" ] || echo "no such range: $2"
		;;
	command)
		sed "$2" "$tmp/now" >"$tmp/next"
		! cmp -s "$tmp/now" "$tmp/next" || echo "changes nothing: $2"
		mv "$tmp/next" "$tmp/now"
		;;
	whole)
		sed "$2" "$3" | cmp -s - "$tmp/now" || echo "differs from its commands: $2"
		;;
	esac
}

# idle LIST FOLDER...: the faults of a list of which a part plants nothing; their files
# are in the first of the folders that has them
idle()
{
	local list=$1 name file kind script folder last=
	shift

	while IFS='@' read -r name file kind script; do
		for folder; do
			[ ! -f "$folder/$file" ] || break
		done
		[ "$name" = "$last" ] || cp "$folder/$file" "$tmp/now"
		last=$name
		try "$kind" "$script" "$folder/$file" | sed "s|^|$name: $file: |"
	done < <(awk -f faults/commands.awk "$list")
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
echo 1..4
check verbs/faults.list ../drivers/tern ..
check conformance/faults.list ../drivers/tern conformance
check fuzz/mutants.list ../drivers/tern/core ../drivers/tern/stream
check style/faults.list ..
exit $bad
