#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What settings of the network cost or save, for Documentation/tuning.rst: instructions of a
# message, of both ends with their program, over veth with MTU 1500 unless it says otherwise.
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:tuning.sh

. "$(dirname "$0")/compare.sh"
# shellcheck source=rows.sh
. ../bench/rows.sh

names="send-64K read-64K send-64 ping-8"

# NAME | what sets it at a host, whose netdev is $dev | what undoes that, but for the last
settings=(
	"as it comes||"
	"MTU 9000|ip link set \$dev mtu 9000|ip link set \$dev mtu 1500"
	"MTU 576|ip link set \$dev mtu 576|ip link set \$dev mtu 1500"
	"max-fpdu mss|tern set \$rdev max-fpdu mss|tern set \$rdev max-fpdu 32768"
	"crc off|tern set \$rdev crc off|tern set \$rdev crc on"
	"tcp_ecn 1|sysctl -q net.ipv4.tcp_ecn=1|sysctl -q net.ipv4.tcp_ecn=2"
	"BBR|sysctl -q net.ipv4.tcp_congestion_control=bbr|sysctl -q net.ipv4.tcp_congestion_control=cubic"
	"DCTCP, tcp_ecn 1|sysctl -q net.ipv4.tcp_congestion_control=dctcp net.ipv4.tcp_ecn=1|
		sysctl -q net.ipv4.tcp_congestion_control=cubic net.ipv4.tcp_ecn=2"
	"tcp_rmem, tcp_wmem 64 KiB|sysctl -q net.ipv4.tcp_{r,w}mem='4096 65536 65536'|"
)

at_both()
{
	dev=v0a rdev=dev_a in_a bash -ec "$1"
	dev=v0b rdev=dev_b in_b bash -ec "$1"
}

# line SETTING [OPTION...]: what a message takes, with these options of drive
line()
{
	local name out

	printf '%-28s' "$1"
	for name in $names; do
		out=$(drive_row "$name" tern "${@:2}" 2>&1) || { echo "# $1, $name: $out" >&2; out='- -'; }
		printf ' %10s' "${out#* }"
	done
	echo
}

# other namespaces may have those that the first one allows
modprobe -a tcp_bbr tcp_dctcp
sysctl -q net.ipv4.tcp_allowed_congestion_control="reno cubic bbr dctcp"
place veth
up tern
drive_up
# shellcheck disable=SC2086 # words
printf '%-28s %10s %10s %10s %10s\n' setting $names
sysctl -q vm.nr_hugepages=16
line "huge pages" -H
sysctl -q vm.nr_hugepages=0
for setting in "${settings[@]}"; do
	IFS='|' read -rd '' name on off <<<"$setting" || true
	at_both "$on"
	line "$name"
	at_both "$off"
done
