# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced after again.sh by `check`: run the parts, as many at a time as $jobs says, run
# failed points again, and add up. A part is a function part_NAME [UNIT]
# that writes TAP; with a UNIT (see results) it runs only that, narrowed by $narrow. Its
# log is $logs/NAME.log, the consoles of its guests are in $logs/NAME.

# needs: as in again.sh; how many parts run at a time; parts that may not skip; those that a
# late run leaves out, and after how many seconds it is late (empty: never)
: "${runner:?}" "${logs:?}" "${flaky_list:?}" "${jobs:?}" "${all_of_it?}"
: "${late_parts?}" "${late_after?}"
passed=0 failed=0 skipped=0 flaky=0 costs='' broken=() workers=()

# point NAME COMMAND...: one line of TAP from a command's status.
point()
{
	local name=$1
	shift
	if "$@"; then echo "ok - $name"; else echo "not ok - $name"; return 1; fi
}

# count LOG STATUS: use the guest's verdict if there is one, else count lines of TAP; a
# bad status without a failed point is a failure too.
count()
{
	awk -v status="$2" '
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ { v = 1; P = $1; F = $3; S = $5 }
		/^ok .*# *SKIP/ { s++; next }
		/^ok /		{ p++ }
		/^not ok /	{ f++ }
		END {
			if (v) { p = P; f = F; s = S }
			if (status && !f) f = 1
			print p + 0, f + 0, s + 0
		}' "$1"
}

skipped_whole()
{
	grep -E '^ok [0-9]+ selftests: .*# SKIP' "$1" | grep -vE ' (ipsec|smb)\.sh '
}

# too_late NAME: the run does without this part
too_late()
{
	[ -n "$late_after" ] && [ "$SECONDS" -gt "$late_after" ] && [[ " $late_parts " == *" $1 "* ]]
}

# one_part NAME: run it, with the consoles of its guests kept apart
one_part()
{
	if too_late "$1"; then
		echo "ok - part $1 # SKIP the run is late: $SECONDS s are over, $late_after may be"
		return
	fi
	rm -rf "${logs:?}/$1"
	TERN_RUN_LOGS=$logs/$1 "part_$1"
}

# work PART...: run one after the other, but for those that another worker has taken
work()
{
	local part t0 status

	for part; do
		mkdir "$logs/$part.taken" 2>/dev/null || continue
		t0=$SECONDS status=0
		: >"$logs/$part.times"
		(
			one_part "$part" && ended=0 || ended=1
			builtin times >"$logs/$part.times"
			exit $ended
		) >"$logs/$part.log" 2>&1 || status=1
		echo "$status $((SECONDS - t0)) $(cpu_seconds <"$logs/$part.times")" >"$logs/$part.end"
	done
}

# cpu_seconds: of the output of `times`, whose second line is of the children
cpu_seconds()
{
	tr 'ms' '  ' | awk 'NR == 2 { s = 60 * $1 + $2 + 60 * $3 + $4 } END { printf "%d", s }'
}

# begin PART...: run them in the background; run_part waits for each
begin()
{
	(
		cd "$logs" || exit
		rm -rf "${@/%/.taken}"
		rm -f "${@/%/.end}" "${@/%/.log}"
	)
	while [ ${#workers[@]} -lt "$jobs" ] && [ ${#workers[@]} -lt $# ]; do
		work "$@" </dev/null &
		workers+=($!)
	done
	trap end_workers EXIT
}

end_workers()
{
	local pid

	for pid in "${workers[@]}"; do
		end_tree "$pid"
	done
}

# show PART: print its log as it grows, until the part has ended
show()
{
	local log=$logs/$1.log at=0 size ended=''

	while [ -z "$ended" ]; do
		if [ -s "$logs/$1.end" ]; then
			ended=1
		elif ! kill -0 "${workers[@]}" 2>/dev/null && [ ! -s "$logs/$1.end" ]; then
			die "nobody runs part $1 any more"
		else
			sleep 0.3
		fi
		size=$(stat -c %s "$log" 2>/dev/null || echo 0)
		[ "$size" = $at ] || tail -c +$((at + 1)) "$log" | head -c $((size - at))
		at=$size
	done
}

# end_tree PID: end its children, then the process
end_tree()
{
	local child

	for child in $(pgrep -P "$1"); do
		end_tree "$child"
	done
	kill "$1" 2>/dev/null || true
}

# faults_of_part PART STATUS: print failures of the part other than its points, as TAP
faults_of_part()
{
	local log=$logs/$1.log p f s rows

	read -r p f s < <(count "$log" "$2")
	if skipped_whole "$log" >/dev/null || { [ "$s" != 0 ] && [[ $all_of_it == *" $1 "* ]]; }; then
		echo "not ok - part $1 skipped $s of its tests # FINAL a skip is no chance"
	fi
	if [ $((p + f + s)) = 0 ]; then
		echo "not ok - part $1 ran no test # FINAL nothing to run again"
	fi
	rows=$("$runner/results" "$log" | grep -c ^fail || true)
	if [ "$rows" -lt "$f" ]; then
		echo "not ok - part $1 ended with a bad status # FINAL none of its points shows it"
	fi
}

run_part()
{
	local log=$logs/$1.log status seconds cpu p f s rows

	say "part $1"
	show "$1"
	read -r status seconds cpu <"$logs/$1.end"
	read -r p f s < <(count "$log" $status)
	faults_of_part "$1" $status >"$log.more"
	tee -a "$log" <"$log.more"
	rm "$log.more"
	# a guest that died counts as one failure, in addition to those before
	rows=$("$runner/results" "$log" | grep -c ^fail || true)
	[ "$rows" -le "$f" ] || f=$rows
	[ "$f" = 0 ] || broken+=("$1")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	costs+=$(printf '\n  %-20s %5d s %5d of a CPU  %5d passed %4d failed %4d skipped' \
		"$1" "$seconds" "$cpu" "$p" "$f" "$s")
}

# still_failed: the names of failed points that did not pass in a second run
still_failed()
{
	local part line

	for part in "${broken[@]}"; do
		while IFS= read -r line; do
			full_name "$part" "${line%%$'\t'*}" "${line#*$'\t'}"
		done < <(cut -f1,2 "$logs/$part.failed")
	done | grep -vxF -f "$TERN_FLAKY" || true
}

# last_words PART: the last lines of its failed points, but not of many: who keeps only the
# end of a run has them, too
last_words()
{
	local line

	while IFS= read -r line; do
		excerpt "$logs/$1.log" "${line%%$'\t'*}" "${line#*$'\t'}" |
			grep -v '^# dmesg: ' | tail -n 6 | cut -c1-160 | sed "s/^/$1: /" || true
	done < <(cut -f1,2 "$logs/$1.failed" | head -n 6)
}

# run_parts PART...: run them all; the last line and the status are the verdict
run_parts()
{
	local part t0 more=''

	mkdir -p "$logs"
	for part; do
		declare -F "part_$part" >/dev/null || die "no part '$part' (see the top of $0)"
	done
	if [ -n "$(flaky_without_cause "$flaky_list")" ]; then
		die "not a name, a tab and its cause in $flaky_list: $(flaky_without_cause "$flaky_list")"
	fi
	export TERN_FLAKY=$logs/flaky.names
	: >"$TERN_FLAKY"
	begin "$@"
	for part; do
		run_part "$part"
	done
	# print each failed point with the end of its output
	for part in "${broken[@]}"; do
		grep -E -B 5 '^(# )?not ok ' "$logs/$part.log" | sed "s/^/$part: /" || true
		failed_points "$part" >"$logs/$part.failed"
	done
	if [ ${#broken[@]} -gt 0 ]; then
		t0=$SECONDS
		second_runs "${broken[@]}"
		costs+=$(printf '\n  %-20s %5d s' 'second runs' $((SECONDS - t0)))
	fi
	too_flaky
	printf 'Cost of each part:%s\n' "$costs"
	for part in "${broken[@]}"; do
		last_words "$part"
	done
	[ $flaky = 0 ] || more=", $flaky FLAKY"
	sed 's/^/FLAKY: /' "$TERN_FLAKY"
	still_failed | sed 's/^/FAILED: /'
	echo "$passed passed, $failed failed, $skipped skipped$more"
	[ $failed = 0 ]
}
