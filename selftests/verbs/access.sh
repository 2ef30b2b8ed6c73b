#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run access: programs that use objects of others, on the devices of a and b, in a third
# netns, c, without a device, and with QPs of a kernel user on a's device. With
# arguments, only the tests whose name has one of them.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

why=/sys/kernel/debug/tern_kverbs/why

before_exit()
{
	[ -z "${holder:-}" ] || kill "$holder" 2>/dev/null || true
	[ -z "${holder:-}" ] || wait "$holder" 2>/dev/null || true
	modprobe -r tern_kverbs 2>/dev/null || true
	ip netns delete c 2>/dev/null || true
}

# a connected pair of kernel QPs, and an idle one; tern_kverbs reports their numbers
kernel_qps()
{
	modprobe rdma_cm
	modprobe tern_kverbs ns_a=3 ns_b=4 addr_a="$IP_A" addr_b="$IP_B" \
		scale="$TERN_TIMEOUT_SCALE" 3</run/netns/a 4</run/netns/b || return 0
	{ echo 1 >/sys/kernel/debug/tern_kverbs/idle; } 2>/dev/null &
	holder=$!
	eventually grep -q '^busy [0-9]' $why
	KERNEL_IDLE=$(sed -n 's/^idle //p' $why)
	KERNEL_BUSY=$(sed -n 's/^busy //p' $why)
	export KERNEL_IDLE KERNEL_BUSY
}

topo_up
ip netns add c
ip netns exec c ip link set lo up
eventually in_a ping -q -c 1 -W 1 "$IP_B" >/dev/null
kernel_qps
# shellcheck disable=SC2034 # read by lib.sh: the program plans its points
ktap_done=1
limit 100 ../verbs/access "$@"
