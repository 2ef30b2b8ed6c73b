#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The same comparison as a count of instructions: in a VM whose clock moves by one
# nanosecond with each instruction (TERN_ACCEL=icount), the figures of the tools do
# not depend on the machine.
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:instructions.sh
#
# First it runs over veth with MTU 1500, two namespaces. There it also sends 8 bytes by
# each kind of message, by tern and by tern-noext, which has no extensions: its Sends and
# Reads are not of RDMAP version 2. Then it runs to an address of the same host, over lo,
# in one namespace, where rxe works too. TERN_SET_BENCH_ROUNDS (5), TERN_SET_BENCH_ROWS (a
# regular expression), TERN_SET_BENCH_CANDIDATES.

. "$(dirname "$0")/compare.sh"
# shellcheck source=rows.sh
. ../bench/rows.sh

rounds=${TERN_SET_BENCH_ROUNDS:-5}

# figure UNIT TOOL OPTIONS...
figure()
{
	local unit=$1
	shift
	run_tool "$@" || return 0
	own_figure "$unit"
}

measure()
{
	local row name unit rest value

	[ "$1" = tcp ] || up "$1"
	for row in "${rows[@]}"; do
		read -r name unit _ rest <<<"$row"
		# shellcheck disable=SC2086 # words
		case $1:$name in
		tcp:write-64K)	value=$(tcp_bw) ;;
		tcp:send-lat-8)	value=$(tcp_lat) ;;
		tcp:*)		continue ;;
		tern-noext:write-imm-* | tern-noext:fetch-add-* | tern-noext:cmp-swap-*)
				continue ;;
		*)		value=$(figure "$unit" $rest) ;;
		esac
		[ -z "$value" ] || echo "$value" >>"$TMP/$name.$1"
	done
	[ "$1" = tcp ] || down "$1"
}

# compare CANDIDATE...: all of $rows
compare()
{
	local candidates=$*
	[ ${#rows[@]} != 0 ] || return 0
	rm -f "$TMP"/*-[0-9]*.*
	every_round "$where" "$@"
}

compare_kinds()
{
	local rows=("${kinds[@]}") ratios=()
	compare tern tern-noext
}

seconds=1
mapfile -t rows < <(printf '%s\n' "${rows[@]}" | wanted_rows)
mapfile -t kinds < <(printf '%s\n' "${kinds[@]}" | wanted_rows)
candidates=${TERN_SET_BENCH_CANDIDATES:-tern tern-nocrc siw siw-crc rxe tcp}
modprobe -r siw 2>/dev/null || true
place veth
# shellcheck disable=SC2086 # words; rxe of this kernel knows init_net only
compare ${candidates/rxe/}
compare_kinds
place lo
# shellcheck disable=SC2086 # words
compare $candidates
