# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by `check`: second runs. When all parts are over, each failed point is run once
# more, alone. If it passes then, it is FLAKY, and the run goes on; the third FLAKY point
# fails the run. Never run again are failures that `results` calls final, the parts in
# $never_again, and points in the list of those that were FLAKY before.
#
# The names of FLAKY points are appended to the file $TERN_FLAKY, as lab/run does with a
# guest that it booted twice.

# needs: this folder, the folder of the logs, selftests/flaky
: "${runner:?}" "${logs:?}" "${flaky_list:?}" "${never_again?}"
narrow=''	# arguments that pick some points of a unit, for the parts
flaky_most=2	# FLAKY points that a run may have
units_most=6	# more that failed are no chance, and are not run again

# print lines of LIST without a cause; the form is NAME, a tab, the cause
flaky_without_cause()
{
	awk -F'\t' '!/^#/ && !/^$/ && (NF != 2 || $1 == "" || $2 == "")' "$1"
}

# flaky_cause NAME: its cause in the list, if it was FLAKY before
flaky_cause()
{
	awk -F'\t' -v name="$1" '!/^#/ && $1 == name { print $2; exit }' "$flaky_list"
}

# full_name PART UNIT POINT: the name of a point in the list, which begins with that of
# the script or part
full_name()
{
	local unit=$2

	[[ $unit == *:* ]] || unit=$1
	echo "$unit${3:+: $3}"
}

# failed_points PART: "UNIT<tab>POINT<tab>WHY"; WHY: the reason not to run it again
failed_points()
{
	local unit point why cause

	"$runner/results" "$logs/$1.log" | sed -n 's/^fail\t//p' |
		while IFS= read -r line; do
			unit=${line%%$'\t'*} line=${line#*$'\t'}
			point=${line%%$'\t'*} why=${line#*$'\t'}
			cause=$(flaky_cause "$(full_name "$1" "$unit" "$point")")
			if [[ " $never_again " == *" $1 "* ]]; then
				why="no point of the part $1 is"
			elif [ -n "$cause" ]; then
				why="it was FLAKY before: $cause"
			fi
			printf '%s\t%s\t%s\n' "$unit" "$point" "$why"
		done
}

# argument UNIT POINT: the argument that selects the point, for programs that have one;
# those of verbs run each test whose name, PROGRAM.NAME, has the word
argument()
{
	case $1 in
	kernel:kverbs.sh) echo "$2" ;;
	conformance:*)	echo "${2%%\[*}" ;;
	net:interop.sh)	echo "${2// /_}" ;;
	verbs:*)	[[ $2 != [a-z_]*.* ]] || longest_word "${2#*.}" ;;
	esac
}

longest_word()
{
	tr ' ' '\n' <<<"$1" | awk 'length > length(best) { best = $0 } END { print best }'
}

# arguments UNIT POINT...: the arguments for all, or nothing, which means the whole unit
arguments()
{
	local unit=$1 point word words=()

	shift
	for point; do
		word=$(argument "$unit" "$point")
		# a space would split it, and a quote would end the string around it
		if [[ -z $word || $word == *[\'\ ]* || $point == "Bail out!"* ]]; then
			return
		fi
		words+=("$word")
	done
	echo "${words[*]}"
}

# excerpt LOG UNIT POINT: the output about the point, then that of the kernel
excerpt()
{
	awk -v unit="$2" -v point="$3" '
		function show(   i)
		{
			for (i = kept > 40 ? kept - 39 : 1; i <= kept; i++)
				print lines[i]
		}
		function is_point(line)
		{
			sub(/^(# )?(not )?ok ([0-9]+ )?(- )?/, "", line)
			sub(/ # .*/, "", line)
			return point != "" && line == point
		}
		/^# selftests: [a-z]+: [^ ]+$/ { script = $3 $4; kept = 0 }
		unit ~ /:/ && script != unit { next }
		/^# dmesg: / {
			if (mine) { show(); shown = 1 }
			mine = kept = 0
			if (shown && dmesg++ < 60) print
			next
		}
		/^(# )?(not )?ok / {
			if (mine) { show(); shown = 1 }
			if (mine || !is_point($0)) kept = 0
			mine = is_point($0)
		}
		{ lines[++kept] = $0 }
		/^(not )?ok [0-9]+ selftests: / {
			if (point == "" || point ~ /^Bail out!/) show()
			script = ""
			mine = kept = 0
		}
		END { if (mine) show() }' "$1"
}

# console PATH_WITHOUT_SUFFIX: the paths of the consoles of its guests, if any
console()
{
	local file

	for file in "$1"/console*.log "$1"/*/console*.log; do
		[ ! -f "$file" ] || printf ', %s' "$file"
	done
}

# tell_flaky PART UNIT POINT SECOND: print both runs
tell_flaky()
{
	local name
	name=$(full_name "$1" "$2" "$3")

	echo "FLAKY - $name"
	echo "# first run ($logs/$1.log$(console "$logs/$1")):"
	excerpt "$logs/$1.log" "$2" "$3" | sed 's/^/#   /'
	echo "# second run, alone ($4.log$(console "$4")):"
	excerpt "$4.log" "$2" "$3" | sed 's/^/#   /'
	printf '# a defect of the test or of tern: mend it, and add to selftests/flaky: %s\tCAUSE\n' \
		"$name"
}

# passes_now LOG POINT: the point passed without being skipped, and so did the unit
passes_now()
{
	case $2 in
	''|'Bail out!'*) "$runner/results" "$1" | grep '^ok' >/dev/null ;;
	*)	"$runner/results" "$1" | cut -f1,3 | grep -xF "ok"$'\t'"$2" >/dev/null ;;
	esac
}

# run_again PART UNIT POINT...: run it alone, with its log and consoles kept apart
run_again()
{
	local part=$1 unit=$2 point status=0 only=()
	local second=$logs/again/$1-${2//[:\/]/-}
	shift 2
	[ "$unit" = - ] || only=("$unit")

	say "again, alone: $part $unit"
	mkdir -p "$second"
	(
		narrow=$(arguments "$unit" "$@")
		export narrow TERN_RUN_LOGS=$second TERN_SET_SHOW_LOG=1
		"part_$part" "${only[@]}"
	) >"$second.log" 2>&1 </dev/null || status=1
	for point; do
		if [ $status = 0 ] && passes_now "$second.log" "$point"; then
			tell_flaky "$part" "$unit" "$point" "$second"
			full_name "$part" "$unit" "$point" >>"$TERN_FLAKY"
			flaky=$((flaky + 1)) failed=$((failed - 1)) passed=$((passed + 1))
		else
			echo "# failed twice: $(full_name "$part" "$unit" "$point")"
			echo "# second run, alone ($second.log$(console "$second")):"
			excerpt "$second.log" "$unit" "$point" | sed 's/^/#   /'
		fi
	done
}

# units PART: the units with failed points none of which is final
units()
{
	awk -F'\t' '{ if (!($1 in bad)) { order[++n] = $1; bad[$1] = 0 } if ($3 != "") bad[$1] = 1 }
		END { for (i = 1; i <= n; i++) if (!bad[order[i]]) print order[i] }' "$logs/$1.failed"
}

# second_runs PART...: run failed points of these parts again
second_runs()
{
	local part unit points=() due=() entry

	rm -rf "$logs/again"
	for part; do
		awk -F'\t' -v part="$part" '$3 != "" {
			print "# not run again: " part " " $1 ($2 == "" ? "" : ": " $2) ": " $3 }' \
			"$logs/$part.failed"
		while read -r unit; do due+=("$part $unit"); done < <(units "$part")
	done
	if [ ${#due[@]} -gt $units_most ]; then
		echo "# not run again: ${#due[@]} units failed, which is no chance"
		return
	fi
	for entry in "${due[@]}"; do
		if [ "$(wc -l <"$TERN_FLAKY")" -gt $flaky_most ]; then
			echo "# not run again: $entry: too many points are FLAKY"
			continue
		fi
		part=${entry% *} unit=${entry#* }
		mapfile -t points < <(awk -F'\t' -v u="$unit" '$1 == u { print $2 }' "$logs/$part.failed")
		run_again "$part" "$unit" "${points[@]}"
	done
}

# too_flaky: fail the run if more points were FLAKY than one may have
too_flaky()
{
	[ "$(wc -l <"$TERN_FLAKY")" -gt $flaky_most ] || return 0
	echo "not ok - no more than $flaky_most points are FLAKY in a run"
	failed=$((failed + 1))
}
