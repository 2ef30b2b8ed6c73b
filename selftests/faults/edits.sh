#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The lists of planted faults name lines of the sources. Each command of an edit still
# changes its file, each range of lines ends where its second address says, and no name
# stands twice: a fault that plants nothing, or half of it, is found by nobody, and the
# runs that would say so are long.

set -euo pipefail
cd "$(dirname "$0")/.."

bad=0 n=0

# try KIND SCRIPT FILE: set $wrong to what is wrong with a part (see commands.awk); $now is
# the file after the commands before it. A process for each of 1900 parts is enough.
try()
{
	local before=$now

	wrong=
	case $1 in
	range)
		[ -n "$(sed -n "$2" "$3")" ] || wrong="no such range: $2"
		;;
	command)
		now=$(sed "$2" <<<"$now")
		[ "$now" != "$before" ] || wrong="changes nothing: $2"
		;;
	whole)
		[ "$(sed "$2" "$3")" = "$now" ] || wrong="differs from its commands: $2"
		;;
	esac
}

# idle LIST FOLDER...: the faults of a list of which a part plants nothing; their files
# are in the first of the folders that has them
idle()
{
	local list=$1 name file kind script folder last='' now='' wrong
	shift

	while IFS='@' read -r name file kind script; do
		for folder; do
			[ ! -f "$folder/$file" ] || break
		done
		[ "$name" = "$last" ] || now=$(<"$folder/$file")
		last=$name
		try "$kind" "$script" "$folder/$file"
		[ -z "$wrong" ] || echo "$name: $file: $wrong"
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
