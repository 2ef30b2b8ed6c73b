#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# How much of `requirements` is tested:
#
#	coverage.sh [-v] [TERN_CONFORM]
#
# A test cites an ID in its row of a table or in its name; comments do not count. The
# letters of a row say which tests count: W: a test of tern-conform, or one of net,
# between two hosts; V: these, or a test of verbs or kernel; C: all of these, a unit
# test, or a note in `reviewed`. One of the letters is enough; a row with W that only
# others cover counts as weak, too. `untestable` says why a row has no test. -v lists
# the rows that are missing or weak, and the lines that notes refer to. The last line
# and the status are about MUST and MUST NOT.

set -euo pipefail
cd "$(dirname "$0")"

verbose=0
if [ "${1:-}" = -v ]; then
	verbose=1
	shift
fi
conform=${1:-}
tests=..
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ -z "$conform" ]; then
	make -s OUTPUT="$tmp" "$tmp/tern-conform" >&2
	conform=$tmp/tern-conform
fi

# strings FILE...: print the strings between double quotes, without comments: the
# names and IDs in tables of tests, the names of points
strings()
{
	awk '
		FNR == 1 {
			comment = 0
			stop = FILENAME ~ /\.(sh|py)$/ ? "\"|#" : "\"|/[*]|//"
		}
		{
			line = $0
			out = ""
			while (line != "") {
				if (comment) {
					if (!match(line, /\*\//))
						break
					line = substr(line, RSTART + 2)
					comment = 0
				} else if (!match(line, stop)) {
					break
				} else if (substr(line, RSTART, 1) == "\"") {
					line = substr(line, RSTART + 1)
					match(line, /^([^"\\]|\\.)*/)
					out = out " " substr(line, 1, RLENGTH)
					line = substr(line, RLENGTH + 2)
				} else if (substr(line, RSTART, 2) == "/*") {
					line = substr(line, RSTART + 2)
					comment = 1
				} else {
					break
				}
			}
			if (out != "")
				print out
		}' "$@" /dev/null
}

# cited KIND FILE...: `KIND ID` for each ID in their strings; `MPA-001 to MPA-003` is
# three, and a row of a table only counts beside an ID with a number, or a Q
cited()
{
	local kind=$1
	shift
	strings "$@" | awk -v kind="$kind" '
		BEGIN { id = "((MPA|DDP|RDMAP|EXT|V2)-[0-9][0-9][0-9]|[GHMCFOPKQRS][1-9][0-9]?)" }
		!/(MPA|DDP|RDMAP|EXT|V2)-[0-9]|(^| )Q[1-9]/ { next }
		{
			line = $0
			last = ""
			while (match(line, id)) {
				before = RSTART > 1 ? substr(line, RSTART - 1, 1) : " "
				gap = substr(line, 1, RSTART - 1)
				one = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				if (before ~ /[A-Za-z0-9_-]/ || line ~ /^[A-Za-z0-9_]/) {
					last = ""
					continue
				}
				if (last != "" && gap == " to ")
					fill(last, one)
				print kind, one
				last = one
			}
		}
		function fill(a, b,   p, q, i, wide)
		{
			p = a; sub(/[0-9]+$/, "", p)
			q = b; sub(/[0-9]+$/, "", q)
			if (p != q)
				return
			wide = p ~ /-$/ ? "%s%03d" : "%s%d"
			sub(/^.*[^0-9]/, "", a); sub(/^.*[^0-9]/, "", b)
			for (i = a + 1; i < b + 0; i++)
				printf "%s " wide "\n", kind, p, i
		}'
}

"$conform" --list >"$tmp/list"
{
	cut -f2 "$tmp/list" | tr ' ' '\n' | sed '/^-\?$/d; s/^/wire /' | sort -u
	cited net "$tests"/net/*.sh "$tests"/net/*.py | sort -u
	cited verbs "$tests"/verbs/*.[ch] "$tests"/verbs/*.sh "$tests"/kernel/*.[ch] | sort -u
	cited unit "$tests"/core/*.c "$tests"/model/*.c "$tests"/fuzz/*.c | sort -u
} >"$tmp/cited"

# notes FILE COLUMNS: print its lines without comments; each must have COLUMNS columns
notes()
{
	awk -F'\t' -v n="$2" -v name="$1" '
		/^#/ || /^$/ { next }
		NF != n { print name ": not " n " columns: " $0 >"/dev/stderr"; exit 1 }
		{ print }' "$1"
}

# the text of a review note must occur in exactly one line of its file
check_places()
{
	local id file text why at bad=0

	while IFS=$'\t' read -r id file text why; do
		at=$(grep -nF -e "$text" "../../$file" | cut -d: -f1 | tr '\n' ' ' || true)
		if [[ $at != +([0-9])' ' ]]; then
			echo "reviewed: $id: $file has '$text' in lines '$at', not in one" >&2
			bad=1
		elif [ $verbose = 1 ]; then
			printf 'review\t%s\t%s:%s\t%s\n' "$id" "$file" "${at% }" "$why"
		fi
	done <"$tmp/reviewed"
	return $bad
}

notes requirements 6 >"$tmp/requirements"
notes reviewed 4 >"$tmp/reviewed"
notes untestable 2 >"$tmp/untestable"
check_places

awk -F'\t' -v verbose=$verbose '
	FILENAME ~ /requirements$/ {
		id[++n] = $1; doc[$1] = $2; level[$1] = $4; letters[$1] = $5; rule[$1] = $6
		next
	}
	FILENAME ~ /cited$/ {
		split($0, w, " ")
		if (w[2] in doc)
			has[w[1], w[2]] = 1
		else if (w[1] == "wire")
			fault("tern-conform: no such requirement: " w[2])
		next
	}
	!($1 in doc) { fault(FILENAME ": no such requirement: " $1); next }
	FILENAME ~ /reviewed$/ { has["review", $1] = 1; next }
	{ untestable[$1] = 1 }

	function fault(what) { sub(/^\/.*\//, "", what); print what >"/dev/stderr"; faults++ }

	function covered(i, letter)
	{
		if (index(letters[i], letter) == 0)
			return 0
		if (has["wire", i] || has["net", i])
			return 1
		if (letter != "W" && has["verbs", i])
			return 1
		return letter == "C" && (has["unit", i] || has["review", i])
	}

	# a note covers the row, and no test does
	function reviewed(i)
	{
		return has["review", i] && !has["wire", i] && !has["net", i] &&
			!has["verbs", i] && !has["unit", i]
	}

	function verdict(i)
	{
		if (level[i] == "n/a")
			return "n/a"
		if (covered(i, "W"))
			return "tested"
		if (covered(i, "V") || covered(i, "C"))
			return index(letters[i], "W") ? "weak" : "tested"
		return i in untestable ? "untestable" : "missing"
	}

	function count(k, what)
	{
		if (!(k in all))
			order[++kinds] = k
		all[k]++
		sum[k, what]++
		if (what == "weak")
			sum[k, "tested"]++
	}

	function row(k)
	{
		printf "%-32s %4d %7d %5d %11d %8d\n", k, all[k], sum[k, "tested"],
			sum[k, "weak"], sum[k, "untestable"] + sum[k, "n/a"], sum[k, "missing"]
	}

	END {
		for (k = 1; k <= n; k++) {
			i = id[k]
			what = verdict(i)
			if (i in untestable && (what == "tested" || what == "weak"))
				fault("untestable: " i " is tested")
			count(doc[i] ", " level[i], what)
			count("all", what)
			if (level[i] ~ /^MUST/) {
				count("MUST", what)
				notes += reviewed(i)
			}
			if (verbose && (what == "missing" || what == "weak"))
				printf "%s\t%s\t%s\t%s\t%s\n", what, i, level[i], letters[i], rule[i]
		}
		printf "%-32s %4s %7s %5s %11s %8s\n", "", "all", "tested", "weak", \
			"untestable", "missing"
		for (k = 1; k <= kinds; k++)
			if (order[k] != "MUST" && order[k] != "all")
				row(order[k])
		row("all")
		k = "MUST"
		printf "MUST %d/%d tested, %d of them by review notes alone, " \
			"%d untestable, %d missing\n", sum[k, "tested"], all[k], notes,
			sum[k, "untestable"], sum[k, "missing"]
		exit faults > 0 || sum[k, "missing"] > 0
	}' "$tmp/requirements" "$tmp/cited" "$tmp/reviewed" "$tmp/untestable"
