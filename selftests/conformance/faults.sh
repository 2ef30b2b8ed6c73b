#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Does each group of the conformance suite find what is wrong? Plant the faults of
# faults.list in tern, one at a time, and demand that a test of the group fails:
#
#	faults.sh [NAME...]	a NAME is a fault, a group, or a point: GROUP__FAULT
#
# Every module is built first. Then guests of the UML lane (GUESTS, one per CPU if
# not given) share the groups: each runs its groups over tern as it is, where all
# tests have to pass, then loads the faulty ones in turn. A fault that crashes the
# guest, or fills its log, is not found; the next ones get a new guest.

. "$(dirname "$0")/../lab/common.sh"

here=$TOP/selftests/conformance
limit=1800	# seconds for a guest

# points: those of the list, as POINT FAULT OPTION...
points()
{
	local name groups g point role

	while IFS='@' read -r name _ _ groups; do
		for g in $groups; do
			role=${g#"${g%%:*}"}
			g=${g%%:*}
			point=${g}__$name${role:+[${role#:}]}
			if chosen "$name" "$g" "$point"; then
				echo "$point $name --only $g ${role:+--role ${role#:}}"
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

# ---- the suite's own faults: group self --------------------------------------

# On this machine, since that group needs no target.
self_faults()
{
	local name file edit point dir=$work/self/conformance

	grep -q '^self__' "$work/points" || return 0
	mkdir -p "$dir" "$work/self/out"
	cp "$here"/../lib.mk "$work/self/"
	cp "$here"/*.[ch] "$here/Makefile" "$dir/"
	while read -r point name _; do
		IFS='@' read -r _ file edit _ < <(grep "^$name@" "$work/all")
		sed -i "$edit" "$dir/$file"
		if cmp -s "$here/$file" "$dir/$file"; then
			echo "not ok - $point: the edit changes nothing"
		else
			self_fault "$point"
		fi
		cp "$here/$file" "$dir/$file"
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

# ---- modules -----------------------------------------------------------------

in_tree()
{
	local tern=$1
	shift
	"$LAB/in-tree" -b "$kernel/src:src" -b "$kernel/build:build" -b "$tern:tern" \
		-b "$TOP/drivers/tern:clean" -b "$here:suite" -b "$work/out:out" \
		bash /mnt/suite/fault-build.sh "$@"
}

# as many builders as CPUs, each with a copy of what was built as it is
build()
{
	local k jobs

	jobs=$(nproc)
	mkdir "$work/out"
	awk '!/^self__/ { print $2 }' "$work/points" | sort -u >"$work/names"
	awk -F@ 'NR == FNR { want[$1]; next } $1 in want' "$work/names" "$work/all" \
		>"$work/out/list"
	say "building $(wc -l <"$work/out/list") faulty modules"
	rsync -a --exclude='*.o' --exclude='*.ko' --exclude='.*.cmd' \
		"$TOP/drivers/tern/" "$work/clean/"
	quietly "$work/out/control.log" in_tree "$work/clean" clean
	for ((k = 0; k < jobs; k++)); do
		cp -a "$work/clean" "$work/builder$k"
		in_tree "$work/builder$k" $k "$jobs" &
	done
	wait
}

# ---- guests ------------------------------------------------------------------

# add_test STAGE NAME KO OPTION...
add_test()
{
	local dir=$1/selftests/faults name=$2 ko=$3
	shift 3
	ln -s ../conformance/fault.sh "$dir/$name"
	ln "$work/out/$ko" "$dir/$name.ko"
	echo "$@" >"$dir/$name.args"
}

# prepare STAGE K: the tests of guest K, which has each GUESTS-th group
prepare()
{
	local stage=$1 name point options groups=() tests=()

	mapfile -t groups < <(awk -v k="$2" -v of="$guests" '
		/^self__/ { next }
		{ sub(/__.*/, "") }
		!seen[$0]++ && n++ % of == k' "$work/points")
	[ ${#groups[@]} -gt 0 ] || return 0
	mkdir "$stage/selftests/faults"
	echo timeout=300 >"$stage/selftests/faults/settings"
	add_test "$stage" "control[$2]" control.ko --only "$(IFS=,; echo "${groups[*]}")"
	tests+=("control[$2]")
	while read -r point name options; do
		[[ " ${groups[*]} " == *" ${point%%__*} "* ]] || continue
		if [ ! -e "$work/out/$name.ko" ]; then
			echo "not ok - $point: $(cat "$work/out/$name.why")"
			continue
		fi
		add_test "$stage" "$point" "$name.ko" --stop "$options"
		tests+=("$point")
	done <"$work/points"
	printf '%s\n' "${tests[@]}" >"$stage.left"
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
		/^# not ok / && !found { found = $6 }
		/^# Bail out! / { bail = substr($0, 13) }
		/^(not )?ok [0-9]+ selftests: faults: / {
			passed = $1 == "ok"
			name = passed ? $5 : $6
			why = $0
			sub(/.* # /, "", why)
			if (name ~ /^control/)
				verdict(passed ? "" : found ? found " fails too: " why : why, why)
			else if (passed)
				verdict("no test of the group fails")
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
wanted=("$@")
guests=${GUESTS:-$(nproc)}
work=$(mktemp -d "$TERN_CACHE/faults.XXXXXX")
trap 'rm -rf "$work"' EXIT
sed -e '/^#/d' -e '/^$/d' -e 's/ *@ */@/g' "$here/faults.list" >"$work/all"
points >"$work/points"
[ -s "$work/points" ] || die "no fault, group or point of that name (see faults.list)"
echo "TAP version 13"
{
	self_faults
	if grep -qv '^self__' "$work/points"; then
		kernel=$("$LAB/uml-build" plain)
		build
		"$LAB/payload" "$work/stage" tern plain
		run_guests
	fi
} | tee "$work/tap"
all_run | tee -a "$work/tap"
failed=$(grep -c '^not ok' "$work/tap" || true)
echo "# $(grep -c '^ok' "$work/tap" || true) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
