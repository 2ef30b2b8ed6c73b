#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Compare tern, siw and TCP in one boot: every candidate in every round, so
# that a noisy machine hits them alike; medians, and the ratio to siw with the
# same CRC setting. Prints the table of Documentation/performance.rst, and how evenly 64 QPs
# of tern share.
#
#	selftests/lab/run --lane uml --plain bench:bench.sh
#
# TERN_SET_BENCH_ROUNDS (5), TERN_SET_BENCH_ROWS (a regular expression),
# TERN_SET_BENCH_SECONDS (2 per figure; even), TERN_SET_BENCH_RPS (1: packets are received by
# the CPU of the receiving program; 0: by that of the sender).
#
# With two CPUs or more each host has one of its own: its program is pinned to it, and with
# RPS the softirq of what it receives. Otherwise the scheduler, and the hash of the ports
# of each connection, draw the figures.

. "$(dirname "$0")/compare.sh"
# shellcheck source=rows.sh
. ../bench/rows.sh
. ../net/scene.sh

rounds=${TERN_SET_BENCH_ROUNDS:-5}
seconds=${TERN_SET_BENCH_SECONDS:-2}
if [ "$seconds" -lt 2 ] || [ $((seconds % 2)) = 1 ]; then
	echo "TERN_SET_BENCH_SECONDS is odd, or less than 2" >&2
	exit 1
fi
candidates=${TERN_SET_BENCH_CANDIDATES:-tern tern-nocrc siw siw-crc tcp}

# row NAME UNIT BETTER TOOL OPTIONS...
rows=(
	"write-64K MiB/s high ib_write_bw -s 65536"
	"send-64K MiB/s high ib_send_bw -s 65536"
	"read-64K MiB/s high ib_read_bw -s 65536"
	"write-64K-64qp MiB/s high ib_write_bw -s 65536 -q 64"
	"send-64 1000/s high ib_send_bw -s 64"
	"write-64 1000/s high ib_write_bw -s 64"
	"send-64-list16 1000/s high ib_send_bw -s 64 -l 16"
	"write-64-list16 1000/s high ib_write_bw -s 64 -l 16"
	"write-lat-8 us low ib_write_lat -s 8"
	"send-lat-8 us low ib_send_lat -s 8"
	"read-lat-8 us low ib_read_lat -s 8"
)

mapfile -t rows < <(printf '%s\n' "${rows[@]}" | wanted_rows)

# perftest's own figures need a CPU clock, which UML lacks. With -D n it counts the iterations
# of n - 2 * (n / 4) seconds, in integers: of the middle half where n is a multiple of 4, and
# of all where it is less. Only that count is used.
iterations()
{
	local tool=$1 bind_a=() bind_b=()
	shift
	if [ "$(kind "$candidate")" = siw ]; then
		bind_a=(--bind_source_ip "$IP_A")
		bind_b=(--bind_source_ip "$IP_B")
	fi
	pair $((seconds * 2 + 20)) \
		"${pin_b[@]}" "$tool" -d dev_b -R -F -D $((seconds * 2)) -p @PORT@ "$@" \
		"${bind_b[@]}" -- \
		"${pin_a[@]}" "$tool" -d dev_a -R -F -D $((seconds * 2)) -p @PORT@ "$@" \
		"${bind_a[@]}" "$IP_B" >&2 || return 0
	awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { n = $2 } END { print n }' "$TMP/client"
}

# bytes that both hosts have sent
sent() { { in_a cat /proc/net/dev; in_b cat /proc/net/dev; } | awk '$1 ~ /^v0/ { n += $10 } END { print n }'; }

# rdma_figure UNIT TOOL OPTIONS...
rdma_figure()
{
	local unit=$1 tool=$2 n size=0 before
	shift 2
	[ "$1" != -s ] || size=$2
	before=$(sent)
	n=$(iterations "$tool" "$@")
	[ -n "$n" ] && [ "$n" -gt 0 ] || return 0
	# A run that is counted as a whole would look twice as fast. This finds it for one QP; of
	# 64, a third of the bytes may still be outstanding when the count ends.
	if [ "$unit" = MiB/s ] && [ $((n * size * 10)) -gt $((($(sent) - before) * 7)) ]; then
		echo "# $tool $*: more than the middle half was counted" >&2
		return 0
	fi
	case $unit:$tool in
	MiB/s:*)	 awk -v n="$n" -v s="$size" -v t="$seconds" 'BEGIN { print n * s / t / 1048576 }' ;;
	1000/s:*)	 awk -v n="$n" -v t="$seconds" 'BEGIN { print n / t / 1000 }' ;;
	us:ib_read_lat)  awk -v n="$n" -v t="$seconds" 'BEGIN { print t / n * 1e6 }' ;;
	us:*)		 awk -v n="$n" -v t="$seconds" 'BEGIN { print t / n / 2 * 1e6 }' ;;
	esac
}

# figure UNIT TOOL OPTIONS..., of the candidate
figure()
{
	case $candidate:$1 in
	tcp:MiB/s) tcp_bw ;;
	tcp:us)	   tcp_lat ;;
	tcp:*)	   ;;
	*)	   rdma_figure "$@" ;;
	esac
}

measure()
{
	local row name unit rest value candidate=$1

	[ "$1" = tcp ] || up "$1"
	for row in "${rows[@]}"; do
		read -r name unit _ rest <<<"$row"
		if [ "$1" = tcp ] && [[ $name != write-64K && $name != write-lat-8 ]]; then
			continue
		fi
		# shellcheck disable=SC2086 # words
		value=$(missed "$name" figure $unit $rest)
		[ -z "$value" ] || echo "$value" >>"$TMP/$name.$1"
	done
	[ "$1" = tcp ] || down "$1"
}

# Does each of 64 QPs get its share? A program that does nothing else posts to all of them,
# in turn, what they have room for.
shares()
{
	up tern
	drive_up
	echo "shares of 64 QPs, Writes of 64 KiB, in percent of the mean:"
	limit 60 "${pin_a[@]}" ../bench/drive write -s 65536 -n 40000 -d 16 -q 64 -p -f
	down tern
}

place veth
if [ "$(nproc)" -gt 1 ]; then
	pin_a=(taskset -c 0)
	pin_b=(taskset -c 1)
fi
if [ "${TERN_SET_BENCH_RPS:-1}" = 1 ]; then
	in_a sh -c 'echo 1 >/sys/class/net/v0a/queues/rx-0/rps_cpus'
	in_b sh -c 'echo 2 >/sys/class/net/v0b/queues/rx-0/rps_cpus'
fi
modprobe -r siw 2>/dev/null || true
# shellcheck disable=SC2086 # words
every_round "lane $TERN_LANE, MTU 1500, RPS ${TERN_SET_BENCH_RPS:-1}" $candidates
[[ " $candidates " != *" tern "* ]] || shares
