#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What `make demo` shows inside the guest: two hosts, a device in each, rping
# and ib_write_bw between them, and the bandwidth of the alternatives.

. ./lib.sh

rounds=3
size=65536
iterations=${DEMO_ITERATIONS:-500}
ktap_done=1

title()
{
	printf '\n== %s\n' "$*"
}

# show COMMAND...: as typed, then what it says.
show()
{
	echo "\$ $*"
	"$@"
}

devices() # TYPE: one in each host
{
	dev_add a "$1_a" "$1" v0a
	dev_add b "$1_b" "$1" v0b
}

no_devices()
{
	rdma link delete "$1_a"
	rdma link delete "$1_b"
}

# write_bw TYPE: MiB/s of one run.
write_bw()
{
	local dev=$1 bind_a=() bind_b=()

	if [ "$dev" = siw ]; then
		bind_a=(--bind_source_ip "$IP_A") bind_b=(--bind_source_ip "$IP_B")
	fi
	# siw sometimes stalls: a figure may be missing.
	pair 8 ib_write_bw -R -F -s "$size" -n "$iterations" -p @PORT@ "${bind_b[@]}" -- \
		ib_write_bw -R -F -s "$size" -n "$iterations" -p @PORT@ "${bind_a[@]}" "$IP_B" >&2
	awk -v size=$size '$1 == size { print $4 }' "$TMP/client"
}

tcp_bw()
{
	in_b iperf3 -s -1 -p 5201 >/dev/null &
	wait_for_listen 5201
	in_a iperf3 -c "$IP_B" -p 5201 -t 2 -J >"$TMP/iperf"
	awk '/"sum_received"/ { sum = 1 }
	     sum && /"bits_per_second"/ { gsub(/[^0-9.e+]/, "", $2); print $2 / 8 / 1048576; exit }' "$TMP/iperf"
}

# measure NAME: one figure of this candidate, added to its list.
measure()
{
	local figure
	case $1 in
	tcp)	 figure=$(tcp_bw) ;;
	tern)	 devices tern; figure=$(write_bw tern); no_devices tern ;;
	siw)	 modprobe siw; devices siw; figure=$(write_bw siw || true); no_devices siw; rmmod siw ;;
	siw-crc) insmod /mnt/variants/siw-crc/siw.ko
		 devices siw; figure=$(write_bw siw || true); no_devices siw; rmmod siw ;;
	esac
	[ -z "$figure" ] || echo "$figure" >>"$TMP/bw-$1"
}

median()
{
	touch "$1"
	sort -n "$1" | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : 0 }'
}

title "Kernel $(uname -r), $(nproc) processors, lane $TERN_LANE: two hosts, a and b"
wires_up
devices "$TERN_TYPE"
show rdma link
show ibv_devinfo -d "$DEV_A"

title "rping from a to b over $TERN_TYPE: 10 rounds, 4096 B, verified"
pair 30 rping -s -a "$(server_address "$IP_B" 0.0.0.0)" -p @PORT@ -C 10 -S 4096 -V -- \
	rping -c -a "$IP_B" -p @PORT@ -C 10 -S 4096 -v -V
cut -c1-72 "$TMP/client"
echo "rping: passed"
no_devices "$TERN_TYPE"
modprobe -r siw

candidates="tcp siw siw-crc"
[ "$TERN_TYPE" != tern ] || candidates="tern $candidates"
title "RDMA Write of 64 KiB messages from a to b, MTU 1500, median of $rounds rounds"
for ((round = 1; round <= rounds; round++)); do
	for c in $candidates; do
		measure "$c"
	done
done
for c in $candidates; do
	case $c in
	tern)	 name="tern   ib_write_bw, CRC on" ;;
	siw-crc) name="siw    ib_write_bw, CRC on" ;;
	siw)	 name="siw    ib_write_bw, CRC off" ;;
	tcp)	 name="TCP    iperf3, 1 stream" ;;
	esac
	printf '  %-30s %8.1f MiB/s\n' "$name" "$(median "$TMP/bw-$c")"
done
