# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2153,SC2154 # peers.sh and scene.sh set them
# Sourced by peers.sh: a good pair of hosts that has nothing to do with the victim. It is measured
# alone, while a plain TCP server in the victim's place is attacked, and while the victim gets the
# same packets at the same rate.
#
# The figures are those of the VM whose clock moves by a nanosecond with each instruction
# (selftests/check bystander): other load of a machine would move them more than the attack does.
# In UML perftest does not even find the frequency of its clock.
#
#	 netns c                       netns d
#	+-------------------------+   +--------------------------------+
#	| ib_send_lat, ib_write_bw|   |  their servers                 |
#	| tern_c                  |   |                         tern_d |
#	|     v0c 10.8.0.1 -------+---+-- v0d 10.8.0.2                 |
#	+-------------------------+   +--------------------------------+

IP_C=10.8.0.1
IP_D=10.8.0.2
SINK_PORT=7475
rounds=5
packets=5000	# a second
# what the pair does in each round
latency=(ib_send_lat -e -s 64 -n 5000)
throughput=(ib_write_bw -s 65536 -n 2000)

sink_up()
{
	ip netns exec b ./sink "$IP_B" $SINK_PORT >"$TMP/sink" 2>&1 &
	sink_pid=$!
	wait_for_listen $SINK_PORT
}

sink_down()
{
	kill $sink_pid
	wait $sink_pid || true
}

bystander_up()
{
	ip netns add c
	ip netns add d
	ip link add v0c mtu 1500 netns c type veth peer name v0d mtu 1500 netns d
	ip -n c addr add $IP_C/24 dev v0c
	ip -n d addr add $IP_D/24 dev v0d
	ip -n c link set v0c up
	ip -n d link set v0d up
	dev_add c tern_c tern v0c
	dev_add d tern_d tern v0d
	sink_up
}

bystander_down()
{
	sink_down
	ip netns exec c rdma link delete tern_c
	ip netns exec d rdma link delete tern_d
	ip netns delete c
	ip netns delete d
}

# figure COLUMN TOOL [OPTION]...: a number of the row that the client prints; the server is in d.
# The client may come too early, as that of perftest_pair may.
figure()
{
	local column=$1 port server
	shift

	for _ in 1 2 3; do
		port=$(new_port)
		limit 60 ip netns exec d "$@" -R -F -p "$port" >"$TMP/by_server" 2>&1 &
		server=$!
		wait_for_listen "$port" d
		if limit 60 ip netns exec c "$@" -R -F -p "$port" $IP_D >"$TMP/by_client" 2>&1; then
			wait $server
			awk -v n="$column" '/^ *[0-9]+ +[0-9]+ / { print $n }' "$TMP/by_client"
			return
		fi
		kill $server 2>/dev/null || true
		wait $server || true
	done
	cat "$TMP/by_client" >&2
	return 1
}

# measure NAME: a round's 99th percentile of latencies and its average throughput
measure()
{
	figure 8 "${latency[@]}" >>"$TMP/latency.$1"
	figure 4 "${throughput[@]}" >>"$TMP/throughput.$1"
}

# reached WHAT: nine of ten connections that the attack has had, but for the last 100, have come to
# WHAT: what is refused costs less
reached()
{
	[[ $(<"$TMP/flood") =~ :\ ([0-9]+)\ SYNs,.*\ ([0-9]+)\ $1, ]]
	[ $((BASH_REMATCH[2] * 10)) -ge $(((BASH_REMATCH[1] - 100) * 9)) ]
}

# beside_attack NAME PORT WHAT: a round while PORT is attacked, which reached() WHAT
beside_attack()
{
	attack 100 port="$2" as=script count=4000 rate=$packets
	sleep 0.5
	measure "$1"
	kill $attacker
	wait $attacker
	echo "$1: $(cat "$TMP/flood")"
	reached "$3"
	all_gone
}

median() { sort -g "$1" | awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)] }'; }

# show WHAT UNIT: the medians, and each round
show()
{
	local name

	for name in alone sink victim; do
		echo "$1, $name: $(median "$TMP/$1.$name") $2, of $(xargs <"$TMP/$1.$name")"
	done
}

# times WHAT: the victim's median, by that of the TCP server
times()
{
	awk -v victim="$(median "$TMP/$1.victim")" -v sink="$(median "$TMP/$1.sink")" \
		'BEGIN { print victim / sink }'
}

# is_spared: the pair notices no more of it than of the same packets for TCP
is_spared()
{
	local round

	bystander_up
	in_b tern set tern_b crc on markers off
	for ((round = 0; round < rounds; round++)); do
		measure alone
		beside_attack sink $SINK_PORT answers
		beside_attack victim $PORT Terminates
	done
	bystander_down
	victim_lives
	no_report
	show latency us
	show throughput MiB/s
	echo "times that beside TCP: latency $(times latency), throughput $(times throughput)"
	awk -v l="$(times latency)" -v t="$(times throughput)" \
		'BEGIN { exit !(l > 0 && l <= 1.5 && t >= 0.8) }'
}

bystander()
{
	point "a bystander notices no more than of the same packets to plain TCP" is_spared
	sed '/ ms: /d; s/^/# /' "$TMP/out"
}
