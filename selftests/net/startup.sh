#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# MPA startup (RFC 5044 7.1, RFC 6581) against a scripted peer that is late, wrong or
# hostile before the connection is up, in both roles.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its answers to a scripted peer"

port=7171

# to NAME CASE [ARG]: the scripted peer on a connects to the server on b
to()
{
	point "responder: $1" limit 30 in_a ./mpa_peer.py "to_$2" "$IP_B" $port "${@:3}"
}

# client_says CASE EVENT: the scripted peer listens on b, rping on a must get EVENT
client_says()
{
	local peer p
	p=$(new_port)
	in_b ./mpa_peer.py "from_$1" "$IP_B" "$p" >"$TMP/peer" 2>&1 &
	peer=$!
	wait_for_listen "$p"
	limit 20 in_a rping -c -a "$IP_B" -p "$p" -C 1 >"$TMP/client" 2>&1 || true
	wait "$peer" || { cat "$TMP/peer" "$TMP/client"; return 1; }
	grep -q "$2" "$TMP/client" || { cat "$TMP/client"; return 1; }
}

from()
{
	point "initiator: $1" client_says "$2" "$3"
}

# waiting NETNS STATE COUNT: at least so many connections are in this state
waiting()
{
	[ "$(ip netns exec "$1" tern show connections "tern_$1" | grep -c "^$2 ")" -ge "$3" ]
}

# silent_crowd COUNT: so many peers, on both sides, send nothing during this point, and do
# not delay another connection: it waits for none of them, and for no second SYN
silent_crowd()
{
	local i p drops peers=() clients=()
	trap 'jobs -p | xargs -r kill -9 || true' EXIT
	p=$(new_port)
	drops=$(tcp_counter b ListenDrops)
	ip netns exec b ./mpa_peer.py from_nobody "$IP_B" "$p" &
	peers+=($!)
	ip netns exec a ./mpa_peer.py to_crowd "$IP_B" "$port" "$1" &
	peers+=($!)
	wait_for_listen "$p"
	for ((i = 0; i < $1; i++)); do
		ip netns exec a rping -c -a "$IP_B" -p "$p" -C 1 >/dev/null 2>&1 &
		clients+=($!)
	done
	eventually waiting b REQUEST_WAIT "$1"
	eventually waiting a REPLY_WAIT "$1"
	took limit 20 in_a rping -c -a "$IP_B" -p "$port" -C 3
	waiting a REPLY_WAIT "$1"
	waiting b REQUEST_WAIT "$1"
	[ "$(tcp_counter b ListenDrops)" = "$drops" ]
	kill -9 "${clients[@]}" "${peers[@]}"
	ends "${clients[@]}"
}

# urgent_while_asked: urgent data arrives while the server does not answer its
# CONNECT_REQUEST
urgent_while_asked()
{
	server -A
	limit 30 in_a ./mpa_peer.py to_urgent_after_request "$IP_B" "$port" "$TMP/server"
	grep -qx 'vtraffic: asked' "$TMP/server"
	kill -9 $server_pid
	ends $server_pid
}

# urgent data counts once for each connection of the earlier points that was still alive
counts_urgent()
{
	[ "$(counter tern_b rx_urgent)" = 9 ]
	[ "$(counter tern_a rx_urgent)" = 0 ]
	client_says urgent_reply CONNECT_ERROR
	[ "$(counter tern_a rx_urgent)" = 1 ]
}

topo_up
in_b tern set tern_b request-ms $NEVER rtr-ms $NEVER close-ms $NEVER
in_a tern set tern_a reply-ms $NEVER
ip netns exec b rping -s -P -a 0.0.0.0 -p $port >/dev/null 2>&1 &
rping_pid=$!
wait_for_listen $port

to "G9: enhanced Request, enhanced Reply" enhanced
to "G4: revision 1" plain
to "G8: revision 2 without enhanced data" plain_rev_2
to "O3, O7: 0x3FFF is answered by 0x3FFF" not_negotiated
to "K6: a Request byte by byte" byte_by_byte
to "K10, K11: reserved bits and R are ignored" reserved_bits
to "K1: each byte of the Key wrong" wrong_key
to "K2: the Reply's Key" reply_key
to "K3: 513 bytes of private data" long_data
to "K4: FIN inside the Request" fin_inside
to "K7: bytes after the Request" early_bytes
to "G10: enhanced data cut short" short_enhanced
to "G3: revision 0 gets revision 1, R=1" rev_0
to "G14: revision 3 gets revision 2, R=1" rev_3
to "more private data than rdma_cm carries" 256_bytes
to "URG: an urgent byte in the Request" urgent_request
to "URG: an urgent byte in an FPDU, Terminate 2/0/05" urgent_fpdu
to "URG: an urgent byte after the end is accepted" urgent_lingering
point "responder: URG: an urgent byte before the ULP accepts" urgent_while_asked
point "initiator: URG: an urgent byte in the Reply" counts_urgent
point "64 silent clients and 64 silent servers do not delay others" silent_crowd 64
in_b tern set tern_b request-ms 2000 rtr-ms 2000
to "K5: silence, closed by the timer" silent
to "F71: no RTR, closed by the timer" no_rtr
in_b tern set tern_b request-ms $NEVER half-open 8
to "half-open startups are bounded" half_open 8
kill -9 $rping_pid
wait $rping_pid 2>/dev/null || true

from "H10, F58: the RTR is the first message" rtr_first DISCONNECT
from "H11: a rejecting Reply, then FIN" reject REJECTED
from "H16: closed after an enhanced Request, a plain one follows" fall_back DISCONNECT
in_a tern set tern_a reply-ms 2000
from "H18: no Reply: UNREACHABLE" never_answered UNREACHABLE
in_a tern set tern_a reply-ms $NEVER
from "F60: no RTR type, Terminate 2/0/07" no_rtr_type CONNECT_ERROR
from "F59: model not granted, Terminate 2/0/07" other_model CONNECT_ERROR
from "O14: more Reads than can be given, Terminate 2/0/06" too_many_reads CONNECT_ERROR
from "K8: bytes after the Reply" early_bytes CONNECT_ERROR
from "K4: FIN inside the Reply, no retry" cut_reply CONNECT_ERROR
from "K2: the Request's Key" request_key CONNECT_ERROR
from "H17: a revision never offered" higher_rev CONNECT_ERROR
in_a tern set tern_a early-octets tolerate
from "K8: early-octets tolerate: an FPDU after the Reply is accepted" early_write DISCONNECT
from "K8: early-octets tolerate: a Terminate after the Reply is an error" early_terminate CONNECT_ERROR
finish
