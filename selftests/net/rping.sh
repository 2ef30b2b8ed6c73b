#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# rping between two hosts, over IPv4 and IPv6: each round is a Send, an RDMA Read and an
# RDMA Write, and -V verifies the data.

. ./lib.sh

# rping.sh [SIZE]...; 65535 is rping's largest size
sizes=${*:-64 1024 1448 4096 65535}
rounds=100

ping()
{
	local size=$1 from=$2 to=$3
	pair 30 rping -s -a "$from" -p @PORT@ -C "$rounds" -S "$size" -v -V -- \
		rping -c -a "$to" -p @PORT@ -C "$rounds" -S "$size" -v -V
	[ "$(grep -c 'ping data' "$TMP/client")" = "$rounds" ]
}

topo_up
for size in $sizes; do
	point "rping IPv4, $size B, $rounds rounds verified" \
		ping "$size" "$(server_address "$IP_B" 0.0.0.0)" "$IP_B"
	point "rping IPv6, $size B, $rounds rounds verified" \
		ping "$size" "$(server_address "$IP6_B" ::)" "$IP6_B"
done
finish
