#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck disable=SC2034,SC2154 # read in lib.sh, set in hosts.sh
# TCP programs over rsockets, by Documentation/recipes/rsockets.rst. They know
# nothing of RDMA: iperf3 as Debian has it, which copies a file; and for what it
# cannot show, a file server with poll() and one that forks, a client with
# select(). And librdmacm's own rstream.

. ../net/lib.sh
. ../net/scene.sh
. ../net/netem.sh
RECIPES=$PWD/../../recipes
. ./lib.sh
. ./hosts.sh

files=$PWD/rsockets_file
mib16=16777216
small=$((100 / TERN_TIMEOUT_SCALE))

# iperf3 sends the contents of a file. Neither end ends by itself (see the recipe).
arrived() { [ "$(stat -c %s "$TMP/b/copy")" = $mib16 ] && same "$TMP/b/big" "$TMP/b/copy"; }
iperf3_copies()
{
	local ends

	port=$(new_port)
	( cd "$TMP/b" && on b 100 rsockets preload \
		COMMAND="iperf3 -s -1 -B $IP_B -p $port -F copy" ) >"$TMP/served" 2>&1 &
	ends=$!
	wait_for_listen "$port"
	( on a 100 rsockets preload \
		COMMAND="iperf3 -c $IP_B -p $port -l 1M -F $TMP/b/big" ) >"$TMP/iperf3" 2>&1 &
	ends+=" $!"
	eventually arrived || { cat "$TMP/served" "$TMP/iperf3"; return 1; }
	# shellcheck disable=SC2086 # two of them
	kill $ends
}

stock()
{
	counted iperf3_copies
	[ "$tern_rx" -ge $mib16 ]
	all_by_tern
}

get_big() { client get big >"$TMP/got"; }
put_big() { [ "$(client put stored <"$TMP/b/big")" = $mib16 ]; }

fetch()
{
	counted get_big
	same "$TMP/b/big" "$TMP/got"
	[ "$tern_tx" -ge $mib16 ]
}

store()
{
	counted put_big
	same "$TMP/b/big" "$TMP/b/stored"
	[ "$tern_rx" -ge $mib16 ]
	all_by_tern
}

fetch_small()
{
	local names=() i
	for ((i = 0; i < small; i++)); do
		head -c $((i * 97)) /dev/urandom >"$TMP/b/small$i"
		names+=("small$i")
	done
	client get "${names[@]}" >"$TMP/got"
	(cd "$TMP/b" && cat "${names[@]}") >"$TMP/all"
	same "$TMP/all" "$TMP/got"
}

# four in each direction at once
both_ways()
{
	local i pids=()
	for i in 1 2 3 4; do
		client get big >"$TMP/got$i" & pids+=($!)
		client put "stored$i" <"$TMP/b/big" >"$TMP/answer$i" & pids+=($!)
	done
	wait_each "${pids[@]}"
	for i in 1 2 3 4; do
		same "$TMP/b/big" "$TMP/got$i"
		same "$TMP/b/big" "$TMP/b/stored$i"
		[ "$(cat "$TMP/answer$i")" = $mib16 ]
	done
}

wait_each() { local pid; for pid; do wait "$pid"; done; }

# growing FILE: its client is writing it
growing() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt 1000000 ]; }

kill_client()
{
	client put endless </dev/zero >/dev/null 2>&1 &
	eventually growing "$TMP/b/endless"
	pkill -KILL -f "^$files put $IP_B $port endless"
	wait $! && return 1
	timed 10 client get small7 >"$TMP/got"
	same "$TMP/b/small7" <(head -c $((7 * 97)) "$TMP/got")
	rm "$TMP/b/endless"
}

kill_server()
{
	local pid
	client put endless </dev/zero >"$TMP/killed" 2>&1 &
	pid=$!
	eventually growing "$TMP/b/endless"
	pkill -KILL -f "^$files serve $IP_B $port"
	ends $pid
	wait $pid && return 1
	cat "$TMP/killed"
	rm "$TMP/b/endless"
}

# the server's parent has accepted, the child sends
forked()
{
	serve fork rsockets fork
	block=fork counted get_big
	same "$TMP/b/big" "$TMP/got"
	wait "$serving"
	[ "$tern_tx" -ge $mib16 ]
}

rstream_pair()
{
	pair 60 rstream -b "$(server_address "$IP_B" 0.0.0.0)" -p @PORT@ "$@" -- \
		rstream -s "$IP_B" -p @PORT@ "$@"
}

topo_up
mkdir "$TMP/b"
head -c $mib16 /dev/urandom >"$TMP/b/big"
point "rsockets' settings are written" follow rsockets settings
point "iperf3 copies a file of 16 MiB" stock
serve serve rsockets preload
point "a file of 16 MiB from the server, poll() there, select() here" fetch
point "a file of 16 MiB to the server, which ends with shutdown()" store
point "$small small files, a connection each" fetch_small
point "four files of 16 MiB each way at once" both_ways
packets_as_on_a_wire
point "a file of 16 MiB from the server while packets are lost" \
	under RetransSegs loss 1% -- fetch
point "a client is killed, the server serves the next one" kill_client
point "the server is killed, its client gets an error" kill_server
point "a server that forks" forked
point "rstream, nonblocking, with keepalive" rstream_pair -T n -k 1 -S 65536 -C 100
point "rstream, blocking, verified" rstream_pair -T b -T v -S 65536 -C 50
point "no object of the programs is left" nothing_left
finish
