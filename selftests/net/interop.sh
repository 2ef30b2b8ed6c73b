#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern and siw talk to each other in both directions: with and without CRC
# (Debian's siw, and one that demands CRC), with the peer-to-peer model and without,
# under revision 1, over a bad network. tern asks for the extensions, and siw, which has
# none, must not notice: an offer is all that tern sends of them. tshark checks captures,
# see tshark.sh. A point only counts while siw works, and its name says so: see siw.sh.
# With arguments, only the points whose names, with _ for each space, match one of these
# globs.

. ./lib.sh
. ./scene.sh
. ./tshark.sh
. ./siw.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: one end is tern, the other siw"
variants=${TERN_VARIANTS:-/mnt/variants}

# siw NAME|VARIABLE=VALUE: delete all devices and load this build of siw: siw, siw-crc,
# or siw with another value for one of its constants
siw()
{
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	rmmod siw 2>/dev/null || true
	case $1 in
	siw)	modprobe siw ;;
	siw-crc) load_file "$variants/siw-crc/siw.ko" ;;
	*)	./poke.py "$(modinfo -n siw)" "$TMP/siw.ko" "$1"
		load_file "$TMP/siw.ko" ;;
	esac
}

# hosts A_TYPE B_TYPE [SETTING...]: create devices of these types; tern's asks for the
# extensions, and gets the settings
hosts()
{
	[ -z "$siw_alone" ] || set -- siw siw
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	DEV_A=$1_a DEV_B=$2_b TERN_TYPE=$1 TERN_PEER=$2
	dev_add a "$DEV_A" "$1" v0a
	dev_add b "$DEV_B" "$2" v0b
	our_end=a our_dev=tern_a
	[ "$1" = tern ] || our_end=b our_dev=tern_b
	shift 2
	[ -z "$siw_alone" ] || return 0
	ip netns exec $our_end tern set $our_dev extensions negotiate
	[ $# = 0 ] || ip netns exec $our_end tern set $our_dev "$@"
}

our_conns() { ip netns exec $our_end tern --json show connections --all $our_dev; }

ping()
{
	but_for_deaf pair 30 rping -s -a $IP_B -p @PORT@ -C 20 -S "$1" -v -V -- \
		rping -c -a $IP_B -I $IP_A -p @PORT@ -C 20 -S "$1" -v -V
	[ "$(grep -c 'ping data' "$TMP/client")" = 20 ]
}

# perf TOOL SIZE: run a tool of perftest, with 40 messages
perf()
{
	local one=()

	# one outstanding Read, see verified
	[ "$1" != ib_read_bw ] || one=(-o 1)
	but_for_deaf perftest_pair 30 "$1" -R -F -s "$2" -n 40 "${one[@]}" -p @PORT@ --bind_source_ip $IP_B -- \
		"$1" -R -F -s "$2" -n 40 "${one[@]}" -p @PORT@ --bind_source_ip $IP_A $IP_B
	grep -qE "^ *$2 +" "$TMP/client"
}

# One SGE and one request at a time: siw crashes on an empty element among several, and
# mixes up the Responses to several outstanding Reads (also with siw at both ends).
verified()
{
	but_for_deaf pair 30 $vtraffic server -b $IP_B -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m "$1" -n 60 -x 60000 -l 1 -d 1
	grep -q ' operations' "$TMP/client"
}

# agreed KEY=VALUE... -- MODE...: traffic over connections that have these values, and
# no extensions
agreed()
{
	local words=("extensions=[]")

	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	while [ $# -gt 0 ]; do
		verified "$1"
		soon expect our_conns ended=true error=null "${words[@]}"
		shift
	done
}

# well_formed crc|nocrc each|none: traffic that tshark finds well-formed, with CRC or
# without, and with this many offers
well_formed()
{
	captured "$1" but_for_deaf small_traffic
	only_offers "$2" $IP_A
}

# ---- CRC ---------------------------------------------------------------------------

# every NAME PING_SIZES PERF_SIZES WANT: run each program; WANT is crc or nocrc
every()
{
	local tool size mode crc=true offers=each

	[ "$4" = crc ] || crc=false
	# only an initiator makes an offer
	[ "$our_end" = a ] || offers=none
	for size in $2; do
		siw_point "$1: rping, $size B, verified" ping "$size"
	done
	for tool in ib_write_bw ib_read_bw ib_send_bw; do
		for size in $3; do
			siw_point "$1: $tool, $size B" perf $tool "$size"
		done
	done
	for mode in send write read; do
		siw_point "$1: $mode of random lengths, verified" \
			agreed crc=$crc -- $mode
	done
	siw_point "$1: tshark finds it well-formed, $4 on each FPDU" well_formed "$4" $offers
}

# ---- the model and the revision -------------------------------------------------------

# refused KEY=VALUE...: the connection fails, and is reported with these values
refused()
{
	server -k 1
	not limit 20 in_a $vtraffic client -a $IP_B -p $port
	kill -9 $server_pid 2>/dev/null || true
	ends $server_pid
	soon expect our_conns ended=true "$@"
}

# "rtr send" is not tested: siw takes no Send as RTR, so tern would send Terminate 2/0/07,
# and a Terminate in place of the RTR makes siw hit a BUG() of iw_cm.
models_of_tern()
{
	hosts tern siw
	siw_point "tern to siw, p2p on: a Write is the RTR" \
		agreed p2p=true rtr=write own_control=ABCD peer_control=AC -- mixed
	hosts tern siw rtr read
	siw_point "tern to siw, p2p on: a Read is the RTR" \
		agreed p2p=true rtr=read peer_control=AD -- mixed
	siw_point "tern to siw, a Read is the RTR, and no offer" well_formed crc none
	hosts tern siw p2p off
	siw_point "tern to siw, p2p off" agreed p2p=false rtr=null -- mixed
	siw_point "tern to siw, p2p off: one offer, before the first message" \
		well_formed crc each
	hosts tern siw extensions off
	siw_point "tern to siw, extensions off: no offer" well_formed crc none
}

models_of_siw()
{
	siw peer_to_peer=1
	hosts siw tern
	siw_point "siw to tern, siw asks for p2p: a Write is the RTR" \
		agreed p2p=true rtr=write peer_control=ACD -- mixed
	hosts siw tern rtr read
	siw_point "siw to tern, siw asks for p2p: a Read is the RTR" \
		agreed p2p=true rtr=read -- mixed
}

revision_1()
{
	hosts tern siw mpa-rev 1
	siw_point "tern to siw, revision 1" \
		agreed own_rev=1 peer_rev=1 mpa_rev=1 p2p=false -- send write read
	hosts tern siw enhanced off
	siw_point "tern to siw, revision 2 without enhanced data" \
		agreed own_rev=2 mpa_rev=2 own_ird=null peer_ird=null -- send write read
	# siw does not retry with revision 1
	hosts siw tern mpa-rev 1
	siw_point "siw to tern, revision 2 to one of revision 1 is closed" \
		refused peer_rev=2 own_rev=null
	siw mpa_version=1
	hosts siw tern
	siw_point "siw to tern, siw asks for revision 1" \
		agreed own_rev=1 peer_rev=1 mpa_rev=1 p2p=false -- send write read
	hosts siw tern mpa-rev 1
	siw_point "siw to tern, both have revision 1" \
		agreed own_rev=1 peer_rev=1 mpa_rev=1 -- send write read
}

# ---- the rest ------------------------------------------------------------------------

over_bad_network()
{
	local end status=0

	for end in a b; do
		ip netns exec $end tc qdisc add dev v0$end root netem \
			delay 1ms 1ms loss 1% reorder 25% duplicate 1%
	done
	"$@" || status=$?
	for end in a b; do
		ip netns exec $end tc qdisc del dev v0$end root
	done
	return $status
}

# When siw replaces tern, tern's counters and refusals are not checked.
if [ -n "$siw_alone" ]; then
	expect() { true; }
	refused() { true; }
	captured() { "${@:2}"; }
	only_offers() { true; }
fi
siw_picked=("$@")
topo_up
segments_as_sent

siw siw
hosts tern siw
every "siw as Debian has it, tern to siw, tern wants CRC" "64 4096 40000" "100 65536" crc
hosts tern siw crc off
every "siw as Debian has it, tern to siw, none wants CRC" 4096 65536 nocrc
hosts siw tern
every "siw as Debian has it, siw to tern, tern wants CRC" "64 4096 40000" "100 65536" crc
hosts siw tern crc off
every "siw as Debian has it, siw to tern, none wants CRC" 4096 65536 nocrc

for pair in "tern siw" "siw tern"; do
	hosts "${pair% *}" "${pair#* }"
	for mode in send write read; do
		siw_point "${pair/ / to } over a network that loses, reorders and doubles, $mode" \
			over_bad_network verified $mode
	done
done
models_of_tern
revision_1
models_of_siw

siw siw-crc
hosts tern siw
every "siw that demands CRC, tern to siw, tern wants it too" 4096 65536 crc
# siw sets C in a Reply only if the Request has it
hosts tern siw crc off
every "siw that demands CRC, tern to siw, tern does not" 4096 65536 nocrc
hosts siw tern
every "siw that demands CRC, siw to tern, tern wants it too" 4096 65536 crc
hosts siw tern crc off
every "siw that demands CRC, siw to tern, tern does not" 4096 65536 crc
rdma link delete siw_a
rmmod siw
# an earlier guest may have run the last point
if [ $ktap_n = 0 ] && [ "$siw_from" -gt $siw_nr ]; then
	ktap_done=1
	echo "1..0"
	exit 0
fi
finish
