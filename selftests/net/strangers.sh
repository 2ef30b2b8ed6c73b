#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Strangers: connections that nobody has accepted yet, or that were never good for
# anything. There is room for a number of them, it is shared out by source, others
# are served beside them, and what they make this host keep is bounded.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern's own limits"

# other addresses of a, and as many /64s. Two sources may share a slot of the hash, but
# hardly ever two of three share that of a fourth
OTHERS=(10.7.0.31 10.7.0.32 10.7.0.33)
NETWORKS=(fd00:8::1 fd00:9::1 fd00:a::1)

set_b() { in_b tern set tern_b "$@"; }

# strangers COMMAND...: strangers.py in a, until dismissed; its report is in $TMP/report
strangers()
{
	: >"$TMP/report"
	ip netns exec a ./strangers.py "${to:-$IP_B}" $port "$@" >"$TMP/report" 2>&1 &
	strangers_pid=$!
	timed 60 wait_for 60 grep -qx "done" "$TMP/report" || { cat "$TMP/report"; return 1; }
	cat "$TMP/report"
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

dismissed()
{
	ip netns pids a | xargs -r kill -9
	wait $strangers_pid 2>/dev/null || true
	eventually nobody_waits
}

states() { in_b tern show connections tern_b | grep -cE "^($1) " || true; }
nobody_waits() { [ "$(states 'REQUEST_WAIT|ULP_WAIT|LINGER')" = 0 ]; }
waiting() { [ "$(states "$1")" = "$2" ]; }
says() { grep -x "$*" "$TMP/report"; }
two_say() { [ "$(grep -c " $*\$" "$TMP/report")" -ge 2 ]; }

# a connection of an honest client, from this address
served_from() { timed 10 limit 30 in_a rping -c -I "$1" -a "$IP_B" -p $port -C 3; }

# a program that listens, and does not look
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

# 48 say nothing, of which there is room for 16: the oldest went, each was told so in a
# way that does not look like a peer of revision 1; an honest client of the same
# address, and of another one, comes in; the silent one of another address stays
silent_crowd()
{
	local before
	before=$(counter tern_b cm_half_open)
	set_b half-open 16
	strangers "${OTHERS[@]/#/silent:1:}" "silent:48:$IP_A" "wait:34:$IP_A"
	says "$IP_A left 1[34] no 3[45] mute 0"
	two_say left 1 no 0 mute 0
	eventually waiting REQUEST_WAIT 16
	[ "$(counter tern_b cm_half_open)" = $((before + 35)) ]
	served_from "$IP_A"
	served_from "${OTHERS[1]}"
	dismissed
}

# an IPv6 /64 is one source, and another /64 another
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

# what waits for the answer to its FIN counts as well
lingering_crowd()
{
	set_b half-open 16 close-ms 60000
	drop_in_b "tcp dport $port tcp flags & rst == rst drop"
	strangers "bad:100:$IP_A"
	soon waiting 'REQUEST_WAIT|LINGER' 16
	served_from "${OTHERS[0]}"
	undrop
	set_b close-ms 2000
	dismissed_lingering 16
}

# dismissed_lingering COUNT: so many others push them out, and end
dismissed_lingering()
{
	strangers "silent:$1:$IP_A"
	eventually waiting LINGER 0
	dismissed
}

# the program does not answer: 4 Requests wait, the next of that address are rejected,
# and one of another address takes the place of the last
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

# tern's own initiator takes "no room" for a rejection, not for revision 1
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

# nobody ever answers, as when iw_cm dropped the request: 20 times reply-ms, here 4 s
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
	# and the program, when it looks, survives it
	kill -CONT $server_pid
	set_b reply-ms 30000
	dismissed
	server_goes
}

# rcvbufs: of the sockets in b that are connected to our port, octets
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

# so many bad starts in a row, none of which answers our FIN
bad_starts()
{
	local before after
	set_b half-open 256 close-ms 600000
	drop_in_b "tcp dport $port tcp flags & rst == rst drop"
	before=$(slabs)
	strangers "bad:$1:$IP_A"
	soon waiting 'REQUEST_WAIT|LINGER' 256
	after=$(slabs)
	echo "slabs: $before KiB, then $after KiB; buffers $(buffers) KiB; $(sockets) sockets"
	[ "$(sockets)" -le 512 ]
	# 20,000 endpoints and their sockets would be more than 100 MiB. KASAN keeps for
	# a while what was freed.
	[ "${TERN_LANE:-}" = uml-debug ] || [ $((after - before)) -le 16384 ]
	[ "$(buffers)" -le 16384 ]
	undrop
	set_b close-ms 2000
	dismissed_lingering 256
}

topo_up
for address in "${OTHERS[@]}"; do
	in_a ip addr add "$address/24" dev v0a
done
set_b request-ms 600000
port=7271
ip netns exec b rping -s -P -a :: -p $port >/dev/null 2>&1 &
rping_pid=$!
wait_for_listen $port
point "a silent crowd keeps nobody out, and is told No" silent_crowd
point "an IPv6 /64 is one source" silent_networks
point "what waits for FINs is of the crowd" lingering_crowd
# the checked kernel takes minutes for 20000
starts=$([ "${TERN_LANE:-}" = uml-debug ] && echo 2000 || echo 20000)
point "$starts bad starts in a row: bounded slabs, buffers and sockets" bad_starts "$starts"
kill -9 $rping_pid
wait $rping_pid 2>/dev/null || true
point "Requests that wait for the program are shared out by source" requests_wait
point "no room is not revision 1" no_fall_back
point "a request that nobody answers ends by itself" unanswered
point "a stranger has TCP's own receive buffer, a stream a large one" small_buffers
finish
