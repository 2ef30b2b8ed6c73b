#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# mutants.sh [NAME...]: plant each fault of mutants.list in a copy of the core (and of
# stream/skb_cursor) and check that the tests named there find it. QUICK=1: only the
# first of these tests.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
drivers=$here/../../drivers/tern
seconds=${MUTANT_SECONDS:-20}

# unit DIR STEM: the tests of one file
unit() {
	local t tests=()
	for t in "$here/../core/$2"*_test.c; do
		if [ ! -f "$t" ]; then
			echo "no tests of $2" >&2
			return 1
		fi
		tests+=("$1/unit/$(basename "$t" .c)")
	done
	make -s -C "$here/../core" "${tests[@]}" CORE="$1/core" STREAM="$1/stream" \
		OUT="$1/unit" WARN=-w &&
		"$here/../core/run-tap.sh" "${tests[@]}"
}

# model DIR SEEDS TEST...
model() {
	local dir=$1 seeds=$2 t
	shift 2
	for t; do
		make -s -C "$here/../model" "$dir/model/$t" CORE="$dir/core" \
			OUT="$dir/model" WARN=-w &&
			MODEL_SEEDS=$seeds "$here/../core/run-tap.sh" \
				"$dir/model/$t" || return
	done
}

fuzzer() {
	make -s -C "$here" "$1/fuzz/$2" "$1/fuzz/unhex" CORE="$1/core" \
		OUT="$1/fuzz" WARN=-w &&
		TERN_FUZZ_ONE=1 "$here/run-fuzz.sh" check "${FUZZ_CC:-clang}" \
			"$1/fuzz" "$seconds" 1 "$2"
}

# lane DIR LETTER STEM: run the tests of this letter; STEM is the file's name without .c
lane() {
	case $2 in
	U) unit "$1" "$3" ;;
	M) model "$1" 60 fault_test model_test ;;
	H) model "$1" 5000 hello_test ;;
	R) fuzzer "$1" fuzz_fpdu_rx ;;
	S) fuzzer "$1" fuzz_rx_stack ;;
	P) fuzzer "$1" fuzz_mpa ;;
	C) fuzzer "$1" fuzz_cm ;;
	esac
}

# a lane that cannot be built finds no fault: its log has no "not ok"
killed() {
	! lane "$@" > "$1/log.$2" 2>&1 && grep -q '^not ok' "$1/log.$2"
}

try() {
	local name=$1 file=$2 edit=$3 lanes=$4 dir=$5 folder=core l by='' missed=''
	rm -rf "$dir"
	cp -a "$base" "$dir"
	[ -f "$dir/core/$file" ] || folder=stream
	sed -i "$edit" "$dir/$folder/$file"
	if cmp -s "$drivers/$folder/$file" "$dir/$folder/$file"; then
		echo "not ok - $name: the edit changes nothing"
		return
	fi
	# a changed header: build all again, since dependencies name the headers in base
	[ "${file##*.}" = c ] || rm -rf "$dir/unit" "$dir/model" "$dir/fuzz"
	for l in $lanes; do
		if killed "$dir" "$l" "${file%.*}"; then
			by+="$l"
		else
			missed+="$l"
		fi
		[ -z "${QUICK:-}" ] || break
	done
	if [ -z "$missed" ]; then
		echo "ok - $name (found by $by)"
	else
		tail -n 3 "$dir/log.${missed:0:1}" | sed 's/^/# /'
		echo "not ok - $name (missed by $missed)"
	fi
}

worker() {
	local k=$1 n=0 name file edit lanes
	while IFS='@' read -r name file edit lanes; do
		n=$((n + 1))
		[ $((n % jobs)) -eq "$k" ] || continue
		try "$name" "$file" "$edit" "$lanes" "$top/mutant$k"
	done < "$top/list"
}

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
base=$top/base
jobs=$(nproc)
sed -e '/^#/d' -e '/^$/d' -e 's/ *@ */@/g' "$here/mutants.list" > "$top/list"
if [ $# -gt 0 ]; then
	printf '^%s@\n' "$@" > "$top/names"
	grep -f "$top/names" "$top/list" > "$top/some"
	mv "$top/some" "$top/list"
fi

# build all once; copies rebuild only what depends on the changed file
mkdir -p "$base/stream"
cp -a "$drivers/core" "$base/core"
cp -a "$drivers/stream/skb_cursor".[ch] "$base/stream"
echo "# building"
for l in U M H R S P C; do
	seconds=3 lane "$base" "$l" "" > "$base/log.$l" 2>&1 || {
		cat "$base/log.$l"
		echo "not ok - the unchanged core fails lane $l"
		exit 1
	}
done

total=$(wc -l < "$top/list")
echo "TAP version 13"
echo "1..$total"
n=0
{
	for ((k = 0; k < jobs; k++)); do
		worker "$k" &
	done
	wait
} | while IFS= read -r line; do
	case $line in
	*'ok - '*) n=$((n + 1)) line=${line/ok - /ok $n - } ;;
	esac
	echo "$line"
done | tee "$top/all"
failed=$(grep -c '^not ok' "$top/all" || true)
echo "# $((total - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
