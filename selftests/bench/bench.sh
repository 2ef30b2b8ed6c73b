#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Compare tern, siw, rxe and TCP in one boot: every candidate in every round, so
# that a noisy machine hits them alike; medians, and the ratio to siw with the
# same CRC setting. Prints the table of Documentation/performance.rst.
#
#	selftests/lab/run --lane uml --plain bench:bench.sh
#
# BENCH_ROUNDS (5), BENCH_SECONDS (2 per figure), BENCH_RPS (1: the receiver's
# softirq runs on the other CPU).

cd "$(dirname "$0")/../net" || exit 1
. ./lib.sh

# shellcheck disable=SC2034 # lib.sh looks at it
ktap_done=1
rounds=${TERN_SET_BENCH_ROUNDS:-5}
seconds=${TERN_SET_BENCH_SECONDS:-2}
candidates=${TERN_SET_BENCH_CANDIDATES:-tern tern-nocrc siw siw-crc tcp}

# row NAME UNIT BETTER TOOL OPTIONS...
rows=(
	"write-64K MiB/s high ib_write_bw -s 65536"
	"send-64K MiB/s high ib_send_bw -s 65536"
	"read-64K MiB/s high ib_read_bw -s 65536"
	"send-64 1000/s high ib_send_bw -s 64"
	"write-64 1000/s high ib_write_bw -s 64"
	"write-lat-8 us low ib_write_lat -s 8"
	"send-lat-8 us low ib_send_lat -s 8"
	"read-lat-8 us low ib_read_lat -s 8"
)

load()
{
	case $1 in
	tern*)	 modprobe tern ;;
	siw)	 modprobe siw ;;
	siw-crc) insmod /mnt/variants/siw-crc/siw.ko ;;
	esac
}

kind() { echo "${1%%-*}"; }

up()
{
	load "$1"
	dev_add a dev_a "$(kind "$1")" v0a
	dev_add b dev_b "$(kind "$1")" v0b
	if [ "$1" = tern-nocrc ]; then
		tern set dev_a crc off
		tern set dev_b crc off
	fi
}

down()
{
	rdma link delete dev_a
	rdma link delete dev_b
	[ "$(kind "$1")" != siw ] || rmmod siw
}

# perftest's own figures need a CPU clock that UML has not: with -D it counts
# the iterations in the middle half of the time, which is all we take from it.
iterations()
{
	local tool=$1 bind_a=() bind_b=()
	shift
	if [ "$(kind "$candidate")" = siw ]; then
		bind_a=(--bind_source_ip "$IP_A")
		bind_b=(--bind_source_ip "$IP_B")
	fi
	pair $((seconds + 20)) \
		"$tool" -d dev_b -R -F -D "$seconds" -p @PORT@ "$@" "${bind_b[@]}" -- \
		"$tool" -d dev_a -R -F -D "$seconds" -p @PORT@ "$@" "${bind_a[@]}" "$IP_B" >&2 || return 0
	awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { n = $2 } END { print n }' "$TMP/client"
}

# rdma_figure UNIT TOOL OPTIONS...
rdma_figure()
{
	local unit=$1 tool=$2 n size=0
	shift 2
	[ "$1" != -s ] || size=$2
	n=$(iterations "$tool" "$@")
	[ -n "$n" ] && [ "$n" -gt 0 ] || return 0
	case $unit:$tool in
	MiB/s:*)	 awk -v n="$n" -v s="$size" -v t="$seconds" 'BEGIN { print n * s / (t / 2) / 1048576 }' ;;
	1000/s:*)	 awk -v n="$n" -v t="$seconds" 'BEGIN { print n / (t / 2) / 1000 }' ;;
	us:ib_read_lat)  awk -v n="$n" -v t="$seconds" 'BEGIN { print t / 2 / n * 1e6 }' ;;
	us:*)		 awk -v n="$n" -v t="$seconds" 'BEGIN { print t / 2 / n / 2 * 1e6 }' ;;
	esac
}

tcp_bw()
{
	in_b iperf3 -s -1 -p 5201 >/dev/null &
	eventually listening 5201
	in_a iperf3 -c "$IP_B" -p 5201 -t "$seconds" -J >"$TMP/iperf" || return 0
	awk '/"sum_received"/ { sum = 1 }
	     sum && /"bits_per_second"/ { gsub(/[^0-9.e+]/, "", $2); print $2 / 8 / 1048576; exit }' "$TMP/iperf"
	wait
}

tcp_lat()
{
	in_b qperf >/dev/null 2>&1 &
	local server=$!
	eventually listening 19765
	in_a qperf -uu -t "$seconds" -m 8 "$IP_B" tcp_lat >"$TMP/qperf" || true
	kill $server
	wait $server 2>/dev/null || true
	awk '$1 == "latency" { u = $4; v = $3; print u == "ms" ? v * 1000 : u == "ns" ? v / 1000 : v }' "$TMP/qperf"
}

# figure CANDIDATE UNIT TOOL OPTIONS...
figure()
{
	candidate=$1
	shift
	case $candidate:$1 in
	tcp:MiB/s) tcp_bw ;;
	tcp:us)	   tcp_lat ;;
	tcp:*)	   ;;
	*)	   rdma_figure "$@" ;;
	esac
}

measure()
{
	local row name unit rest value

	[ "$1" = tcp ] || up "$1"
	for row in "${rows[@]}"; do
		read -r name unit _ rest <<<"$row"
		if [ "$1" = tcp ] && [[ $name != write-64K && $name != write-lat-8 ]]; then
			continue
		fi
		# shellcheck disable=SC2086 # words
		value=$(figure "$1" $unit $rest)
		[ -z "$value" ] || echo "$value" >>"$TMP/$name.$1"
	done
	[ "$1" = tcp ] || down "$1"
}

median()
{
	[ -s "$1" ] || { echo -; return; }
	sort -g "$1" | awk '{ v[NR] = $1 } END { printf "%.1f", v[int((NR + 1) / 2)] }'
}

# ratio OURS THEIRS BETTER: over 1 is better for us
ratio()
{
	if [ "$1" = - ] || [ "$2" = - ]; then echo -; return; fi
	awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { printf "%.2f", d == "high" ? a / b : b / a }'
}

table()
{
	local row name unit better c

	printf '%-16s %-7s' row unit
	for c in $candidates; do printf ' %10s' "$c"; done
	printf ' %9s %9s\n' on/siw off/siw
	for row in "${rows[@]}"; do
		read -r name unit better _ <<<"$row"
		printf '%-16s %-7s' "$name" "$unit"
		for c in $candidates; do
			printf ' %10s' "$(median "$TMP/$name.$c")"
		done
		printf ' %9s' "$(ratio "$(median "$TMP/$name.tern")" \
			"$(median "$TMP/$name.siw-crc")" "$better")"
		printf ' %9s\n' "$(ratio "$(median "$TMP/$name.tern-nocrc")" \
			"$(median "$TMP/$name.siw")" "$better")"
	done
}

wires_up
if [ "${TERN_SET_BENCH_RPS:-1}" = 1 ]; then
	in_a sh -c 'echo 3 >/sys/class/net/v0a/queues/rx-0/rps_cpus'
	in_b sh -c 'echo 3 >/sys/class/net/v0b/queues/rx-0/rps_cpus'
fi
modprobe -r siw 2>/dev/null || true
for ((round = 1; round <= rounds; round++)); do
	echo "round $round of $rounds"
	for c in $candidates; do
		measure "$c"
	done
done
echo "kernel $(uname -r), $(nproc) CPUs, lane $TERN_LANE, MTU 1500, median of $rounds"
table
