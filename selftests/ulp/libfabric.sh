#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck disable=SC2154 # set in hosts.sh
# libfabric's own programs between two hosts, by
# Documentation/recipes/libfabric.rst: both kinds of endpoint, data checked.

. ../net/lib.sh
. ../net/scene.sh
. ../net/netem.sh
. ./lib.sh
. ./hosts.sh

control=47592
iterations=$((20 / TERN_TIMEOUT_SCALE))

info()
{
	( on a 20 libfabric info ) >"$TMP/info"
	cat "$TMP/info"
	grep -q "domain: $DEV_A" "$TMP/info"
	grep -q 'protocol: FI_PROTO_IWARP' "$TMP/info"
	grep -q 'provider: verbs;ofi_rxm' "$TMP/info"
}

both_ends()
{
	local server status=0

	( on b 100 "${@:1:2}" ITERATIONS=$iterations ) >"$TMP/server" 2>&1 &
	server=$!
	wait_for_listen $control
	( on a 100 "${@:3:2}" ITERATIONS=$iterations SERVER=$IP_B ) \
		>"$TMP/client" 2>&1 || status=$?
	wait $server || status=$((status ? status : $?))
	return $status
}

# pingpong FILE BLOCK FILE BLOCK: server and client, by these blocks of the recipe; all
# sizes go each way, as often as the recipe says
pingpong()
{
	counted both_ends "$@" || { tail -n 5 "$TMP/server" "$TMP/client"; return 1; }
	tail -n 3 "$TMP/client"
	grep -q '^6m ' "$TMP/client"
	[ "$tern_rx" -ge $((6291456 * iterations)) ]
	[ "$tern_tx" -ge $((6291456 * iterations)) ]
	all_by_tern
}

command -v fi_pingpong >/dev/null || skip_all "fi_pingpong of libfabric is not installed"
topo_up
point "fi_info finds the device, alone and below ofi_rxm" info
point "fi_pingpong, endpoint of messages: all sizes, data checked" \
	pingpong libfabric msg-server libfabric msg-client
point "fi_pingpong, reliable datagrams of ofi_rxm: all sizes, data checked" \
	pingpong libfabric rdm-server libfabric rdm-client
packets_as_on_a_wire
point "fi_pingpong, reliable datagrams, while packets are lost" \
	under RetransSegs loss 1% -- pingpong libfabric rdm-server libfabric rdm-client
point "no object of the programs is left" nothing_left
finish
