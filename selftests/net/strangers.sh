#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Strangers: connections that no program has accepted yet, and the remains of those that
# ended. The device keeps a bounded number of them, shared out by source address, serves
# other clients at the same time, and uses a bounded amount of memory for them. With
# arguments, run only the points whose function is one of them.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its limits"

# other addresses of a, and as many /64s. Two sources may have the same slot of the hash
# table, but hardly ever do two of three share the slot of a fourth
OTHERS=(10.7.0.31 10.7.0.32 10.7.0.33)
NETWORKS=(fd00:8::1 fd00:9::1 fd00:a::1)
OTHER_PORT=7272
QUIET_PORT=7299

# the output of strangers.py
report=$TMP/report

set_b() { in_b tern set tern_b "$@"; }

# strangers COMMAND...: run strangers.py in a, until dismissed
strangers()
{
	come "$@"
	settle
}

come()
{
	: >"$report"
	ip netns exec a ./strangers.py "${to:-$IP_B}" $port "$@" >"$report" 2>&1 &
	strangers_pids+=($!)
}

# settle [SECONDS]: wait for the report
settle()
{
	local status=0
	took wait_for "${1:-60}" grep -qx "done" "$report" || status=$?
	cat "$report"
	[ $status = 0 ] || echo "SYNs dropped in b: $(tcp_counter b ListenDrops)"
	return $status
}

# wait_for SECONDS COMMAND...
wait_for()
{
	local end=$((SECONDS + $1 * TERN_TIMEOUT_SCALE))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

killed()
{
	ip netns pids a | xargs -r kill -9
	wait "${strangers_pids[@]}" 2>/dev/null || true
}

dismissed()
{
	killed
	eventually nobody_waits
}

states() { in_b tern show connections tern_b | grep -cE "^($1) " || true; }
nobody_waits() { [ "$(states 'REQUEST_WAIT|ULP_WAIT|LINGER')" = 0 ]; }
waiting() { [ "$(states "$1")" = "$2" ]; }
crowded() { [ "$(counter tern_b cm_half_open)" = "$1" ]; }
says() { grep -x "$*" "$report"; }
two_say() { [ "$(grep -c " $*\$" "$report")" -ge 2 ]; }

# served_from ADDRESS: a well-behaved client with this address is served
served_from() { timed 10 limit 30 in_a rping -c -I "$1" -a "$IP_B" -p $port -C 3; }

# a server that listens, and is stopped
absent_server()
{
	server
	# shellcheck disable=SC2154 # scene.sh's
	kill -STOP $server_pid
}

server_goes()
{
	kill -9 $server_pid 2>/dev/null || true
	ends $server_pid
}

# 48 connections of one source are silent, and the device keeps 16: the oldest end with a
# Reply with R=1, which does not look like a peer of revision 1. Clients with this and
# another address are served, and silent connections of other addresses are kept.
silent_crowd()
{
	local before
	before=$(counter tern_b cm_half_open)
	set_b half-open 16
	strangers "${OTHERS[@]/#/silent:1:}" "silent:48:$IP_A" "wait:34:$IP_A"
	says "$IP_A left 1[34] no 3[45] mute 0"
	two_say left 1 no 0 mute 0
	eventually waiting REQUEST_WAIT 16
	crowded $((before + 35))
	served_from "$IP_A"
	served_from "${OTHERS[1]}"
	dismissed
}

# an IPv6 /64 is one source
silent_networks()
{
	local to=$IP6_B network
	in_a ip addr add fd00:7::77/64 dev v0a nodad
	for network in "${NETWORKS[@]}"; do
		in_a ip addr add "$network/64" dev v0a nodad
		in_b ip route add "${network%1}/64" dev v0b
	done
	set_b half-open 16
	strangers "${NETWORKS[@]/#/silent:1:}" silent:20:fd00:7::77 "silent:20:$IP6_A" \
		wait:20:fd00:7::77 "wait:6:$IP6_A"
	two_say left 1 no 0 mute 0
	says "$IP6_A left 1[34] no [67] mute 0"
	dismissed
}

# ignore_resets COUNT: set half-open to COUNT; until the point ends, whether it passes or
# not, tern gets no RST in answer to a FIN, and waits for long
ignore_resets()
{
	half_open=$1
	trap accept_resets EXIT
	set_b half-open "$half_open" close-ms $NEVER
	drop_in_b "tcp dport $port tcp flags & rst == rst drop"
}

# and end the connections that linger: as many others replace them, and end
accept_resets()
{
	undrop || true
	set_b close-ms 2000
	killed
	strangers "silent:$half_open:$IP_A"
	eventually waiting LINGER 0
	dismissed
}

# connections that wait for the answer to their FIN count, too
lingering_crowd()
{
	ignore_resets 16
	strangers "bad:100:$IP_A"
	soon waiting 'REQUEST_WAIT|LINGER' 16
	served_from "${OTHERS[0]}"
}

# Connections arrive at two listeners at the same time: each new one is kept, and the
# oldest is removed for it. The count stays right: afterwards 16 others are kept, and one
# more removes one of them. Each listener's backlog has room for all its connections
# (TCP_BACKLOG in listen.c), so none is dropped, however slow the device is.
two_listeners()
{
	local before there=$TMP/there
	before=$(counter tern_b cm_half_open)
	set_b half-open 16
	come "silent:200:$IP_A" "wait:184:$IP_A"
	port=$OTHER_PORT report=$there come "silent:200:${OTHERS[0]}" "wait:184:${OTHERS[0]}"
	settle
	report=$there settle
	eventually crowded $((before + 384))
	eventually waiting REQUEST_WAIT 16
	says "$IP_A left [0-9]* no [0-9]* mute 0"
	report=$there says "${OTHERS[0]} left [0-9]* no [0-9]* mute 0"
	# the first client leaves a place, so the second one removes no connection
	served_from "$IP_A"
	port=$OTHER_PORT served_from "${OTHERS[1]}"
	dismissed
	strangers "silent:16:$IP_A" "silent:1:${OTHERS[0]}" "wait:1:$IP_A"
	says "$IP_A left 15 no 1 mute 0"
	crowded $((before + 386))
	dismissed
}

# Lingering ends of streams: with half-open 1 the device keeps 16 of them. One more removes
# the oldest of the source that has most; silent connections remove none of them.
lingering_streams()
{
	local before lost
	before=$(counter tern_b cm_half_open)
	lost=$(counter tern_b cm_close_lost)
	set_b half-open 1 close-ms $NEVER
	strangers "${OTHERS[@]/#/tail:1:}" "tail:20:$IP_A" "silent:3:$IP_A" "wait:8:$IP_A"
	two_say cut
	says "$IP_A cut 0 1 2 3 4 5\( 6\)\?"
	eventually crowded $((before + 9))
	eventually waiting LINGER 16
	waiting REQUEST_WAIT 1
	says "$IP_A left 1[45] no [12] mute 0"
	# the peer has received all data
	[ "$(counter tern_b cm_close_lost)" = "$lost" ]
	served_from "${OTHERS[1]}"
	set_b close-ms 2000
	dismissed
}

# the program does not answer: 4 Requests wait, further ones of that address are rejected,
# and one of another address replaces one of them
requests_wait()
{
	set_b half-open 4
	absent_server
	strangers "ask:4:$IP_A" "ask:2:$IP_A" "wait:2:$IP_A"
	says "$IP_A left 4 no 2 mute 0"
	dismissed
	strangers "ask:4:$IP_A" "${OTHERS[@]/#/ask:1:}" "wait:2:$IP_A"
	eventually waiting ULP_WAIT 4
	says "$IP_A left [12] no [23] mute 0"
	dismissed
	server_goes
}

# tern's initiator takes the Reply of a full listener for a rejection, and does not retry
# with revision 1
no_fall_back()
{
	local before
	before=$(counter tern_a cm_fallback)
	set_b half-open 1
	absent_server
	strangers "ask:1:$IP_A"
	for _ in 1 2 3; do
		limit 20 in_a rping -c -a $IP_B -p $port -C 1 >"$TMP/client" 2>&1 && return 1
		grep REJECTED "$TMP/client"
	done
	[ "$(counter tern_a cm_fallback)" = "$before" ]
	dismissed
	server_goes
}

# no program answers, as when iw_cm dropped the request: it ends after 20 times reply-ms
unanswered()
{
	local before
	before=$(counter tern_b cm_timeout)
	set_b half-open 16 reply-ms 200
	absent_server
	strangers "ask:3:$IP_A" "wait:3:$IP_A"
	says "$IP_A left 0 no 3 mute 0"
	[ "$(counter tern_b cm_timeout)" -ge $((before + 3)) ]
	waiting ULP_WAIT 0
	# the program still works when it continues
	kill -CONT $server_pid
	set_b reply-ms 30000
	dismissed
	server_goes
}

# The program has destroyed its listening id, and does not answer; iw_cm may have dropped
# the request with the id. The request ends after reply-ms, and up to a second that the
# timer may sleep, instead of 20 times reply-ms: 3 s, instead of 40.
listener_gone()
{
	set_b half-open 16 reply-ms 2000
	server -A -L
	come "ask:1:$IP_A" "wait:1:$IP_A"
	eventually grep -qx 'vtraffic: asked' "$TMP/server"
	timed 8 settle
	says "$IP_A left 0 no 1 mute 0"
	waiting ULP_WAIT 0
	set_b reply-ms 30000
	dismissed
	server_goes
}

# until that time the program can accept the request
accepted_after_the_listener()
{
	server -L -k 1
	client -n 20 -x 2000
	# shellcheck disable=SC2154 # scene.sh's
	ends $client_pid $server_pid
	cat "$TMP/client" "$TMP/server"
	grep -q 'served [1-9]' "$TMP/server"
}

# rcvbufs: receive buffers in bytes of the sockets in b that are connected to our port
rcvbufs() { in_b ss -Htnm state established "sport = :$port" | grep -o 'rb[0-9]*' | cut -c3- | sort -n; }
small_buffers()
{
	local most
	most=$(in_b sysctl -n net.ipv4.tcp_rmem | awk '{ print $2 }')
	set_b half-open 16
	server
	strangers "silent:1:$IP_A"
	rcvbufs
	[ "$(rcvbufs)" -le "$most" ]
	dismissed
	client -t 600 -x 200000
	rcvbufs
	[ "$(rcvbufs)" -ge 524288 ]
	# shellcheck disable=SC2154 # scene.sh's
	kill -9 $client_pid
	ends $client_pid
	server_goes
}

# KiB of slabs, and of TCP's buffers; sockets of b
slabs() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }
# shellcheck disable=SC2016 # awk's
buffers() { in_b awk '/^TCP:/ { print $NF * 4 }' /proc/net/sockstat; }
sockets() { in_b ss -Htan "sport = :$port" | grep -vc LISTEN || true; }

# bad_starts COUNT: so many bad starts, none of which answers tern's FIN
bad_starts()
{
	local before after
	ignore_resets 256
	before=$(slabs)
	come "bad:$1:$IP_A"
	# it may connect faster than the device accepts: then SYNs are dropped, and TCP sends
	# them again after 1 s
	settle 240
	soon waiting 'REQUEST_WAIT|LINGER' 256
	after=$(slabs)
	echo "slabs: $before KiB, then $after KiB; buffers $(buffers) KiB; $(sockets) sockets"
	[ "$(sockets)" -le 512 ]
	# 20,000 endpoints and their sockets would be more than 100 MiB. KASAN keeps freed
	# memory for a while.
	[ "${TERN_LANE:-}" = uml-debug ] || [ $((after - before)) -le 16384 ]
	[ "$(buffers)" -le 16384 ]
}

# the device is removed: its lingering connections are reset, so it does not wait for close-ms
device_goes()
{
	servers_up
	set_b half-open 16 close-ms $NEVER
	come "tail:20:$IP_A" "wait:20:$IP_A"
	eventually waiting LINGER 20
	# in the background: if it waits for a peer, it goes on when the peers are killed
	rdma link delete tern_b &
	ends $!
	no_device tern_b
	settle
	says "$IP_A left 0 no 0 mute 0"
	eventually no_tcp b
	servers_down
}

# KiB of free pages
free_pages() { awk '/^MemFree:/ { print $2 }' /proc/meminfo; }
# waits_in_tcp PORT BYTES
waits_in_tcp() { [ "$(in_b ss -Htn "sport = :$1" | awk '{ print $3 }')" -gt "$2" ]; }

# hoards CASE PORT READS BYTES KIB: the peer asks a server at the port for so many Reads, of which
# more than BYTES wait in TCP then, and no more memory than KIB is used. Each Response is built
# into a block of its CPU that those of another stream fill: all run on one CPU. netem delays the
# Requests, since a Response to one that comes inside of its post goes into another block.
hoards()
{
	local before after hoarder
	taskset --pid --cpu-list 0 $BASHPID >/dev/null
	in_a tc qdisc add dev v0a root netem delay 1ms
	server
	client -t 600 -m read -x 100000 -d 1
	: >"$TMP/hoard"
	ip netns exec a ./mpa_peer.py "$1" $IP_B "$2" "$3" >>"$TMP/hoard" 2>&1 &
	hoarder=$!
	wait_for 60 grep -qx connected "$TMP/hoard" || { cat "$TMP/hoard"; return 1; }
	sleep 1
	before=$(free_pages)
	wait_for 60 grep -qx asked "$TMP/hoard" || { cat "$TMP/hoard"; return 1; }
	eventually waits_in_tcp "$2" "$4"
	after=$(free_pages)
	echo "free: $before KiB, then $after KiB; $(in_b ss -Htnm "sport = :$2")"
	kill -9 $hoarder $client_pid
	ends $client_pid
	server_goes
	# KASAN keeps freed memory for a while
	[ "${TERN_LANE:-}" = uml-debug ] || [ $((before - after)) -le "$5" ]
}

# hoarded: what the server at its port and hoards leave, also where they fail
hoarded()
{
	kill -9 "$asked" 2>/dev/null || true
	ends "$asked"
	in_a tc qdisc del dev v0a root
	in_b sysctl -qw net.ipv4.tcp_wmem="$usual"
}

# 64 may keep their blocks, 4 MiB. Without a bound it would be 30 to 50 MiB.
shut_window()
{
	usual=$(in_b sysctl -n net.ipv4.tcp_wmem)
	ip netns exec b rping -s -P -a $IP_B -p $QUIET_PORT >/dev/null 2>&1 &
	asked=$!
	trap hoarded EXIT
	wait_for_listen $QUIET_PORT
	hoards to_hoard $QUIET_PORT 800 8000 8192
}

# 256 KiB may keep their blocks, 8 MiB or twice that. Without a bound it would be 60 MiB.
shut_window_of_data()
{
	usual=$(in_b sysctl -n net.ipv4.tcp_wmem)
	in_b sysctl -qw net.ipv4.tcp_wmem='4096 8388608 8388608'
	server
	asked=$server_pid
	trap hoarded EXIT
	hoards to_hoard_data "$port" 1000 2000000 20480
}

# start and stop the servers at both ports
servers_up()
{
	local p
	server_pids=()
	for p in $port $OTHER_PORT; do
		ip netns exec b rping -s -P -a :: -p $p >/dev/null 2>&1 &
		server_pids+=($!)
		wait_for_listen $p
	done
}

servers_down()
{
	kill -9 "${server_pids[@]}" 2>/dev/null || true
	wait "${server_pids[@]}" 2>/dev/null || true
}

wanted=("$@")

topo_up
for address in "${OTHERS[@]}"; do
	in_a ip addr add "$address/24" dev v0a
done
set_b request-ms $NEVER
port=7271
servers_up
proves "silent connections do not keep clients out, and are rejected" silent_crowd
proves "an IPv6 /64 is one source" silent_networks
proves "two listeners remove the oldest at the same time" two_listeners
proves "connections that wait for a FIN count as strangers" lingering_crowd
proves "lingering ends of streams are bounded, and the oldest is removed" lingering_streams
# the checked kernel takes minutes for 20000
starts=$([ "${TERN_LANE:-}" = uml-debug ] && echo 2000 || echo 20000)
proves "$starts bad starts in a row: bounded slabs, buffers and sockets" bad_starts "$starts"
servers_down
proves "Requests that wait for the program are shared out by source" requests_wait
proves "an initiator takes a full listener for a rejection, not for revision 1" no_fall_back
proves "a request that no program answers times out" unanswered
proves "a request whose listening id is destroyed times out soon" listener_gone
proves "a request can be accepted after its listening id is destroyed" accepted_after_the_listener
proves "a stranger has TCP's default receive buffer, a stream a large one" small_buffers
proves "Responses that a peer does not take keep no blocks" shut_window
proves "Responses of 2 KiB that a peer does not take keep few blocks" shut_window_of_data
proves "a device with lingering ends of streams is removed at once" device_goes
finish
