#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Item 9: whatever ends, in whatever order, ends within 5 s and leaves nothing.
# The kernel log is looked at by the runner.

. ./lib.sh
. ./scene.sh

module=$TERN_TYPE
rounds=${TERN_SET_ROUNDS:-$([ "${TERN_LANE:-}" = uml-debug ] && echo 20 || echo 100)}

# ---- processes that are killed ----------------------------------------------

# what a survivor says: it was told of the end
learned()
{
	cat "$1"
	grep -Eqi 'disconnected|flushed|async event' "$1"
}

# kill_during MODE WHO: the other one learns it, and ends
kill_during()
{
	traffic -m "$1"
	if [ "$2" = client ]; then
		kill -9 $client_pid
		ends $client_pid $server_pid
		learned "$TMP/server"
	else
		kill -9 $server_pid
		ends $server_pid $client_pid
		learned "$TMP/client"
	fi
	nothing_left
}

kill_both()
{
	traffic
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
	nothing_left
}

kill_idle()
{
	server
	client -c
	kill -9 $client_pid
	ends $client_pid $server_pid
	nothing_left
}

# a peer that takes the connection and never says a word
silent_listener()
{
	port=$((port + 1))
	sleep 1000 | ip netns exec b busybox nc -l -p $port >/dev/null &
	wait_for_listen "$port"
}

connecting_client()
{
	: >"$TMP/client"
	ip netns exec a $vtraffic client -a $IP_B -p $port >"$TMP/client" 2>&1 &
	client_pid=$!
	eventually sh -c "rdma resource show qp link $DEV_A | grep ."
}

kill_connecting()
{
	silent_listener
	connecting_client
	eventually in_a sh -c "ss -Htn dport = :$port | grep ESTAB"
	kill -9 $client_pid
	ends $client_pid
	nothing_left
	ip netns pids b | xargs -r kill -9
}

kill_syn_sent()
{
	drop_in_b "tcp flags syn counter drop"
	port=$((port + 1))
	connecting_client
	eventually in_b sh -c "nft list table inet t | grep 'packets [1-9]'"
	kill -9 $client_pid
	ends $client_pid
	nothing_left
	undrop
}

# a TCP client that never sends its Request, while the server goes
kill_half_open()
{
	server
	sleep 1000 | ip netns exec a busybox nc $IP_B $port >/dev/null &
	eventually in_a sh -c "ss -Htn dport = :$port | grep ESTAB"
	kill -9 $server_pid
	ends $server_pid
	nothing_left
	timed 5 eventually no_tcp b
	ip netns pids a | xargs -r kill -9
}

# MPA-123: the peer is there no more, and nothing tells so: TCP gives up
peer_falls_silent()
{
	in_a sysctl -qw net.ipv4.tcp_retries2=3
	traffic -m write
	drop_in_b drop
	timed 10 eventually ended $client_pid
	learned "$TMP/client"
	kill -9 $server_pid
	ends $server_pid
	undrop
	in_a sysctl -qw net.ipv4.tcp_retries2=15
	nothing_left
}

# ---- devices that go -----------------------------------------------------------

traffic_ends()
{
	ends $client_pid $server_pid
	objects_gone
}

link_delete_traffic()
{
	traffic
	timed 5 rdma link delete "$1"
	no_device "$1"
	traffic_ends
	if [ "$1" = "$DEV_A" ]; then
		dev_add a "$DEV_A" "$TERN_TYPE" v0a
	else
		dev_add b "$DEV_B" "$TERN_PEER" v0b
	fi
}

link_delete_connecting()
{
	silent_listener
	connecting_client
	timed 5 rdma link delete "$DEV_A"
	ends $client_pid
	ip netns pids b | xargs -r kill -9
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
}

new_wires()
{
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	topo_down
	wires_up
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

netdev_delete_traffic()
{
	traffic
	timed 5 ip -n a link delete v0a
	timed 5 eventually no_device "$DEV_A"
	timed 5 eventually no_device "$DEV_B"
	traffic_ends
}

# a device goes while a stopped process holds a context: it can't be asked
stopped()
{
	hold
	kill -STOP $holder_pid
	timed 5 "$@"
	timed 5 eventually no_device "$DEV_A"
	kill -CONT $holder_pid
	kill -9 $holder_pid
	ends $holder_pid
}

stopped_link_delete()
{
	stopped rdma link delete "$DEV_A"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
}

stopped_netdev_delete()
{
	stopped ip -n a link delete v0a
}

# stopped in the middle of its traffic, the peer's too
stopped_traffic()
{
	traffic
	kill -STOP $client_pid $server_pid
	timed 5 rdma link delete "$DEV_A"
	timed 5 rdma link delete "$DEV_B"
	kill -CONT $client_pid $server_pid
	traffic_ends
}

# ---- the module -------------------------------------------------------------------

refused_rmmod()
{
	! rmmod "$module" 2>"$TMP/err" || return 1
	cat "$TMP/err"
	grep -qi 'in use' "$TMP/err"
}

rmmod_while_held()
{
	hold
	refused_rmmod
	rdma link show "$DEV_A/1"
	kill -STOP $holder_pid
	refused_rmmod
	kill -9 $holder_pid
	ends $holder_pid
	nothing_left
}

rmmod_during_traffic()
{
	traffic
	refused_rmmod
	kill -9 $client_pid $server_pid
	ends $client_pid $server_pid
}

# with devices there, and nobody who uses them
rmmod_removes_devices()
{
	rdma link show "$DEV_A/1"
	timed 5 rmmod "$module"
	no_device "$DEV_A"
	no_device "$DEV_B"
	modprobe "$module"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

# while a server listens: rdma_cm's listeners hold no context of a program
rmmod_listening()
{
	server
	timed 5 rmmod "$module"
	modprobe "$module"
	kill -9 $server_pid
	ends $server_pid
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

# ---- packets that are lost once -----------------------------------------------------

lost_fin()
{
	server -k 1
	lose_once "$1" "tcp flags & fin == fin"
	client -n 20 -x 2000
	ends $client_pid $server_pid
	lost_one
	grep -q operations "$TMP/client"
	grep -q served "$TMP/server"
	nothing_left
	timed 5 eventually no_tcp a
	undrop
}

# the process is gone when its FIN is lost: the kernel alone repeats it
lost_fin_of_dead()
{
	server
	client -c
	lose_once input "tcp flags & fin == fin"
	kill -9 $client_pid
	ends $client_pid $server_pid
	lost_one
	nothing_left
	undrop
}

# octets 2 and 3 of the FPDU are DDP's and RDMAP's: an untagged last Terminate
# (0x41 or 0x45 with the reserved bits clear, 0x47), behind 32 octets of TCP
lost_terminate()
{
	lose_once output "@th,272,8 & 0xc3 == 0x41 @th,280,8 == 0x47"
	limit 30 ../verbs/verbs_test "a deregistered remote key"
	lost_one
	undrop
}

# ---- rounds ---------------------------------------------------------------------------

# cache names and objects in use, of what a module may leak
slab()
{
	local cache
	for cache in /sys/kernel/slab/kmalloc-*; do
		echo 1 >"$cache/shrink" 2>/dev/null || true
	done
	awk '$1 ~ /^(kmalloc|vmap_area|TCP|sock_inode|dentry_never)/ { print $1, $2 }' /proc/slabinfo
}

# grown BEFORE AFTER N: caches with N or more objects more than before
grown()
{
	awk -v n="$3" 'NR == FNR { before[$1] = $2; next }
		$2 - before[$1] >= n { print $1, before[$1], $2 }' "$1" "$2"
}

one_round()
{
	modprobe "$module"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
	server -k 1
	client -n 3 -x 5000 -d 2
	wait $client_pid && wait $server_pid
	rdma link delete "$DEV_A"
	# the other device goes with the module
	rmmod "$module"
}

some_rounds()
{
	local i
	for ((i = 0; i < $1; i++)); do
		one_round || { echo "round $i failed"; cat "$TMP/client" "$TMP/server"; return 1; }
	done
	slab >"$TMP/slab$2"
}

# A leak takes an object or more in each round, and goes on; what the kernel keeps
# for itself grows by some dozen objects, and then no more. So count from the end
# of the first rounds, and let more rounds decide about what grew.
many_rounds()
{
	local n=$((rounds - 10))
	rmmod "$module"
	some_rounds 10 0
	some_rounds $n 1
	# KASAN keeps what is freed for a while; kmemleak looks there
	[ "${TERN_LANE:-}" != uml-debug ] || return 0
	while grown "$TMP/slab0" "$TMP/slab1" $((n * 6 / 10)) | grep .; do
		echo "so it was after $n rounds"
		[ $n -lt 150 ] || return 1
		some_rounds 40 1
		n=$((n + 40))
	done
}

if ! grep -q "^$module " /proc/modules; then
	modprobe "$module"
fi
topo_up
for mode in send write read; do
	point "item 9: kill -9 of the client during $mode" kill_during $mode client
	point "item 9: kill -9 of the server during $mode" kill_during $mode server
done
point "item 9: kill -9 of both during traffic" kill_both
point "item 9: kill -9 of an idle connection's client" kill_idle
point "item 9: kill -9 while the peer's answer is awaited" kill_connecting
point "item 9: kill -9 while TCP connects to nowhere" kill_syn_sent
point "item 9: kill -9 of a server with a half-open startup" kill_half_open
point "item 9: a peer that falls silent" peer_falls_silent
point "item 9: link delete during traffic, the client's" link_delete_traffic "$DEV_A"
point "item 9: link delete during traffic, the server's" link_delete_traffic "$DEV_B"
point "item 9: link delete while connecting" link_delete_connecting
point "item 9: netdev removed during traffic" netdev_delete_traffic
new_wires
point "item 9: link delete while a stopped process holds a context" stopped_link_delete
point "item 9: netdev removed while a stopped process holds a context" stopped_netdev_delete
new_wires
point "item 9: links deleted while both ends of traffic are stopped" stopped_traffic
new_wires
point "item 9: rmmod is refused while a process holds a context" rmmod_while_held
point "item 9: rmmod is refused during traffic" rmmod_during_traffic
point "item 9: rmmod removes devices" rmmod_removes_devices
point "item 9: rmmod with a server that listens" rmmod_listening
point "item 9: a FIN to the server lost once" lost_fin input
point "item 9: a FIN to the client lost once" lost_fin output
point "item 9: the FIN of a killed process lost once" lost_fin_of_dead
point "item 9: a Terminate lost once" lost_terminate
point "item 9: $rounds rounds of load, connect, unload: no leak" many_rounds
modprobe "$module"
finish
