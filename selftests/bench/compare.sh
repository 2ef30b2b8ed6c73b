# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # rounds, candidates and rows are the script's
# Sourced by the scripts of this folder: candidates, rounds, medians, the table. A
# script sets rounds, candidates and rows, "NAME UNIT high|low TOOL OPTIONS...", and
# its measure CANDIDATE leaves the figures of a row in $TMP/NAME.CANDIDATE, one a line.

cd "$(dirname "$0")/../net" || exit 1
# shellcheck source=../net/lib.sh
. ./lib.sh

# shellcheck disable=SC2034 # lib.sh looks at it
ktap_done=1

load_driver()
{
	case $1 in
	tern*)	 modprobe tern ;;
	siw)	 modprobe siw ;;
	rxe)	 modprobe rdma_rxe ;;
	siw-crc) load_file /mnt/variants/siw-crc/siw.ko ;;
	esac
}

kind() { echo "${1%%-*}"; }

# those that have a device; its netdev is v0a, v0b
hosts="a b"

# what a program of each host is started by, to pin it to a CPU
pin_a=() pin_b=()

# more options of iperf3's client
iperf=()

# one_host MTU: a and b are both this host, with a device at b, and their traffic goes
# over lo
one_host()
{
	topo_down
	# on_exit would kill all that runs there
	before_exit() { ip netns delete a; ip netns delete b; }
	ip netns attach a $$
	ip netns attach b $$
	ip link set lo mtu "$1" up
	hosts=b
	ip link add v0b mtu 1500 type dummy
	ip addr add "$IP_B/24" dev v0b
	ip link set v0b up
}

up()
{
	local host

	TERN_PEER=$(kind "$1")
	load_driver "$1"
	for host in $hosts; do
		dev_add "$host" "dev_$host" "$TERN_PEER" "v0$host"
		case $1 in
		tern-nocrc) tern set "dev_$host" crc off ;;
		tern-noext) tern set "dev_$host" extensions off ;;
		tern-short) tern set "dev_$host" features 7306,v2 ;;
		tern-short-nocrc) tern set "dev_$host" features 7306,v2 crc off ;;
		esac
	done
}

down()
{
	local host

	for host in $hosts; do
		rdma link delete "dev_$host"
	done
	[ "$TERN_PEER" != siw ] || rmmod siw
	# the rest is plain TCP, whose listeners ss shows
	TERN_PEER=tcp
}

# select the rows to measure from stdin
wanted_rows() { grep -E "^(${TERN_SET_BENCH_ROWS:-.})"; }

# every_round WHERE CANDIDATE...: measure each in every round, then the table
every_round()
{
	local round c where=$1

	shift
	for ((round = 1; round <= rounds; round++)); do
		echo "round $round of $rounds, $where"
		for c; do
			measure "$c"
		done
	done
	echo "kernel $(uname -r), $(nproc) CPUs, $where, median of $rounds"
	table
}

tcp_bw()
{
	in_b "${pin_b[@]}" iperf3 -s -1 -p 5201 >/dev/null &
	eventually listening 5201
	in_a "${pin_a[@]}" iperf3 -c "$IP_B" -p 5201 -t "$seconds" -J "${iperf[@]}" \
		>"$TMP/iperf" || return 0
	awk '/"sum_received"/ { sum = 1 }
	     sum && /"bits_per_second"/ { gsub(/[^0-9.e+]/, "", $2); print $2 / 8 / 1048576; exit }' "$TMP/iperf"
	wait
}

tcp_lat()
{
	in_b "${pin_b[@]}" qperf >/dev/null 2>&1 &
	local daemon=$!
	eventually listening 19765
	in_a "${pin_a[@]}" qperf -uu -t "$seconds" -m 8 "$IP_B" tcp_lat >"$TMP/qperf" || true
	# the server may have ended with its client
	kill $daemon 2>/dev/null || true
	wait $daemon 2>/dev/null || true
	awk '$1 == "latency" { u = $4; v = $3; print u == "ms" ? v * 1000 : u == "ns" ? v / 1000 : v }' "$TMP/qperf"
}

median()
{
	[ -s "$1" ] || { echo -; return; }
	sort -g "$1" | awk '{ v[NR] = $1 } END { printf "%.1f", v[int((NR + 1) / 2)] }'
}

# ratio OURS THEIRS BETTER: over 1 means that ours is better; rounded down, since 0.949
# is not within 5%
ratio()
{
	if [ "$1" = - ] || [ "$2" = - ]; then echo -; return; fi
	awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { printf "%.2f", int((d == "high" ? a / b : b / a) * 100) / 100 }'
}

# columns of ratios: HEADING OURS THEIRS, of candidates
ratios=("on/siw tern siw-crc" "off/siw tern-nocrc siw")

table()
{
	local row name unit better c r ours theirs

	printf '%-18s %-7s' row unit
	for c in $candidates; do printf ' %10s' "$c"; done
	for r in "${ratios[@]}"; do printf ' %8s' "${r%% *}"; done
	echo
	for row in "${rows[@]}"; do
		read -r name unit better _ <<<"$row"
		printf '%-18s %-7s' "$name" "$unit"
		for c in $candidates; do
			printf ' %10s' "$(median "$TMP/$name.$c")"
		done
		for r in "${ratios[@]}"; do
			read -r _ ours theirs <<<"$r"
			printf ' %8s' "$(ratio "$(median "$TMP/$name.$ours")" "$(median "$TMP/$name.$theirs")" "$better")"
		done
		echo
	done
}
