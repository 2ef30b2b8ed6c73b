#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Item 6, a bad network: packets are lost, reordered, doubled, delayed and damaged,
# and every octet of the payload is verified.

. ./lib.sh
. ./scene.sh
. ./netem.sh

[ "$TERN_TYPE" = tern ] || skip_all "two terns"

settings() { in_a tern set tern_a "$@"; in_b tern set tern_b "$@"; }

# verified MODE: from 1 octet to 2 MB; what failed is repeated by its -s
verified()
{
	pair 60 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m "$1" -n 12 -x 2000000 -s $((RANDOM + 1))
	grep -q ' operations' "$TMP/client"
}

ping()
{
	pair 60 rping -s -a 0.0.0.0 -p @PORT@ -C 20 -S "$1" -v -V -- \
		rping -c -a $IP_B -p @PORT@ -C 20 -S "$1" -v -V
	[ "$(grep -c 'ping data' "$TMP/client")" = 20 ]
}

# copied FROM TO ADDRESS: a file, its checksum at the other end
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
	point "item 6: 1% lost, $mode" under RetransSegs loss 1% -- verified $mode
	point "item 6: 5% lost, $mode" under RetransSegs loss 5% -- verified $mode
	point "item 6: 25% reordered, $mode" \
		under TCPOFOQueue delay 2ms reorder 25% -- verified $mode
	point "item 6: 5% doubled, $mode" under TCPDSACKRecv duplicate 5% -- verified $mode
	point "item 6: 1% damaged, $mode" under InCsumErrors corrupt 1% -- verified $mode
done
settings crc off
point "item 6: 1% damaged, no CRC but TCP's checksum" \
	under InCsumErrors corrupt 1% -- verified mixed
settings crc on markers on
all=(delay 1ms 1ms loss 2% reorder 25% duplicate 1% corrupt 1%)
point "item 6: all of it, markers" under TCPOFOQueue "${all[@]}" -- verified mixed
settings markers off
point "item 6: all of it, rping, 65535 B, verified" \
	under RetransSegs "${all[@]}" -- ping 65535
point "item 6: all of it, rping, 64 B, verified" under RetransSegs "${all[@]}" -- ping 64
point "item 6: all of it, rcopy of 4 MiB, same checksum" \
	under RetransSegs "${all[@]}" -- copied a b $IP_B
point "item 6: all of it, rcopy of 4 MiB back, same checksum" \
	under RetransSegs "${all[@]}" -- copied b a $IP_A
finish
