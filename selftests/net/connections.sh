#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What tern show connections and tern monitor report of each connection: while it is
# open, after its end, and when it was rejected or failed.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks tern show connections"

# count COMMAND EXPRESSION: the number of connections for which it is true
count()
{
	"$1" | python3 -c '
import json, sys
conns = json.load(sys.stdin)
assert len({c["nr"] for c in conns}) == len(conns), "a number twice"
print(sum(bool(eval(sys.argv[1])) for c in conns))' "$2"
}

# one MODE FEATURES TEXT: both ends have this setting extensions; tern show connections
# prints the features as JSON and as text. Each end reports as peer's values what the
# other end reports as its own.
one()
{
	in_a tern set tern_a extensions "$1"
	in_b tern set tern_b extensions "$1"
	server
	client -c
	during "${@:2}"
	kill -INT $client_pid
	kill -9 $server_pid
	ends $client_pid $server_pid
	afterwards "$2"
}

during()
{
	expect conns_of_a state=OPEN ended=false role=initiator local=$IP_A \
		remote=$IP_B remote_port=$port mpa_rev=2 version=1 crc=true \
		tx_markers=false rx_markers=false p2p=true rtr=write own_rev=2 \
		own_flags=0x50 own_control=ABCD peer_rev=2 peer_flags=0x50 \
		peer_control=ABCD mss=1448 \
		term_found=null term_sent=null term_received=null error=null
	# the RTR, and the answer to it, may still be in flight
	soon expect conns_of_b state=OPEN role=responder local=$IP_B local_port=$port \
		remote=$IP_A mpa_rev=2 rtr=write "extensions=$1" peer_rev=2 own_control=ABCD
	soon expect conns_of_a "extensions=$1" "mulpdu=$3"
	soon expect conns_of_b "mulpdu=$3"
	in_a tern show connections tern_a | tee "$TMP/text"
	grep -Eq "^OPEN +[0-9]+ +tern_a +[0-9]+ +initiator +2 +$IP_A:[0-9]+ +$IP_B:$port .*crc p2p rtr:write extensions:$2 mss:1448" "$TMP/text"
	conns_of_a >"$TMP/json-a"
	conns_of_b >"$TMP/json-b"
	python3 -c '
import json, sys
a, b = (max(json.load(open(f)), key=lambda c: c["nr"]) for f in sys.argv[1:])
for key in "rev", "flags", "ird", "ord", "control", "pd_len":
    assert a["own_" + key] == b["peer_" + key], key
    assert b["own_" + key] == a["peer_" + key], key
assert a["ord"] == b["peer_ord"] or a["ord"] <= b["ird"]
assert a["own_pd_len"] > 0 and a["local_port"] == b["remote_port"]
' "$TMP/json-a" "$TMP/json-b"
}

afterwards()
{
	soon expect conns_of_a state=CLOSED ended=true rtr=write "extensions=$1" own_rev=2 \
		mss=1448
	in_a tern show connections tern_a | tee "$TMP/text"
	not grep -q CLOSED "$TMP/text"
	in_a tern show connections --all tern_a | has '^CLOSED'
}

# each end shows the length of the FPDUs that it sends, also after the end
of_their_own_length()
{
	in_a tern set tern_a extensions negotiate max-fpdu 8192
	in_b tern set tern_b extensions negotiate max-fpdu mss
	pair 20 rping -s -a $IP_B -p @PORT@ -C 2 -- rping -c -a $IP_B -p @PORT@ -C 2
	soon expect conns_of_a ended=true mss=1448 mulpdu=8210
	soon expect conns_of_b ended=true mss=1448 mulpdu=1442
	in_a tern set tern_a max-fpdu 32768
	in_b tern set tern_b max-fpdu 32768
}

over_ipv6()
{
	pair 20 rping -s -a "$IP6_B" -p @PORT@ -C 2 -- \
		rping -c -a "$IP6_B" -p @PORT@ -C 2
	soon expect conns_of_a ended=true local=$IP6_A remote=$IP6_B error=null
	soon expect conns_of_b ended=true local=$IP6_B remote=$IP6_A error=null
	in_a tern show connections --all tern_a | has "\\[$IP6_A\\]:[0-9]* *\\[$IP6_B\\]:[0-9]"
}

# from_peer CASE KEY=VALUE...: mpa_peer.py on b, rping on a
from_peer()
{
	local peer
	port=$(new_port)
	in_b ./mpa_peer.py "from_$1" "$IP_B" $port >"$TMP/peer" 2>&1 &
	peer=$!
	wait_for_listen $port
	limit 20 in_a rping -c -a "$IP_B" -p $port -C 1 >"$TMP/client" 2>&1 || true
	wait $peer || cat "$TMP/peer"
	soon expect conns_of_a ended=true remote_port=$port "${@:2}"
}

# to_peer CASE KEY=VALUE...: mpa_peer.py on a, rping on b
to_peer()
{
	local server
	port=$(new_port)
	ip netns exec b rping -s -P -a 0.0.0.0 -p $port >/dev/null 2>&1 &
	server=$!
	wait_for_listen $port
	in_a ./mpa_peer.py "to_$1" "$IP_B" $port
	soon expect conns_of_b ended=true local_port=$port "${@:2}"
	kill -9 $server 2>/dev/null || true
	ends $server
}

# both_listen NETNS PID: $monitor has printed its first line, and the other process has
# joined the same multicast groups
both_listen()
{
	eventually grep -q State "$TMP/lines"
	eventually same_groups "$@"
}
same_groups() { [ "$(groups_of a $monitor)" = "$(groups_of "$@")" ]; }
# shellcheck disable=SC2016 # awk's
groups_of()
{
	ip netns exec "$1" awk -v pid="$2" '$2 == 16 && $3 % 4194304 == pid { print $4 }' \
		/proc/net/netlink
}

# COMMAND... makes a connection of a fail; tern monitor reports it once
heard()
{
	local monitor json
	: >"$TMP/lines"
	ip netns exec a tern --json monitor >"$TMP/events" 2>&1 &
	json=$!
	ip netns exec a tern monitor >"$TMP/lines" 2>&1 &
	monitor=$!
	both_listen a $json
	"$@"
	eventually grep -q "\"remote_port\": $port" "$TMP/events"
	eventually grep -q ":$port .*term-sent:2/0/07(MPA: no matching RTR option, RFC 6581 8) .*error:EPROTO" "$TMP/lines"
	cat "$TMP/events" "$TMP/lines"
	[ "$(grep -c "\"remote_port\": $port" "$TMP/events")" = 1 ]
	kill $monitor $json 2>/dev/null || true
	wait $monitor $json 2>/dev/null || true
}

# the sender counts the code, and both ends trace it
terminated()
{
	local before after
	echo 1 >/sys/kernel/tracing/tracing_on
	echo >/sys/kernel/tracing/trace
	echo 1 >/sys/kernel/tracing/events/tern/tern_term_tx/enable
	echo 1 >/sys/kernel/tracing/events/tern/tern_term_rx/enable
	before=$(counter tern_a term_sent_mpa_rtr)
	from_peer no_rtr_type error=EPROTO term_found=2/0/07 term_sent=2/0/07 \
		"term_sent_name=MPA: no matching RTR option" "term_sent_section=RFC 6581 8"
	from_peer early_terminate term_received=2/0/07
	after=$(counter tern_a term_sent_mpa_rtr)
	echo 0 >/sys/kernel/tracing/events/tern/enable
	grep tern_term_ /sys/kernel/tracing/trace
	grep -q 'tern_term_tx: .*term=2/0/07 MPA: no matching RTR' /sys/kernel/tracing/trace
	grep -q 'tern_term_rx: .*term=2/0/07' /sys/kernel/tracing/trace
	same "$after" $((before + 1))
}

# Q4: a bad CRC before the first valid FPDU: the responder sends no Terminate
withheld()
{
	local before
	before=$(counter tern_b term_withheld)
	to_peer bad_rtr error=EPROTO term_found=2/0/02 term_sent=null rtr=null
	same "$(counter tern_b term_withheld)" $((before + 1))
	same "$(counter tern_b term_sent_mpa_crc)" 0
}

# more connections than fit into one netlink message, and more ended ones than the device
# keeps
many()
{
	in_b tern set tern_b half-open 1000 request-ms $NEVER
	server
	ip netns exec a python3 -c '
import socket, sys, time
socks = [socket.create_connection((sys.argv[1], int(sys.argv[2]))) for _ in range(300)]
print("connected", flush=True)
time.sleep(1000)' "$IP_B" $port >"$TMP/many" 2>&1 &
	client_pid=$!
	eventually grep -q connected "$TMP/many"
	soon waiting 300
	kill -9 $client_pid
	soon no_living
	same "$(count conns_of_b 'c["ended"]')" 64
	kill -9 $server_pid
	ends $server_pid
}
waiting() { same "$(count conns_of_b 'c["state"] == "REQUEST_WAIT"')" "$1"; }
no_living() { same "$(count conns_of_b 'not c["ended"]')" 0; }
same() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }

# a dump continues while its device is removed
device_goes()
{
	local dumper
	( while :; do tern show connections --all >/dev/null || exit 1; done ) &
	dumper=$!
	for _ in 1 2 3 4 5; do
		rdma link delete tern_a
		dev_add a tern_a tern v0a
		server
		limit 10 in_a $vtraffic client -a $IP_B -p $port -n 5 >"$TMP/client" ||
			{ cat "$TMP/client"; return 1; }
		kill -9 $server_pid 2>/dev/null || true
		ends $server_pid
	done
	kill -0 $dumper
	kill $dumper
	not in_a tern show connections nope 2>"$TMP/err"
	cat "$TMP/err"
	grep -q 'no tern device of this name' "$TMP/err"
}

# ---- unload of the module-----------------------------------------------------------

module_back()
{
	modprobe tern
	dev_add a tern_a tern v0a
	dev_add b tern_b tern v0b
}

# a monitor holds no reference, and reports the unload
unload_under_monitor()
{
	local monitor json
	: >"$TMP/lines"
	ip netns exec a tern monitor >"$TMP/lines" 2>&1 &
	monitor=$!
	ip netns exec b tern --json monitor >"$TMP/events" 2>&1 &
	json=$!
	both_listen b $json
	within 5 rmmod tern
	ends $monitor $json
	not wait $monitor
	not wait $json
	cat "$TMP/lines" "$TMP/events"
	grep -qx 'tern: the module was unloaded' "$TMP/lines"
	[ "$(cat "$TMP/events")" = 'tern: the module was unloaded' ]
	not tern show connections
	module_back
}

# a dump that is not read holds the module until its socket closes
unload_under_held_dump()
{
	local holder
	ip netns exec b ./badnl.py --hold-dump >"$TMP/holder" 2>&1 &
	holder=$!
	eventually grep -q holding "$TMP/holder"
	within 5 not rmmod tern 2>"$TMP/err"
	grep -qi 'in use' "$TMP/err"
	tern show tern_b
	kill -9 $holder
	ends $holder
	within 5 rmmod tern
	module_back
}

dump_on()
{
	local status
	until [ -e "$TMP/enough" ]; do
		status=0
		timeout -k 2 10 tern show connections --all || status=$?
		[ $status != 124 ] || touch "$TMP/hung"
	done
}

# during dumps the unload is sometimes refused, and soon succeeds
unload_under_dumps()
{
	local dumpers=()
	for _ in 1 2; do
		dump_on >/dev/null 2>&1 &
		dumpers+=($!)
	done
	for _ in 1 2 3; do
		timed 10 eventually rmmod tern
		sleep 0.2
		module_back
	done
	touch "$TMP/enough"
	ends "${dumpers[@]}"
	not test -e "$TMP/hung"
	in_a tern show connections --all
}

topo_up
in_a tern set tern_a reply-ms 2000
point "a connection, seen from both ends while it is open and after its end" one off [] none 1442
point "likewise one whose ends agreed on extensions" \
	one negotiate '["7306", "v2", "long-fpdu"]' 7306,v2,long-fpdu 32786
point "max-fpdu: each end shows its own MULPDU" of_their_own_length
point "a connection over IPv6" over_ipv6
point "H11, MPA-180: a rejected connection" from_peer reject state=CLOSED \
	error=ECONNREFUSED peer_flags=0x70 peer_ird=4 peer_ord=4 \
	peer_control=ABCD peer_pd_len=2 version=null rtr=null extensions=null
point "O14: IRD and ORD of a connection that they ended" from_peer too_many_reads \
	error=EPROTO term_sent=2/0/06 peer_ird=16 peer_ord=16382
point "K8: a Terminate after the Reply" from_peer early_terminate \
	error=EPROTO term_received=2/0/07 term_sent=null
point "H16: the revision that the second attempt asked for" from_peer fall_back \
	own_rev=1 own_flags=0x40 own_ird=null mpa_rev=1 p2p=false
point "H18: no Reply" from_peer never_answered error=ETIMEDOUT peer_rev=null own_rev=2
point "O3, O7: not negotiated reads as 16383" to_peer not_negotiated \
	peer_ird=16383 peer_ord=16383 own_ird=16383 own_ord=16383 peer_control=ABCD
point "G3: revision 0 refused" to_peer rev_0 peer_rev=0 peer_flags=0xc0 \
	own_rev=1 own_flags=0x60 error=EPROTONOSUPPORT version=null
point "tern monitor: an error is reported" heard from_peer no_rtr_type error=EPROTO
point "a Terminate is counted by its code, and traced" terminated
point "F70: an error before the first valid FPDU is counted, no Terminate" withheld
point "300 connections, and 64 that ended" many
point "rmmod while a dump is held" unload_under_held_dump
point "rmmod while tern monitor listens" unload_under_monitor
point "tern monitor reports an error again" heard from_peer no_rtr_type error=EPROTO
point "rmmod while tern show connections dumps" unload_under_dumps
point "tern show connections works while devices are added and removed" device_goes
finish
