# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced after scene.sh by tests that check captures with tshark.

# Count FPDUs in the capture, those with a good CRC, those with a bad one, and packets that
# tshark reports as malformed or as a protocol error. tshark cannot parse markers:
# unmark.py checks and removes them. Heuristics come first, since the client's port may
# belong to another protocol (44818). With $mpa_only tshark looks at MPA alone.
tshark_check()
{
	local only=()

	[ -z "${mpa_only:-}" ] || only=(--disable-protocol iwarp_ddp_rdmap)
	./unmark.py "$TMP/pcap" "$TMP/unmarked" || return 1
	tshark -n -r "$TMP/unmarked" -o tcp.desegment_tcp_streams:TRUE \
		-o tcp.reassemble_out_of_order:TRUE -o tcp.try_heuristic_first:TRUE \
		--disable-protocol infiniband "${only[@]}" \
		-V 2>"$TMP/tshark" >"$TMP/dissected" || { cat "$TMP/tshark"; return 1; }
	fpdus=$(grep -c 'ULPDU length' "$TMP/dissected" || true)
	good=$(grep -c 'CRC.*(Good CRC32)\|CRC check: .*Good\|\[Good CRC32\]' "$TMP/dissected" || true)
	bad=$(grep -c 'Bad CRC32\|Bad CRC' "$TMP/dissected" || true)
	grep -nE 'Malformed|\[Expert Info \((Error|Warning)/(Malformed|Checksum|Protocol)' "$TMP/dissected" |
		grep -v 'Rev field is NOT set to one' >"$TMP/malformed" || true
	cat "$TMP/malformed"
	echo "FPDUs $fpdus, good CRCs $good, bad CRCs $bad"
	[ ! -s "$TMP/malformed" ] && [ "$bad" = 0 ] && [ "$fpdus" -ge 20 ]
}

# what tshark_check dissected, a line for each FPDU: its sender, ULPDU length, RDMAP version
# and opcode, and of a tagged one STag and offset
fpdu_lines()
{
	awk '
		/^Internet Protocol Version 4, Src: / { sub(/,/, "", $6); sender = $6 }
		/ ULPDU length: / { bytes = $3; stag = to = "-" }
		/ Steering Tag: / { stag = $NF }
		/ Tagged offset: / { to = $NF }
		/ = Version: / { version = $NF }
		/ OpCode: .*\(0x/ {
			gsub(/[()]/, "", $NF)
			print sender, bytes, version, $NF, stag, to
		}' "$TMP/dissected"
}

# only_offers each|none [SENDER]: nothing of the extensions is in the capture, except that
# this sender makes one offer on each connection (Documentation/wire.rst)
only_offers()
{
	local connections=0

	[ "$1" = none ] || connections=$(grep -c 'Reply frame header' "$TMP/dissected")
	fpdu_lines | awk -v offers="$connections" -v sender="${2:-}" '
		$3 != 1 || $4 !~ /^0x[0-7]$/ { print "extended: " $0; bad = 1 }
		$5 != "0x7465726e" || $6 !~ /^0x68656c6c/ { next }
		$1 == sender && $2 == 14 && $4 == "0x0" && $6 ~ /^0x68656c6c0101/ { n++; next }
		{ print "no offer: " $0; bad = 1 }
		END {
			print n + 0 " offers, of " offers
			exit bad || n != offers || !NR
		}'
}

# FPDUs sent and received by the device that is tern's
moved()
{
	local dev=$DEV_A

	[ "$TERN_TYPE" = tern ] || dev=$DEV_B
	echo $(($(counter "$dev" tx_fpdu) + $(counter "$dev" rx_fpdu)))
}

# Capture packets as on the wire, not GSO's large segments: with markers tshark finds only
# the first FPDU of such a segment.
segments_as_sent()
{
	in_a ethtool -K v0a tso off gso off gro off
	in_b ethtool -K v0b tso off gso off gro off
}

# captured crc|nocrc COMMAND...: capture while it runs, and check: each FPDU is seen
captured()
{
	local crc=$1 status=0 before
	shift
	before=$(moved)
	capture a v0a
	"$@" || status=$?
	capture_all
	capture_end
	[ $status = 0 ] || return $status
	tshark_check
	[ "$fpdus" = $(($(moved) - before)) ] || { echo "of $(($(moved) - before))"; return 1; }
	case $crc in
	crc)	[ "$good" = "$fpdus" ] ;;
	nocrc)	[ "$good" = 0 ] ;;
	esac
}

# shellcheck disable=SC2154 # scene.sh has vtraffic
small_traffic()
{
	pair 30 $vtraffic server -b $IP_B -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m mixed -n 15 -x 3000 -d 1 -l 1
}
