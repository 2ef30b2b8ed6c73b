#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# run-fuzz.sh check|run CC OUT SECONDS SEED TARGET...
# check: a new corpus from the seeds, TAP. run: the corpus stays in OUT, output of
# libFuzzer.
set -euo pipefail

here=$(dirname "$0")
mode=$1 cc=$2 out=$3 seconds=$4 seed=$5
shift 5
[ $# -gt 0 ] || { echo "no TARGET" >&2; exit 2; }

has_libfuzzer() {
	local t
	t=$(mktemp)
	echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n);
	      int LLVMFuzzerTestOneInput(const char *d, unsigned long n)
	      { return d && n > 9 ? 0 : 0; }' |
		"$cc" -fsanitize=fuzzer,address -x c -o "$t" - 2>/dev/null
	local status=$?
	rm -f "$t"
	return $status
}

fuzz() {
	local target=$1 corpus=$2
	shift 2
	mkdir -p "$corpus"
	if [ -e "$here/$target.seeds" ]; then
		"$out/unhex" "$corpus" < "$here/$target.seeds"
	fi
	"$out/$target" -max_total_time="$seconds" -seed="$seed" -timeout=10 \
		-rss_limit_mb=2048 -max_len=4096 \
		-artifact_prefix="$out/$target-" "$@" "$corpus"
}

check_one() {
	local target=$1 log="$out/$1.log" corpus runs status=0
	corpus=$(mktemp -d)
	fuzz "$target" "$corpus" -print_final_stats=1 > "$log" 2>&1 || status=$?
	rm -rf "$corpus"
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	if [ "$status" -eq 0 ]; then
		echo "ok $n - $target (${runs:-0} inputs, ${seconds} s)"
	else
		tail -n 30 "$log" | sed 's/^/# /'
		echo "not ok $n - $target: see $log"
	fi
}

if ! has_libfuzzer; then
	echo "Bail out! $cc has no libFuzzer (Debian: clang libclang-rt-14-dev or newer)"
	exit 1
fi
[ -n "${TERN_FUZZ_ONE:-}" ] || make -s all OUT="$out" FUZZ_CC="$cc"

if [ "$mode" = run ]; then
	for target in "$@"; do
		fuzz "$target" "$out/corpus/$target"
	done
	exit 0
fi

echo "TAP version 13"
echo "1..$#"
n=0
for target in "$@"; do
	n=$((n + 1))
	check_one "$target" > "$out/$target.tap" &
	[ $((n % $(nproc))) -ne 0 ] || wait
done
wait
taps=("${@/#/$out/}")
taps=("${taps[@]/%/.tap}")
cat "${taps[@]}"
passed=$(cat "${taps[@]}" | grep -c '^ok' || true)
echo "# $passed passed, $((n - passed)) failed, 0 skipped"
[ "$passed" -eq "$n" ]
