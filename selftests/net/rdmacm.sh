#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# librdmacm's programs between two hosts: ucmatose (connections and messages),
# rstream and rcopy (rsockets).

. ./lib.sh

ucmatose_pair()
{
	pair 30 ucmatose -b "$(server_address "$IP_B" 0.0.0.0)" -p @PORT@ "$@" -- \
		ucmatose -s "$IP_B" -p @PORT@ "$@"
}

# rstream_pair OPTION...: rstream between both hosts
rstream_pair()
{
	pair 60 rstream -b "$(server_address "$IP_B" 0.0.0.0)" -p @PORT@ "$@" -- \
		rstream -s "$IP_B" -p @PORT@ "$@"
}

# rcopy's server does not exit: end it once the file has arrived. The client's first
# argument must not be an option, or it becomes a server too.
rcopy_16m()
{
	local server status=0 port
	port=$(new_port)

	head -c 16M /dev/urandom >"$TMP/sent"
	in_b rcopy -p "$port" >"$TMP/server" 2>&1 &
	server=$!
	wait_for_listen "$port"
	limit 60 in_a rcopy "$TMP/sent" "$IP_B:$TMP/received" -p "$port" || status=$?
	[ "$status" = 0 ] && cmp_sums "$TMP/sent" "$TMP/received" || status=1
	kill "$server"
	wait "$server" || true
	return "$status"
}

cmp_sums()
{
	[ "$(sha256sum <"$1")" = "$(sha256sum <"$2")" ]
}

topo_up
point "ucmatose, 1 connection, 10 messages" ucmatose_pair
point "ucmatose, 8 connections, 50 messages of 4096 B" \
	ucmatose_pair -c 8 -C 50 -S 4096
point "rstream, 200 exchanges of 64 B" rstream_pair -S 64 -C 200
point "rstream, 10 exchanges of 1 MiB, verified" rstream_pair -S 1048576 -C 10 -T v
point "rstream, resolved by rdma_getaddrinfo" rstream_pair -S 4096 -C 50 -T r
if has_siw; then
	ktap_test_skip "rcopy, 16 MiB" "siw cannot serve it: its server listens on a wildcard address"
else
	point "rcopy, 16 MiB, same checksum" rcopy_16m
fi
finish
