#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What congestion controls give where packets queue or are lost, for Documentation/tuning.rst:
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:queues.sh
#
# Two hosts have a router between them, which forwards 200 Mbit/s to b. Its queue holds 1 MB and
# drops what comes then, or marks (ECN) what waits for more than a millisecond, or the path loses
# packets by chance. A figure is of Sends of 64 KiB to b, or of a ping-pong of 8 bytes while
# such Sends go on; those of iperf3 are beside.
#
# TERN_SET_BENCH_ROUNDS (1), TERN_SET_BENCH_ROWS (a regular expression, of paths),
# TERN_SET_BENCH_CANDIDATES.

. "$(dirname "$0")/compare.sh"
# shellcheck source=rows.sh
. ../bench/rows.sh
. ../net/netem.sh

# shellcheck disable=SC2034 # every_round looks at it
rounds=${TERN_SET_BENCH_ROUNDS:-1}

# NAME | QPs | seconds of iperf3 | milliseconds of a round trip | the queue towards b, or netem's
# words in its place
paths=(
	"drops|8|6|2|pfifo limit 700"
	"marks|8|6|2|codel limit 700 target 500ms interval 1s ecn ce_threshold 1ms"
	"loses|1|20|20|netem loss 0.1%"
)
mapfile -t paths < <(printf '%s\n' "${paths[@]}" | wanted_rows)

candidates=${TERN_SET_BENCH_CANDIDATES:-cubic cubic,ECN BBR DCTCP}
# shellcheck disable=SC2034
ratios=()

# of each path NAME the rows NAME, NAME-tcp and NAME-ping
rows=()
for path in "${paths[@]}"; do
	for row in " MiB/s high" "-tcp MiB/s high" "-ping us low"; do
		rows+=("${path%%|*}$row")
	done
done

# Between the two hosts comes r, which routes, and answers for both in ARP. A bridge would leave
# packets to their sockets, and TCP would wait for those that the queue holds.
routed()
{
	local host addr to

	before_exit() { ip netns delete r; }
	for host in r a b; do
		ip netns add $host
		# a namespace without any address takes each other one for a broadcast
		ip -n $host link set lo up
	done
	in_r sysctl -q net.ipv4.ip_forward=1
	for host in a b; do
		addr=$IP_A to=$IP_B
		[ $host = a ] || addr=$IP_B to=$IP_A
		ip link add "v0$host" mtu 1500 netns $host type veth \
			peer name "r_$host" mtu 1500 netns r
		in_r ip link set "r_$host" up
		in_r ip route add "$addr" dev "r_$host"
		in_r sysctl -q "net.ipv4.conf.r_$host.proxy_arp=1"
		ip -n $host link set "v0$host" up
		ip -n $host addr add "$addr/32" dev "v0$host"
		ip -n $host route add "$to" dev "v0$host"
	done
	packets_as_on_a_wire
}
in_r() { ip netns exec r "$@"; }

# queues MILLISECONDS QDISC...: what goes to a is late by these; netem's limit is never reached
queues()
{
	local delay=$1

	shift
	in_r tc qdisc del dev r_a root 2>/dev/null || true
	in_r tc qdisc del dev r_b root 2>/dev/null || true
	in_r tc qdisc add dev r_a root netem delay "${delay}ms" limit 100000
	if [ "$1" = netem ]; then
		in_r tc qdisc add dev r_b root netem rate 200mbit limit 700 seed 1 "${@:2}"
	else
		in_r tc qdisc add dev r_b root handle 1: tbf rate 200mbit burst 8k limit 10m
		in_r tc qdisc add dev r_b parent 1: "$@"
	fi
}

# control NAME: at both hosts
control()
{
	local name=$1 ecn=2 host

	case $1 in
	cubic,ECN) name=cubic ecn=1 ;;
	DCTCP)	   ecn=1 ;;
	esac
	for host in a b; do
		ip netns exec "$host" sysctl -q "net.ipv4.tcp_ecn=$ecn" \
			"net.ipv4.tcp_congestion_control=${name,,}"
	done
}

# Sends of so many QPs
alone()
{
	run_tool ib_send_bw -s 65536 -n $((1600 / $1)) -e -Q 1 -q "$1" || return 0
	own_figure MiB/s
}

# a ping-pong while Sends of so many QPs go on
beside()
{
	local bulk=(ib_send_bw -R -F -N -p 19000 -s 65536 -n 1000000 -e -Q 1 -q "$1") both=()

	ip netns exec b "${bulk[@]}" -d dev_b >/dev/null 2>&1 &
	both+=($!)
	eventually listening 19000
	ip netns exec a "${bulk[@]}" -d dev_a "$IP_B" >/dev/null 2>&1 &
	both+=($!)
	sleep 6
	! run_tool ib_send_lat -s 8 -n 100 -e || own_figure us
	kill -9 "${both[@]}"
	wait "${both[@]}" 2>/dev/null || true
}

measure()
{
	local path name qps seconds delay qdisc iperf

	control "$1"
	for path in "${paths[@]}"; do
		IFS='|' read -r name qps seconds delay qdisc <<<"$path"
		# shellcheck disable=SC2086 # words
		queues "$delay" $qdisc
		alone "$qps" >>"$TMP/$name.$1"
		iperf=(-P "$qps")
		tcp_bw >>"$TMP/$name-tcp.$1"
		beside "$qps" >>"$TMP/$name-ping.$1"
		echo "# $1, $name: $(tail -qn 1 "$TMP/$name"{,-tcp,-ping}".$1" | xargs)" >&2
		in_r tc -s qdisc show dev r_b | grep -E 'Sent|mark' >&2
	done
}

modprobe -a tcp_bbr tcp_dctcp
sysctl -q net.ipv4.tcp_allowed_congestion_control="cubic bbr dctcp"
routed
up tern
where=veth drive_up
# shellcheck disable=SC2086 # words
every_round veth $candidates
