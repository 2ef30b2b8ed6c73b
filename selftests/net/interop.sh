#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Item 8: tern and siw, Debian's own and one that demands CRC, talk to each
# other in both directions. tshark judges captures: no malformed packet, every
# CRC good, with and without CRC and markers.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern is one of the two"
variants=${TERN_VARIANTS:-/mnt/variants}

# hosts A_TYPE B_TYPE: devices of these types
hosts()
{
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	DEV_A=$1_a DEV_B=$2_b TERN_TYPE=$1 TERN_PEER=$2
	dev_add a "$DEV_A" "$1" v0a
	dev_add b "$DEV_B" "$2" v0b
}

ping()
{
	pair 30 rping -s -a $IP_B -p @PORT@ -C 20 -S "$1" -v -V -- \
		rping -c -a $IP_B -I $IP_A -p @PORT@ -C 20 -S "$1" -v -V
	[ "$(grep -c 'ping data' "$TMP/client")" = 20 ]
}

# perf TOOL SIZE
perf()
{
	local one=()

	# siw's trouble with several open Reads, see below
	[ "$1" != ib_read_bw ] || one=(-o 1)
	perftest_pair 30 "$1" -R -F -s "$2" -n 40 "${one[@]}" -p @PORT@ --bind_source_ip $IP_B -- \
		"$1" -R -F -s "$2" -n 40 "${one[@]}" -p @PORT@ --bind_source_ip $IP_A $IP_B
	grep -qE "^ *$2 +" "$TMP/client"
}

# One SGE and one at a time: siw crashes on an empty element among several, and
# mixes up the answers when several Reads are open (siw to siw too).
verified()
{
	pair 30 $vtraffic server -b $IP_B -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m "$1" -n 60 -x 60000 -l 1 -d 1
	grep -q ' operations' "$TMP/client"
}

# both_ways NAME PING_SIZES PERF_SIZES: every program, tern as client and as server
both_ways()
{
	local pair tool size mode
	for pair in "tern siw" "siw tern"; do
		# shellcheck disable=SC2086 # two words
		hosts $pair
		for size in $2; do
			point "item 8: $1, ${pair/ / to }: rping, $size B, verified" ping "$size"
		done
		for tool in ib_write_bw ib_read_bw ib_send_bw; do
			for size in $3; do
				point "item 8: $1, ${pair/ / to }: $tool, $size B" perf $tool "$size"
			done
		done
		for mode in send write read; do
			point "item 8: $1, ${pair/ / to }: $mode of random lengths, verified" verified $mode
		done
	done
}

# ---- captures ----------------------------------------------------------------------

# What tshark makes of the capture: FPDUs, those with a CRC that it found good,
# bad ones, and everything that it calls malformed or a protocol error.
judge()
{
	local fields status=0
	fields=$(tshark -n -r "$TMP/pcap" -o tcp.desegment_tcp_streams:TRUE \
		-o tcp.reassemble_out_of_order:TRUE --disable-protocol infiniband \
		-V 2>"$TMP/tshark" >"$TMP/dissected" && echo ok || echo bad)
	[ "$fields" = ok ] || { cat "$TMP/tshark"; return 1; }
	fpdus=$(grep -c 'ULPDU length' "$TMP/dissected" || true)
	good=$(grep -c 'CRC.*(Good CRC32)\|CRC check: .*Good\|\[Good CRC32\]' "$TMP/dissected" || true)
	bad=$(grep -c 'Bad CRC32\|Bad CRC' "$TMP/dissected" || true)
	grep -nE 'Malformed|\[Expert Info \((Error|Warning)/(Malformed|Checksum|Protocol)' "$TMP/dissected" |
		grep -v 'Rev field is NOT set to one' >"$TMP/malformed" || true
	cat "$TMP/malformed"
	echo "FPDUs $fpdus, good CRCs $good, bad CRCs $bad"
	[ ! -s "$TMP/malformed" ] && [ "$bad" = 0 ] && [ "$fpdus" -ge 20 ] || status=1
	return $status
}

# Captured is what leaves the host: not GSO's big segments, in which tshark finds
# the first FPDU only, once there are markers.
segments_as_sent()
{
	in_a ethtool -K v0a tso off gso off gro off
	in_b ethtool -K v0b tso off gso off gro off
}

# captured WANT_CRC COMMAND...: capture while it runs, and judge
captured()
{
	local crc=$1 status=0
	shift
	capture a v0a
	"$@" || status=$?
	capture_end
	[ $status = 0 ] || return $status
	judge
	case $crc in
	crc)	[ "$good" = "$fpdus" ] ;;
	nocrc)	[ "$good" = 0 ] ;;
	esac
}

small_traffic()
{
	pair 30 $vtraffic server -b $IP_B -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m mixed -n 15 -x 3000 -d 1 -l 1
}

settings() { in_a tern set tern_a "$@"; in_b tern set tern_b "$@"; }

captures_of_tern()
{
	hosts tern tern
	point "item 8: tshark finds tern to tern well-formed, every CRC good" \
		captured crc small_traffic
	settings markers on
	point "item 8: the same with markers" captured crc small_traffic
	settings markers off crc off
	point "item 8: the same without CRC" captured nocrc small_traffic
	settings crc on mpa-rev 1
	point "item 8: the same with MPA revision 1" captured crc small_traffic
	settings mpa-rev 2
}

# a judge never seen to condemn proves nothing: flip one octet of an FPDU
damaged_capture()
{
	capture a v0a
	small_traffic
	capture_end
	python3 - "$TMP/pcap" <<-'END'
	import struct, sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at, flipped = 24, 0
	while at + 16 <= len(data):
	    size = struct.unpack_from("<I", data, at + 8)[0]
	    # past Ethernet, IP and TCP: the last octets of a long segment
	    if size > 400 and not flipped:
	        data[at + 16 + size - 60] ^= 1
	        flipped = 1
	    at += 16 + size
	open(sys.argv[1], "wb").write(data)
	END
	not judge
	[ "$bad" -ge 1 ]
}

topo_up
segments_as_sent
modprobe siw
both_ways "siw as Debian has it" "64 4096 40000" "100 65536"
hosts tern siw
point "item 8: tshark finds tern to siw well-formed, every CRC good" captured crc small_traffic
hosts siw tern
point "item 8: tshark finds siw to tern well-formed, every CRC good" captured crc small_traffic
rdma link delete siw_a
rmmod siw
insmod "$variants/siw-crc/siw.ko"
TERN_TYPE=tern
both_ways "siw that demands CRC" 4096 65536
point "item 8: tshark finds siw to tern well-formed, every CRC good" captured crc small_traffic
captures_of_tern
point "item 8: tshark finds a damaged octet" damaged_capture
rmmod siw 2>/dev/null || true
finish
