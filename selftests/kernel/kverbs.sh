#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Kernel verbs: each case of tern_kverbs.ko is a point. Arguments are globs
# that pick some:  run --args 'reg_mr__*' kernel:kverbs.sh

. ../net/lib.sh
. ../net/scene.sh

dir=/sys/kernel/debug/tern_kverbs

before_exit() { modprobe -r tern_kverbs 2>/dev/null || true; }

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

# extensions MODE: of connections from now on, at both ends
extensions()
{
	in_a tern set "$DEV_A" extensions "$1"
	in_b tern set "$DEV_B" extensions "$1"
}

# run_with MODE CASE: run it with these extensions, then set those from before
run_with()
{
	local was status=0
	was=$(in_a tern show "$DEV_A" | awk '$1 == "extensions" { print $2 }')
	extensions "$1"
	run_case "$2" || status=$?
	extensions "$was"
	return "$status"
}

# counted COUNTER N CASE: device a counts that N times or more during the case
counted()
{
	local before
	before=$(counter "$DEV_A" "$1")
	run_case "$3" || return
	echo "$1: $(($(counter "$DEV_A" "$1") - before)), of at least $2"
	[ "$(counter "$DEV_A" "$1")" -ge $((before + $2)) ]
}

# inside CASE: repeat it while the peer's answer comes after the Send, as it may on a busy
# machine: then nothing was tested
inside()
{
	local try status

	for try in {1..10}; do
		status=0
		run_case "$1" >"$TMP/inside" || status=$?
		cat "$TMP/inside"
		[ $status != 0 ] || return 0
		grep -q 'not inside the Send' "$TMP/inside" || return $status
	done
	echo "$try times"
	return 1
}

# in_runs CASE: repeat it while few posts are left to the worker. In a guest that pauses it comes too
# late, and then many posts are sent at once (core/collect.h). A fault has each try fail.
in_runs()
{
	local try

	for try in {1..10}; do
		! counted doorbell_later 1280 "$1" || return 0
	done
	echo "$try times"
	return 1
}

# run_point CASE: run it, and check the counter that belongs to it
run_point()
{
	case $1 in
	ext__*)	run_with negotiate "$1"; return ;;
	off__*)	run_with off "$1"; return ;;
	esac
	case "$1 $TERN_TYPE" in
	"flush__a_deep_queue_yields_the_cpu tern")	counted flush_more 15 "$1" ;;
	"post__then_spin tern")	counted doorbell_missed 2 "$1" ;;
	"post__in_runs tern")	in_runs "$1" ;;
	"read__whose_end_completes_a_deep_queue tern")	counted complete_more 8 "$1" ;;
	send__*_arrives_in_its_middle\ *)	inside "$1" ;;
	*)	run_case "$1" ;;
	esac
}

# due NAME GLOB...: whether to run NAME: there is no glob, or one matches
due()
{
	[ $# = 1 ] || picked "$@"
}

# start CASE WORD: start a case and wait until it reports the word; its process is $holder
start()
{
	{ echo 1 >"$dir/$1"; } 2>/dev/null &
	holder=$!
	eventually grep -q "$2" "$dir/why"
}

# a connected pair with MRs, until the device is removed
hold() { start hold holding; }

# kernel_mr BYTES TEXT: rdma(8) shows the MR of that length with TEXT
kernel_mr()
{
	rdma -d resource show mr -dd | tr '\n' ' ' | sed 's/ \(dev\|link\) /\n/g' |
		tee -a /dev/stderr | has "mrlen $1 .*\[tern_kverbs\].* $2"
}

# rdma(8) shows MRs of kernel users: one valid after REG_MR, one invalid after LOCAL_INV.
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

# The device is removed while a kernel user is connected over it.
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

# Likewise, while a request of the user waits for an answer to the hello. Nothing of a
# arrives, so none comes; the time for it would be far longer than the test.
link_delete_waiting()
{
	local holder status=0 words="extensions negotiate p2p off rtr-ms 60000"
	# shellcheck disable=SC2086 # words are meant
	in_a tern set "$DEV_A" $words
	# shellcheck disable=SC2086
	in_b tern set "$DEV_B" $words
	start waits ready || status=1
	cut_path
	echo Y >"$dir/go"
	eventually grep -q waiting "$dir/why" || status=1
	timed 5 rdma link delete "$DEV_A" || status=$?
	wait "$holder" || status=$?
	cat "$dir/why"
	undrop
	dev_add a "$DEV_A" tern v0a
	in_b tern set "$DEV_B" extensions off p2p on rtr-ms 10000
	return "$status"
}

# The module is unloaded while kernel users have QPs, MRs and CQs (their own and of the
# pool) on both devices, and keep all of them busy.
rmmod_busy()
{
	local holder status=0
	start busy busy
	timed 5 rmmod "$TERN_TYPE" || status=$?
	# if the module is still loaded, delete its devices, so that the users end
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

# run_in_steps CASE READY GONE: a case that waits twice: run READY when its connection is
# up, and GONE when its end a is destroyed
run_in_steps()
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

# A kernel user destroys its QP while the path is down. TCP must not retransmit the data
# when the path is up again, since the user may have connected again. At that time TCP
# would retransmit for the second or third time, and close-ms is not over.
nothing_again()
{
	run_in_steps lost cut_path heal
}

cut_path() { drop_in_b "ip saddr $IP_A drop"; }

heal()
{
	sleep 0.5 && undrop && sleep 2
}

# A lost FIN is retransmitted, otherwise the peer would wait for close-ms: b's endpoint
# ends without an error. (Only tern shows its endpoints.)
fin_again()
{
	[ "$TERN_TYPE" = tern ] || expect() { true; }
	run_in_steps fin drop_fin ended_well
}

drop_fin() { drop_once input "tcp flags & fin == fin"; }

ended_well()
{
	soon expect conns_of_b ended=true error=null && dropped_one && undrop
}

# no_leftovers: no case left an object at the devices. (The core keeps the CQs of its
# pool until the device is removed.)
no_leftovers()
{
	local left
	left=$(rdma resource show | grep -E "$DEV_A|$DEV_B" |
		grep -Ev ' pd 0 cq [0-9]+ qp 0 cm_id 0 mr 0 .* srq 0 ' || true)
	[ -z "$left" ] || { echo "$left"; return 1; }
}

topo_up
# The link needs a moment to come up, and rdma_cm resolves the neighbour only once.
eventually in_a ping -q -c 1 -W 1 $IP_B >/dev/null
eventually in_a ping -q -c 1 -W 1 $IP6_B >/dev/null
modprobe rdma_cm
load "$IP_A" "$IP_B"
mapfile -t cases <"$dir/cases"
for c in "${cases[@]}"; do
	due "$c" "$@" || continue
	if [[ $c == @(ext|off)__* && $TERN_TYPE != tern ]]; then
		ktap_test_skip "$c" "tern only: siw has no extensions"
	elif [[ $c == post__then_error && $TERN_TYPE != tern ]]; then
		ktap_test_skip "$c" "tern only: siw leaves posts to a thread"
	elif [[ $c == map_mr_sg__odd_blocks && $TERN_TYPE != tern ]]; then
		ktap_test_skip "$c" "tern only: siw takes any size of blocks"
	elif [[ $c == *_have_room_when_they_are_polled && $TERN_TYPE != tern ]]; then
		ktap_test_skip "$c" "tern only: entries of siw make room when they complete"
	else
		point "$c" run_point "$c"
	fi
done
if due resource__kernel_mrs "$@"; then
	point "resource__kernel_mrs" resources
fi
if due close__retransmits_nothing "$@"; then
	point "close__retransmits_nothing" nothing_again
fi
if due close__retransmits_a_lost_fin "$@"; then
	point "close__retransmits_a_lost_fin" fin_again
fi
if due link_delete__under_a_kernel_user "$@"; then
	point "link_delete__under_a_kernel_user" link_delete
fi
if [ "$TERN_TYPE" = tern ] && due link_delete__while_a_request_waits "$@"; then
	point "link_delete__while_a_request_waits" link_delete_waiting
fi
if due close__no_object_is_left "$@"; then
	point "close__no_object_is_left" no_leftovers
fi
if due rmmod__under_busy_kernel_users "$@"; then
	point "rmmod__under_busy_kernel_users" rmmod_busy
fi
if due connect__ipv6 "$@"; then
	modprobe -r tern_kverbs
	load "$IP6_A" "$IP6_B"
	point "connect__ipv6" run_case send__payload_sizes
fi
finish
