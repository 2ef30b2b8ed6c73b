#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A bad network: packets are lost, reordered, duplicated, delayed and corrupted, and every
# byte of the payload is verified.

. ./lib.sh
. ./scene.sh
. ./netem.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: both ends are tern"

settings() { in_a tern set tern_a "$@"; in_b tern set tern_b "$@"; }

# verified MODE: messages up to 2 MB; -s repeats a failed run
verified()
{
	pair 60 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m "$1" -n 12 -x 2000000 -s $((RANDOM + 1))
	grep -q ' operations' "$TMP/client"
}

# once MODE: each message completes once at both ends, even if TCP received its bytes
# several times: the server counts as many as the client (it does not see Reads)
once()
{
	local asked
	verified "$1"
	asked=$(sed -n 's/.* \([0-9]*\) operations.*/\1/p' "$TMP/client")
	cat "$TMP/client" "$TMP/server"
	if [ "$1" != read ]; then grep -q " served $asked messages" "$TMP/server"; fi
}

# overlapped NETNS DEV MODE: traffic with retransmissions from DEV that overlap received
# bytes with other data
overlapped()
{
	local overlap server status=0
	: >"$TMP/overlap"
	port=$(new_port)
	ip netns exec "$1" ./overlap.py "$2" "$port" >"$TMP/overlap" 2>&1 &
	overlap=$!
	eventually grep -q ready "$TMP/overlap"
	limit 60 in_b $vtraffic server -b 0.0.0.0 -p "$port" >"$TMP/server" 2>&1 &
	server=$!
	wait_for_listen "$port"
	limit 60 in_a $vtraffic client -a $IP_B -p "$port" -m "$3" -n 12 -x 2000000 \
		-s $((RANDOM + 1)) >"$TMP/client" 2>&1 || status=$?
	[ $status != 0 ] || wait $server || status=$?
	kill $overlap
	wait $overlap || true
	cat "$TMP/overlap" "$TMP/client" "$TMP/server"
	[ $status = 0 ]
	grep -q 'overlap: [1-9]' "$TMP/overlap"
	if [ "$3" != read ]; then grep -q ' served 12 messages' "$TMP/server"; fi
}

ping()
{
	pair 60 rping -s -a 0.0.0.0 -p @PORT@ -C 20 -S "$1" -v -V -- \
		rping -c -a $IP_B -p @PORT@ -C 20 -S "$1" -v -V
	[ "$(grep -c 'ping data' "$TMP/client")" = 20 ]
}

# copied FROM TO ADDRESS: rcopy copies a file, and the copy is identical
copied()
{
	local copier status=0
	port=$(new_port)
	head -c 4194304 /dev/urandom >"$TMP/sent"
	ip netns exec "$2" rcopy -p "$port" >"$TMP/copier" 2>&1 &
	copier=$!
	wait_for_listen "$port" "$2"
	limit 60 "in_$1" rcopy "$TMP/sent" "$3:$TMP/received" -p "$port" || status=$?
	[ $status = 0 ] && timed 10 eventually cmp "$TMP/sent" "$TMP/received" || status=1
	kill -9 $copier
	wait $copier 2>/dev/null || true
	cat "$TMP/copier"
	return $status
}

topo_up
packets_as_on_a_wire
for mode in send write read; do
	point "1% lost, $mode" under RetransSegs loss 1% -- verified $mode
	point "5% lost, $mode" under RetransSegs loss 5% -- verified $mode
	point "25% reordered, $mode" \
		under TCPOFOQueue delay 2ms reorder 25% -- verified $mode
	point "DDP-013, MPA-071: 5% doubled, $mode" under TCPDSACKRecv duplicate 5% -- once $mode
	point "1% damaged, $mode" under InCsumErrors corrupt 1% -- verified $mode
done
settings max-fpdu 64750
point "1% lost, FPDUs of 64768 octets" under RetransSegs loss 1% -- verified mixed
point "25% reordered, FPDUs of 64768 octets" \
	under TCPOFOQueue delay 2ms reorder 25% -- verified mixed
settings max-fpdu 32768
# retransmitted bytes that overlap do not change those already received
point "5% lost, overlaps that differ, send" \
	under TCPDSACKOldSent loss 5% -- overlapped a v0a send
point "5% lost, overlaps that differ, write" \
	under TCPDSACKOldSent loss 5% -- overlapped a v0a write
point "5% lost, overlaps that differ, read" \
	under TCPDSACKOldSent loss 5% -- overlapped b v0b read
settings crc off
point "1% damaged, no CRC but TCP's checksum" \
	under InCsumErrors corrupt 1% -- verified mixed
settings crc on markers on
all=(delay 1ms 1ms loss 2% reorder 25% duplicate 1% corrupt 1%)
point "all faults at once, markers" under TCPOFOQueue "${all[@]}" -- verified mixed
settings markers off
point "all faults at once, rping, 65535 B, verified" \
	under RetransSegs "${all[@]}" -- ping 65535
point "all faults at once, rping, 64 B, verified" under RetransSegs "${all[@]}" -- ping 64
point "all faults at once, rcopy of 4 MiB, same checksum" \
	under RetransSegs "${all[@]}" -- copied a b $IP_B
point "all faults at once, rcopy of 4 MiB back, same checksum" \
	under RetransSegs "${all[@]}" -- copied b a $IP_A
finish
