#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Types of RNICs against each other (RFC 5044 appendix C; rows H and M of
# selftests/conformance/requirements): each pair either carries data or is closed at once.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its RNIC types"

# types A B: set the types of initiator and responder; revision 2, enhanced
types()
{
	in_a tern set tern_a rnic "$1" markers off enhanced on mpa-rev 2
	in_b tern set tern_b rnic "$2" markers off enhanced on mpa-rev 2
}

works()
{
	types "$1" "$2"
	pair 20 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m mixed -n 30 -x 20000
	pair 20 rping -s -a 0.0.0.0 -p @PORT@ -C 3 -v -- \
		rping -c -a $IP_B -p @PORT@ -C 3 -v
}

# works_at_0 A B: DDP and RDMAP version 0, with markers and CRC in both directions
works_at_0()
{
	works "$1" "$2"
	server
	client -c
	rdma -d resource show qp link tern_a -dd >"$TMP/qp"
	rdma -d resource show qp link tern_b -dd >>"$TMP/qp"
	cat "$TMP/qp"
	[ "$(grep -c 'drv_ddp_version 0' "$TMP/qp")" = 2 ]
	[ "$(grep -c 'drv_mpa_crc on' "$TMP/qp")" = 2 ]
	[ "$(grep -c 'drv_tx_markers on' "$TMP/qp")" = 2 ]
	[ "$(grep -c 'drv_rx_markers on' "$TMP/qp")" = 2 ]
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
}

closes()
{
	local t0 ms
	types "$1" "$2"
	server
	t0=${EPOCHREALTIME/./}
	not limit 20 in_a $vtraffic client -a $IP_B -p $port
	ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "$ms ms"
	[ $ms -le $((5000 * TERN_TIMEOUT_SCALE)) ]
	kill -9 $server_pid 2>/dev/null || true
	ends $server_pid
	within 5 eventually no_tcp a
}

topo_up
NP=non-permissive
point "M7: non-permissive to non-permissive" works $NP $NP
point "M9: non-permissive to permissive" works $NP permissive
point "M17: permissive to non-permissive" works permissive $NP
point "M19: permissive to permissive" works permissive permissive
point "M1: rdmac to rdmac" works_at_0 rdmac rdmac
point "M4: rdmac to permissive" works_at_0 rdmac permissive
point "H16, M16: permissive to rdmac, after a retry with a plain Request" works_at_0 permissive rdmac
point "G3, M2: rdmac to non-permissive is closed" closes rdmac $NP
point "H4, M6: non-permissive to rdmac is closed" closes $NP rdmac
finish
