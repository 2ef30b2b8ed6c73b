#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Do the tests find what is wrong? Plant the faults of a list in tern or in its
# provider, one at a time, and demand that the tests which the list names fail:
#
#	faults.sh [--short] conformance|verbs [NAME...]
#
# --short: one fault for each finder, without those below "only the long form" in the
# list, and no tern as it is: make check has just seen that all of them pass. The list is
# faults.list of the folder of that name. A NAME is a fault, what has to find it (a group
# of the conformance suite, a test of the verbs), or a point: FINDER__FAULT.
#
# The conformance suite's own faults, and those that the provider's unit tests have to
# find, are tried on this machine. For the others everything is built first. Then guests
# of the UML lane (GUESTS, one per CPU if not given) share the finders: each runs its own
# over tern as it is, where all tests have to pass, then over the faulty ones in turn. A
# fault that crashes the guest, or fills its log, is not found; the next ones get a new
# guest.

. "$(dirname "$0")/../lab/common.sh"

limit=1800	# seconds for a guest
unit_tests=userspace-provider/build
in_guest="\$3 != \"self\" && \$4 != \"$unit_tests\""	# of a point, in awk

# ---- the list ----------------------------------------------------------------

# point_conformance FAULT GROUP[:ROLE]; see points
point_conformance()
{
	local group=${2%%:*} role=${2#"${2%%:*}"}

	echo "${group}__$1${role:+[${role#:}]} $1 $group conformance/conform.sh" \
		"--stop --only $group${role:+ --role ${role#:}}"
}

# point_verbs FAULT PROGRAM:TEST
point_verbs()
{
	local program=${2%%:*} test=${2#*:} folder=verbs

	case $program in
	kverbs) folder=kernel ;;
	links | netdevs | strangers | watch) folder=net ;;
	provider)
		echo "${test}__$1 $1 $test $unit_tests"
		return
		;;
	esac
	echo "${test}__$1 $1 $test $folder/$program.sh $test"
}

# control_conformance GROUP...: the options that run all of them
control_conformance()
{
	local IFS=,
	echo "--only $*"
}

control_verbs() { echo "$*"; }

# faults: those that are planted, as NAME@FILE@EDIT@FINDERS
faults()
{
	local until=

	[ $short = 0 ] || until='/^# ---- only the long form/Q'
	sed -e "$until" -e '/^#/d' -e '/^$/d' -e 's/ *@ */@/g' \
		"$TOP/selftests/$suite/faults.list"
}

# points: those of the list, as POINT FAULT FINDER PROGRAM OPTION...
points()
{
	local name finders f line point finder

	while IFS='@' read -r name _ _ finders; do
		for f in $finders; do
			line=$("point_$suite" "$name" "$f")
			read -r point _ finder _ <<<"$line"
			if chosen "$name" "$finder" "$point"; then
				echo "$line"
			fi
		done
	done <"$work/all"
}

# chosen WORD...: one of the words is among the arguments, if there are any
chosen()
{
	local word w

	[ ${#wanted[@]} -gt 0 ] || return 0
	for word; do
		for w in "${wanted[@]}"; do
			[ "$word" != "$w" ] || return 0
		done
	done
	return 1
}

# ---- the conformance suite's own faults: group self --------------------------

# On this machine, since that group needs no target.
self_faults()
{
	local name file edit point own=$TOP/selftests/conformance dir=$work/self/conformance

	grep -q '^self__' "$work/points" || return 0
	mkdir -p "$dir" "$work/self/out"
	cp "$TOP/selftests"/{lib.mk,test.h} "$work/self/"
	cp "$own"/*.[ch] "$own"/{Makefile,requirements} "$dir/"
	while read -r point name _; do
		IFS='@' read -r _ file edit _ < <(grep "^$name@" "$work/all")
		sed -i "$edit" "$dir/$file"
		if cmp -s "$own/$file" "$dir/$file"; then
			echo "not ok - $point: the edit changes nothing"
		else
			self_fault "$point"
		fi
		cp "$own/$file" "$dir/$file"
	done < <(grep '^self__' "$work/points")
}

self_fault()
{
	local out=$work/self/out

	rm -f "$out/tern-conform"
	if ! make -s -j"$(nproc)" -C "$work/self/conformance" TERN_SRC="$TOP" CFLAGS=-O0 \
		OUTPUT="$out" "$out/tern-conform" >"$out/log" 2>&1; then
		echo "not ok - $1: it does not build"
	elif "$out/tern-conform" --only self --stop >"$out/log"; then
		echo "not ok - $1: no test of the group fails"
	else
		echo "ok - $1 (found by $(sed -n 's/^not ok [0-9]* - //p' "$out/log"))"
	fi
}

# ---- faults that the provider's unit tests find --------------------------------

# On this machine too. Each fault is built once, with the programs that have its tests.
provider_faults()
{
	local name file edit tests tern=$work/provider

	grep " $unit_tests\$" "$work/points" >"$work/unit" || return 0
	rsync -rlp --exclude=.git --exclude-from="$TOP/.gitignore" "$TOP/" "$tern/"
	touch "$tern/userspace-provider"/* # newer than the objects of the last run
	[ $short = 1 ] || provider_control
	while read -r name; do
		IFS='@' read -r _ file edit _ < <(grep "^$name@" "$work/all")
		mapfile -t tests < <(awk -v n="$name" '$2 == n { print $3 }' "$work/unit")
		sed -i "$edit" "$tern/$file"
		if cmp -s "$TOP/$file" "$tern/$file"; then
			echo "error: the edit changes nothing" >"$tern.log"
		else
			run_units "${tests[@]}" || true
		fi
		unit_verdicts "$name" "${tests[@]}"
		cp "$TOP/$file" "$tern/$file"
	done < <(awk '!seen[$2]++ { print $2 }' "$work/unit")
}

# run_units TEST...: the programs that have these tests
run_units()
{
	local test programs=()

	for test; do
		programs+=(--only "$(cd "$tern/selftests/verbs" &&
			grep -l "TEST($test)" provider_*_test.c |
			sed 's/provider_\(.*\)_test.c/\1/')")
	done
	"$tern/$unit_tests" --work "$TERN_CACHE/provider-unit-faults" --test \
		"${programs[@]}" >"$tern.log" 2>&1
}

provider_control()
{
	if run_units; then
		echo "ok - control-provider ($(tail -n 2 "$tern.log" | head -n 1))"
	else
		echo "not ok - control-provider: $(grep -m 1 -e '^not ok' -e 'error:' "$tern.log")"
	fi
}

# unit_verdicts FAULT TEST...
unit_verdicts()
{
	local name=$1 test
	shift

	for test; do
		if grep -q "^not ok [0-9]* - provider $test\$" "$tern.log"; then
			echo "ok - ${test}__$name (found by $test)"
		elif grep -q "^ok [0-9]* - provider $test\$" "$tern.log"; then
			echo "not ok - ${test}__$name: the test passes"
		else
			echo "not ok - ${test}__$name: $(grep -m 1 'error:' "$tern.log")"
		fi
	done
}

# ---- modules and providers ---------------------------------------------------

in_tree()
{
	local tern=$1
	shift
	"$LAB/in-tree" -b "$kernel/src:src" -b "$kernel/build:build" -b "$tern:tern" \
		-b "$TOP:clean" -b "$TERN_CACHE:cache" -b "$TERN_CACHE/provider-faults:work" \
		-b "$work/out:out" bash /mnt/clean/selftests/faults/fault-build.sh "$@"
}

# as it is, where the objects of the last time are; no times are kept, as in build-module
build_clean()
{
	local clean=$TERN_CACHE/faults-clean

	mkdir -p "$clean"
	rsync -rlpc --delete --exclude=.git --exclude-from="$TOP/.gitignore" "$TOP/" "$clean/"
	quietly "$work/out/control.log" in_tree "$clean" clean
}

# as many builders as CPUs, each with a copy of what was built as it is
build()
{
	local k jobs

	jobs=$(nproc)
	mkdir -p "$work/out" "$TERN_CACHE/provider-faults"
	awk "$in_guest"' { print $2 }' "$work/points" | sort -u >"$work/names"
	awk -F@ -v OFS=@ 'NR == FNR { want[$1]; next } $1 in want {
		if ($2 !~ /^userspace-provider\//) $2 = "drivers/tern/" $2
		print }' "$work/names" "$work/all" >"$work/out/list"
	say "building $(wc -l <"$work/out/list") times with a fault"
	locked faults-clean build_clean
	for ((k = 0; k < jobs; k++)); do
		cp -a "$TERN_CACHE/faults-clean" "$work/builder$k"
		in_tree "$work/builder$k" modules $k "$jobs" &
	done
	if grep -q '@userspace-provider/' "$work/out/list"; then
		cp -a "$TERN_CACHE/faults-clean" "$work/builder-provider"
		quietly "$work/out/provider.log" \
			in_tree "$work/builder-provider" provider &
	fi
	wait
}

# ---- guests ------------------------------------------------------------------

# add_test STAGE NAME FAULT COMMAND...
add_test()
{
	local dir=$1/selftests/faults name=$2 fault=$3
	shift 3
	ln -s fault.sh "$dir/$name"
	if [ -e "$work/out/$fault.so" ]; then
		ln "$work/out/$fault.so" "$dir/$name.so"
		fault=control
	fi
	ln "$work/out/$fault.ko" "$dir/$name.ko"
	echo "$@" >"$dir/$name.args"
}

# finders_of K: "PROGRAM FINDER" of those that guest K has, which is each GUESTS-th
finders_of()
{
	awk -v k="$1" -v of="$guests" "$in_guest"' && !seen[$3]++ && n++ % of == k {
		print $4, $3 }' "$work/points"
}

# add_controls STAGE K: for each program a test that has to pass
add_controls()
{
	local program name finders=()

	while read -r program; do
		mapfile -t finders < <(awk -v p="$program" '$1 == p { print $2 }' "$1.finders")
		name="control-$(basename "$program" .sh)[$2]"
		add_test "$1" "$name" control "$program" "$("control_$suite" "${finders[@]}")"
		echo "$name"
	done < <(cut -d' ' -f1 "$1.finders" | sort -u)
}

# prepare STAGE K: the tests of guest K, whose names are left in STAGE.left
prepare()
{
	local stage=$1 point name finder command

	finders_of "$2" >"$stage.finders"
	[ -s "$stage.finders" ] || return 0
	echo timeout=300 >"$stage/selftests/faults/settings"
	: >"$stage.left"
	[ $short = 1 ] || add_controls "$stage" "$2" >"$stage.left"
	while read -r point name finder command; do
		grep -q " $finder\$" "$stage.finders" || continue
		if [ -e "$work/out/$name.ko" ] || [ -e "$work/out/$name.so" ]; then
			add_test "$stage" "$point" "$name" "$command"
			echo "$point" >>"$stage.left"
		else
			echo "not ok - $point: $(cat "$work/out/$name.why" || echo "it was not built")"
		fi
	done <"$work/points"
}

# judge: points from the TAP of a guest, as it comes
judge()
{
	awk '
		function verdict(bad, good)
		{
			print bad ? "not ok - " name ": " bad : "ok - " name " (" good ")"
			fflush()
		}
		/^# selftests: faults: / { found = bail = "" }
		/^# not ok / && !found { found = $5 == "-" ? $6 : $5 }
		/^# Bail out! / { bail = substr($0, 13) }
		/^(not )?ok [0-9]+ selftests: faults: / {
			passed = $1 == "ok"
			name = passed ? $5 : $6
			why = $0
			sub(/.* # /, "", why)
			if (name ~ /^control/)
				verdict(passed ? "" : found ? found " fails too: " why : why, why)
			else if (passed)
				verdict("no test fails")
			else if (bail || !found || why ~ /kernel log|timeout/)
				verdict(bail ? bail : why)
			else
				verdict("", "found by " found)
		}'
}

# run_guest STAGE: until each test of STAGE.left had its turn
run_guest()
{
	local stage=$1 n left=()

	while mapfile -t left <"$stage.left" && [ ${#left[@]} -gt 0 ]; do
		printf "TERN_LANE=uml\nTERN_TYPE=tern\nTERN_TIMEOUT_SCALE=%s\nTESTS='%s'\n" \
			"${TERN_TIMEOUT_SCALE:-1}" "$(printf 'faults:%s ' "${left[@]}")" >"$stage/job"
		: >"$stage.tap"
		"$LAB/uml-boot" plain "$stage" "$stage.tap" "$stage.console" $limit &
		tail -n +1 -f --pid=$! "$stage.tap" | judge | tee "$stage.done"
		n=$(wc -l <"$stage.done")
		if [ "$n" -lt ${#left[@]} ]; then
			echo "not ok - ${left[n]}: the guest died"
			tail -n 20 "$stage.console" | tr -d '\r' | sed 's/^/# /'
			n=$((n + 1))
		fi
		printf '%s\n' "${left[@]:n}" | sed '/^$/d' >"$stage.left"
	done
}

run_guests()
{
	local k

	for ((k = 0; k < guests; k++)); do
		cp -al "$work/stage" "$work/guest$k"
		prepare "$work/guest$k" $k
		[ ! -e "$work/guest$k.left" ] || run_guest "$work/guest$k" &
	done
	wait
}

# all_run: no point is without a verdict, whatever became of the above
all_run()
{
	local point

	while read -r point _; do
		grep -qF -e "ok - $point (" -e "ok - $point:" "$work/tap" ||
			echo "not ok - $point: it was not run"
	done <"$work/points"
}

need make gcc rsync
short=0
if [ "${1:-}" = --short ]; then
	short=1
	shift
fi
suite=${1:-}
declare -F "point_$suite" >/dev/null || die "no list '$suite' (see the top of $0)"
shift
wanted=("$@")
guests=${GUESTS:-$(nproc)}
work=$(mktemp -d "$TERN_CACHE/faults.XXXXXX")
trap 'rm -rf "$work"' EXIT
faults >"$work/all"
points | awk -v short=$short '!short || !seen[$3]++' >"$work/points"
[ -s "$work/points" ] || die "no fault, finder or point of that name (see faults.list)"
echo "TAP version 13"
{
	self_faults
	provider_faults
	if [ -n "$(awk "$in_guest" "$work/points")" ]; then
		kernel=$("$LAB/kernel-build" plain)
		build
		"$LAB/payload" "$work/stage" tern plain
		run_guests
	fi
} | tee "$work/tap"
all_run | tee -a "$work/tap"
failed=$(grep -c '^not ok' "$work/tap" || true)
echo "# $(grep -c '^ok' "$work/tap" || true) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
