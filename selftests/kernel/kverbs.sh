#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Kernel verbs: each case of tern_kverbs.ko is a point. Arguments are globs
# that pick some:  run --args 'reg_mr__*' kernel:kverbs.sh

. ../net/lib.sh
. ../net/scene.sh

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

# run_point CASE: with what a counter has to say of it
run_point()
{
	local before
	before=$(counter "$DEV_A" flush_more || true)
	run_case "$1" || return
	if [ "$1 $TERN_TYPE" = "flush__a_deep_queue_takes_turns tern" ]; then
		[ "$(counter "$DEV_A" flush_more)" -ge $((before + 15)) ]
	fi
}

# due NAME GLOB...: no glob picks, or one of them this
due()
{
	[ $# = 1 ] || picked "$@"
}

# start CASE WORD: a case that waits, once it has said the word; its process is $holder
start()
{
	{ echo 1 >"$dir/$1"; } 2>/dev/null &
	holder=$!
	eventually grep -q "$2" "$dir/why"
}

# connected, with MRs, until the device goes
hold() { start hold holding; }

# kernel_mr BYTES TEXT: the line of rdma(8) about the MR of that length has TEXT
kernel_mr()
{
	rdma -d resource show mr -dd | tr '\n' ' ' | sed 's/ \(dev\|link\) /\n/g' |
		tee -a /dev/stderr | has "mrlen $1 .*\[tern_kverbs\].* $2"
}

# The kernel's MRs too: what REG_MR opened, and what LOCAL_INV ended.
resources()
{
	local holder status=0
	hold
	kernel_mr 5000 'drv_kind fast drv_valid 1 ' || status=1
	kernel_mr 7000 'drv_kind fast drv_valid 0 ' || status=1
	kill "$holder"
	wait "$holder" || true
	return "$status"
}

# The device goes while a kernel user is connected over it.
link_delete()
{
	local holder
	hold
	limit 20 rdma link delete "$DEV_A"
	if ! wait "$holder"; then
		cat "$dir/why"
		return 1
	fi
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
}

# The module goes while kernel users have QPs, CQs of their own and of the pool,
# and MRs on both devices, and keep all of them busy.
rmmod_busy()
{
	local holder status=0
	start busy busy
	timed 5 rmmod "$TERN_TYPE" || status=$?
	# a module that stays must not keep them waiting
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	wait "$holder" || status=$?
	cat "$dir/why"
	modprobe "$TERN_TYPE"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_TYPE" v0b
	run_case send__payload_sizes
	return "$status"
}

# run_told CASE BEFORE AFTER: a case that asks twice: what to do when it is ready, and
# when its end a is gone
run_told()
{
	local holder status=0
	start "$1" ready || status=1
	$2
	echo Y >"$dir/go"
	eventually grep -q gone "$dir/why" || status=1
	$3 || status=1
	echo Y >"$dir/go"
	wait "$holder" || status=$?
	cat "$dir/why"
	return "$status"
}

# A kernel user gives up while the path is down: what it sent must not be sent again
# when the path is there, for it may have connected again. TCP's timer would be at its
# second or third try, close-ms not over.
nothing_again()
{
	run_told lost cut heal
}

cut() { drop_in_b "ip saddr $IP_A drop"; }

heal()
{
	sleep 0.5 && undrop && sleep 2
}

# But for a FIN, without which the peer would wait for its whole time: b's endpoint
# ends well. (It shows that of tern only.)
fin_again()
{
	[ "$TERN_TYPE" = tern ] || expect() { true; }
	run_told fin lose_fin ended_well
}

lose_fin() { lose_once input "tcp flags & fin == fin"; }

ended_well()
{
	soon expect conns_of_b ended=true error=null && lost_one && undrop
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
	if due "$c" "$@"; then
		point "$c" run_point "$c"
	fi
done
if due resource__kernel_mrs "$@"; then
	point "resource__kernel_mrs" resources
fi
if due close__sends_nothing_again "$@"; then
	point "close__sends_nothing_again" nothing_again
fi
if due close__sends_a_lost_fin_again "$@"; then
	point "close__sends_a_lost_fin_again" fin_again
fi
if due hold__link_delete_under_a_kernel_user "$@"; then
	point "hold__link_delete_under_a_kernel_user" link_delete
fi
if due close__no_object_is_left "$@"; then
	point "close__no_object_is_left" no_leftovers
fi
if due busy__rmmod_under_kernel_users "$@"; then
	point "busy__rmmod_under_kernel_users" rmmod_busy
fi
if due connect__ipv6 "$@"; then
	modprobe -r tern_kverbs
	load "$IP6_A" "$IP6_B"
	point "connect__ipv6" run_case send__payload_sizes
fi
finish
