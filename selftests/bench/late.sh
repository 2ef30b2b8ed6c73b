#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# How late is the backstop, which sends what a program posted without a doorbell and left (kind
# `late` of drive), and how often is it needed by programs that go on?
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:late.sh
#
# There a microsecond is 1000 instructions, with one CPU for both ends. TERN_SET_BENCH_ROUNDS (3).

. "$(dirname "$0")/compare.sh"
. ../net/scene.sh
# shellcheck source=rows.sh
. ../bench/rows.sh

place veth
# shellcheck disable=SC2034 # missed() of rows.sh looks at it
candidate=tern
up tern
drive_up
for ((round = 0; round < ${TERN_SET_BENCH_ROUNDS:-3}; round++)); do
	echo "round $((round + 1)): messages, nanoseconds of each"
	missed late limit 120 ../bench/drive late -s 64 -d 128 -n 200 -p
	for row in write-64-polls send-64-polls write-64-lists send-64-lists; do
		missed "$row" drive_row "$row" tern
	done
done
down tern
