#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Kernel verbs: each case of tern_kverbs.ko is a point. Arguments are globs
# that pick some:  run --args 'reg_mr__*' kernel:kverbs.sh

. ../net/lib.sh

dir=/sys/kernel/debug/tern_kverbs

unload()
{
	local status=$?
	modprobe -r tern_kverbs 2>/dev/null || true
	return "$status"
}
trap 'unload; on_exit' EXIT

load()
{
	modprobe tern_kverbs ns_a=3 ns_b=4 addr_a="$1" addr_b="$2" \
		scale="$TERN_TIMEOUT_SCALE" 3</run/netns/a 4</run/netns/b
}

# picked CASE GLOB...
picked()
{
	local name=$1 glob
	shift
	for glob; do
		# shellcheck disable=SC2053 # a glob is meant
		[[ $name != $glob ]] || return 0
	done
	return 1
}

run_case()
{
	if ! echo "$1" 2>/dev/null >"$dir/run"; then
		cat "$dir/why"
		return 1
	fi
}

# The device goes while a kernel user is connected over it.
link_delete()
{
	local holder
	{ echo 1 >"$dir/hold"; } 2>/dev/null &
	holder=$!
	eventually grep -q holding "$dir/why"
	limit 20 rdma link delete "$DEV_A"
	if ! wait "$holder"; then
		cat "$dir/why"
		return 1
	fi
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
}

# no_leftovers: the cases left no object at the devices. (The core keeps the CQs
# of its pool until the device goes.)
no_leftovers()
{
	local left
	left=$(rdma resource show | grep -E "$DEV_A|$DEV_B" |
		grep -Ev ' pd 0 cq [0-9]+ qp 0 cm_id 0 mr 0 .* srq 0 ' || true)
	[ -z "$left" ] || { echo "$left"; return 1; }
}

topo_up
# The wire takes a moment, rdma_cm asks for the neighbour once.
eventually in_a ping -q -c 1 -W 1 $IP_B >/dev/null
eventually in_a ping -q -c 1 -W 1 $IP6_B >/dev/null
modprobe rdma_cm
load "$IP_A" "$IP_B"
mapfile -t cases <"$dir/cases"
for c in "${cases[@]}"; do
	if [ $# = 0 ] || picked "$c" "$@"; then
		point "$c" run_case "$c"
	fi
done
if [ $# = 0 ]; then
	point "hold__link_delete_under_a_kernel_user" link_delete
	point "close__no_object_is_left" no_leftovers
	modprobe -r tern_kverbs
	load "$IP6_A" "$IP6_B"
	point "connect__ipv6" run_case send__payload_sizes
fi
finish
