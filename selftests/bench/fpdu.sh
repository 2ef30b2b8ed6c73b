#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What the length of FPDUs gives (max-fpdu): every length in every round of one boot, over
# veth with MTU 1500; medians of thousands of instructions of a message, of both ends with
# their program, and the range of the figures.
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:fpdu.sh
#
# TERN_SET_BENCH_ROUNDS (5), TERN_SET_BENCH_ROWS (a regular expression),
# TERN_SET_BENCH_CANDIDATES.

. "$(dirname "$0")/compare.sh"

rounds=${TERN_SET_BENCH_ROUNDS:-5}
candidates=${TERN_SET_BENCH_CANDIDATES:-mss 8192 16384 32768 64750}

# NAME DRIVE'S OPTIONS
rows=(
	"send-64K send -s 65536 -n 800"
	"read-64K read -s 65536 -n 800"
	"ping-64K ping -s 65536 -n 200"
	"ping-1M ping -s 1048576 -n 20"
)
mapfile -t rows < <(printf '%s\n' "${rows[@]}" | wanted_rows)

measure()
{
	local row name options

	in_a tern set dev_a max-fpdu "$1"
	in_b tern set dev_b max-fpdu "$1"
	for row in "${rows[@]}"; do
		read -r name options <<<"$row"
		# shellcheck disable=SC2086 # words
		limit 120 ../bench/drive $options >"$TMP/out"
		awk '{ print $2 / 1000 }' "$TMP/out" >>"$TMP/$name.$1"
	done
}

# median (least-most)
cell()
{
	[ -s "$1" ] || { echo -; return; }
	sort -g "$1" | awk '{ v[NR] = $1 }
		END { printf "%.0f (%.0f-%.0f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

table()
{
	local row name c

	printf '%-10s' row
	for c in $candidates; do printf ' %18s' "$c"; done
	echo
	for row in "${rows[@]}"; do
		name=${row%% *}
		printf '%-10s' "$name"
		for c in $candidates; do printf ' %18s' "$(cell "$TMP/$name.$c")"; done
		echo
	done
}

wires_up
modprobe -r siw 2>/dev/null || true
up tern
eventually in_a ping -q -c 1 -W 1 "$IP_B" >/dev/null
# shellcheck disable=SC2086 # words
every_round "lane $TERN_LANE, MTU 1500" $candidates
