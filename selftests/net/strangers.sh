#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Strangers: connections that nobody has accepted yet, or that were never good for
# anything. There is room for a number of them, it is shared out by source, others
# are served beside them, and what they make this host keep is bounded. With arguments,
# only the points whose function is one of them.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern's own limits"

# other addresses of a, and as many /64s. Two sources may share a slot of the hash, but
# hardly ever two of three share that of a fourth
OTHERS=(10.7.0.31 10.7.0.32 10.7.0.33)
NETWORKS=(fd00:8::1 fd00:9::1 fd00:a::1)
OTHER_PORT=7272

# what strangers.py says
report=$TMP/report

set_b() { in_b tern set tern_b "$@"; }

# strangers COMMAND...: strangers.py in a, until dismissed
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

settle()
{
	timed 60 wait_for 60 grep -qx "done" "$report" || { cat "$report"; return 1; }
	cat "$report"
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
	wait "${strangers_pids[@]}" 2>/dev/null || true
	eventually nobody_waits
}

states() { in_b tern show connections tern_b | grep -cE "^($1) " || true; }
nobody_waits() { [ "$(states 'REQUEST_WAIT|ULP_WAIT|LINGER')" = 0 ]; }
waiting() { [ "$(states "$1")" = "$2" ]; }
crowded() { [ "$(counter tern_b cm_half_open)" = "$1" ]; }
says() { grep -x "$*" "$report"; }
two_say() { [ "$(grep -c " $*\$" "$report")" -ge 2 ]; }

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
	crowded $((before + 35))
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
	set_b half-open 16 close-ms 600000
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

# Two listeners make room at the same time: each newcomer has its place, and each that
# goes makes one. What is counted then is what is there: 16 others have room, and one
# more takes one of them out.
two_doors()
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
	# the first one frees a place for the second one
	served_from "$IP_A"
	port=$OTHER_PORT served_from "${OTHERS[1]}"
	dismissed
	strangers "silent:16:$IP_A" "silent:1:${OTHERS[0]}" "wait:1:$IP_A"
	says "$IP_A left 15 no 1 mute 0"
	crowded $((before + 386))
	dismissed
}

# Tails of streams: half-open 1 lets 16 of them be. One more takes the oldest of the
# source that has most, and what is quiet takes none.
tails()
{
	local before lost
	before=$(counter tern_b cm_half_open)
	lost=$(counter tern_b cm_close_lost)
	set_b half-open 1 close-ms 60000
	strangers "${OTHERS[@]/#/tail:1:}" "tail:20:$IP_A" "silent:3:$IP_A" "wait:8:$IP_A"
	two_say cut
	says "$IP_A cut 0 1 2 3 4 5\( 6\)\?"
	eventually crowded $((before + 9))
	eventually waiting LINGER 16
	waiting REQUEST_WAIT 1
	says "$IP_A left 1[45] no [12] mute 0"
	# the peer has all of what it was sent
	[ "$(counter tern_b cm_close_lost)" = "$lost" ]
	served_from "${OTHERS[1]}"
	set_b close-ms 2000
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

# The program's listening id is gone, and it does not answer; iw_cm may have dropped
# the request with the id. reply-ms are left, and the second that the timer may sleep,
# not 20 times reply-ms.
forlorn()
{
	set_b half-open 16 reply-ms 1000
	server -A -L
	come "ask:1:$IP_A" "wait:1:$IP_A"
	eventually grep -qx 'vtraffic: asked' "$TMP/server"
	timed 4 settle
	says "$IP_A left 0 no 1 mute 0"
	waiting ULP_WAIT 0
	set_b reply-ms 30000
	dismissed
	server_goes
}

# until then the program may accept
accepted_behind_the_listener()
{
	server -L -k 1
	client -n 20 -x 2000
	# shellcheck disable=SC2154 # scene.sh's
	ends $client_pid $server_pid
	cat "$TMP/client" "$TMP/server"
	grep -q 'served [1-9]' "$TMP/server"
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

# the device goes: its tails are reset, none keeps it waiting until close-ms is over
device_goes()
{
	doors_open
	set_b half-open 16 close-ms 30000
	come "tail:20:$IP_A" "wait:20:$IP_A"
	eventually waiting LINGER 20
	# in the background: one that waits for a tail goes on when the peers are killed
	rdma link delete tern_b &
	ends $!
	no_device tern_b
	settle
	says "$IP_A left 0 no 0 mute 0"
	eventually no_tcp b
	doors_close
}

# the programs at both ports
doors_open()
{
	local p
	doors=()
	for p in $port $OTHER_PORT; do
		ip netns exec b rping -s -P -a :: -p $p >/dev/null 2>&1 &
		doors+=($!)
		wait_for_listen $p
	done
}

doors_close()
{
	kill -9 "${doors[@]}" 2>/dev/null || true
	wait "${doors[@]}" 2>/dev/null || true
}

wanted=("$@")
# proves NAME FUNCTION ...: the point, if it is wanted
proves()
{
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $2 "* ]] || return 0
	point "$@"
}

topo_up
for address in "${OTHERS[@]}"; do
	in_a ip addr add "$address/24" dev v0a
done
set_b request-ms 600000
port=7271
doors_open
proves "a silent crowd keeps nobody out, and is told No" silent_crowd
proves "an IPv6 /64 is one source" silent_networks
proves "two listeners make room at the same time" two_doors
proves "what waits for FINs is of the crowd" lingering_crowd
proves "tails of streams are bounded, and the oldest goes" tails
# the checked kernel takes minutes for 20000
starts=$([ "${TERN_LANE:-}" = uml-debug ] && echo 2000 || echo 20000)
proves "$starts bad starts in a row: bounded slabs, buffers and sockets" bad_starts "$starts"
doors_close
proves "Requests that wait for the program are shared out by source" requests_wait
proves "no room is not revision 1" no_fall_back
proves "a request that nobody answers ends by itself" unanswered
proves "a request whose listening id is gone ends soon" forlorn
proves "a request outlives its listening id" accepted_behind_the_listener
proves "a stranger has TCP's own receive buffer, a stream a large one" small_buffers
proves "a device with tails goes at once" device_goes
finish
