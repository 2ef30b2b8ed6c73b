#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# `make demo` inside the guest: two hosts, a device in each, rping and ib_write_bw
# between them, and the bandwidth of siw and TCP.

. "$(dirname "$0")/compare.sh"

rounds=3
# shellcheck disable=SC2034 # of tcp_bw
seconds=2
size=65536
iterations=500
candidates="tern tcp siw siw-crc"

title()
{
	printf '\n== %s\n' "$*"
}

# show COMMAND...: print the command, then its output.
show()
{
	echo "\$ $*"
	"$@"
}

# MiB/s of one run; siw sometimes stalls: a figure may be missing.
write_bw()
{
	local bind_a=() bind_b=()

	if [ "$TERN_PEER" = siw ]; then
		bind_a=(--bind_source_ip "$IP_A") bind_b=(--bind_source_ip "$IP_B")
	fi
	pair 8 ib_write_bw -R -F -s "$size" -n "$iterations" -p @PORT@ "${bind_b[@]}" -- \
		ib_write_bw -R -F -s "$size" -n "$iterations" -p @PORT@ "${bind_a[@]}" "$IP_B" >&2 ||
		[ "$TERN_PEER" = siw ] || return
	awk -v size=$size '$1 == size { print $4 }' "$TMP/client"
}

measure()
{
	if [ "$1" = tcp ]; then
		tcp_bw
	else
		up "$1"
		write_bw
		down
	fi >>"$TMP/write-64K.$1"
}

title "Kernel $(uname -r), $(nproc) processors, lane $TERN_LANE: two hosts, a and b"
wires_up
up tern
show rdma link
show ibv_devinfo -d dev_a

title "rping from a to b over tern: 10 rounds, 4096 B, verified"
pair 30 rping -s -a 0.0.0.0 -p @PORT@ -C 10 -S 4096 -V -- \
	rping -c -a "$IP_B" -p @PORT@ -C 10 -S 4096 -v -V
cut -c1-72 "$TMP/client"
echo "rping: passed"
down
modprobe -r siw

title "RDMA Write of 64 KiB messages from a to b, MTU 1500, median of $rounds rounds"
for ((round = 1; round <= rounds; round++)); do
	for c in $candidates; do
		measure "$c"
	done
done
for c in $candidates; do
	# siw may stall in each of the rounds
	[ -s "$TMP/write-64K.$c" ] || measure "$c"
	[ -s "$TMP/write-64K.$c" ] || { echo "no figure of $c"; exit 1; }
done
for c in $candidates; do
	case $c in
	tern)	 name="tern   ib_write_bw, CRC on" ;;
	siw-crc) name="siw    ib_write_bw, CRC on" ;;
	siw)	 name="siw    ib_write_bw, CRC off" ;;
	tcp)	 name="TCP    iperf3, 1 stream" ;;
	esac
	printf '  %-30s %8s MiB/s\n' "$name" "$(median "$TMP/write-64K.$c")"
done
