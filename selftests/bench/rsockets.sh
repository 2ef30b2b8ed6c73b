#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# rsockets: librdmacm's own rstream by instructions, over veth with MTU 1500; tcp is the same
# program with sockets (-T s). The client sends all messages, then as many come back; lat-64 is a
# ping-pong of 64 bytes that waits for each (-T b).
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:rsockets.sh
#
# TERN_SET_BENCH_ROUNDS (3), TERN_SET_BENCH_ROWS (a regular expression),
# TERN_SET_BENCH_CANDIDATES.

. "$(dirname "$0")/compare.sh"

rounds=${TERN_SET_BENCH_ROUNDS:-3}
candidates=${TERN_SET_BENCH_CANDIDATES:-tern tern-nocrc siw siw-crc tcp}
ratios+=("on/tcp tern tcp" "off/tcp tern-nocrc tcp")
PORT=7471

# NAME UNIT BETTER RSTREAM'S OPTIONS
rows=(
	"lat-64 us low -S 64 -T b -I 2000 -C 1"
	"4K MiB/s high -S 4096 -I 1 -C 4096"
	"64K MiB/s high -S 65536 -I 1 -C 512"
	"1M MiB/s high -S 1048576 -I 1 -C 32"
)
mapfile -t rows < <(printf '%s\n' "${rows[@]}" | wanted_rows)

# both ways, each of which says how many microseconds a message took, in its last column
stream()
{
	limit 120 in_b rstream -b "$IP_B" -p $PORT "$@" >/dev/null 2>&1 &
	eventually listening $PORT
	limit 60 in_a rstream -s "$IP_B" -p $PORT "$@" >"$TMP/out"
	wait
}

# figure UNIT OPTIONS...: of SIZE bytes
figure()
{
	local unit=$1

	shift
	stream "$@"
	awk -v unit="$unit" -v size="$2" '
		$1 == "custom" { print unit == "us" ? $NF : size / $NF / 1.048576 }' "$TMP/out"
}

measure()
{
	local row name unit rest sockets=

	if [ "$1" = tcp ]; then sockets="-T s"; else up "$1"; fi
	for row in "${rows[@]}"; do
		read -r name unit _ rest <<<"$row"
		# shellcheck disable=SC2086 # words
		figure "$unit" $rest $sockets >>"$TMP/$name.$1"
	done
	[ "$1" = tcp ] || down "$1"
}

modprobe -r siw 2>/dev/null || true
wires_up
# shellcheck disable=SC2086 # words
every_round veth $candidates
