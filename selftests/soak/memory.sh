#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Short of memory: programs in a small memory cgroup, one that the OOM killer ends, and swap
# in a file on NFS over RDMA.

cd ../ulp || exit
. ../net/lib.sh
. ../net/scene.sh
. ./lib.sh
. ./nfs_lib.sh

cgroups=/sys/fs/cgroup
group=$cgroups/tern

# ---- the group ---------------------------------------------------------------------------

# group_up HIGH MAX: bytes from which the kernel takes pages back, and that it never exceeds
group_up()
{
	group_clear
	echo +memory >$cgroups/cgroup.subtree_control
	mkdir $group
	echo "$1" >$group/memory.high
	echo "$2" >$group/memory.max
}

# what a point that failed has left
group_clear()
{
	[ -d $group ] || return 0
	echo 1 >$group/cgroup.kill
	eventually group_is_empty
	rmdir $group
}

# what this shell starts from here on belongs to the group
enter_group() { echo $BASHPID >$group/cgroup.procs; }
leave_group() { echo $BASHPID >$cgroups/cgroup.procs; }

events() { awk -v name="$1" '$1 == name { print $2 }' $group/memory.events; }

# such files have no size
group_is_empty() { [ -z "$(<$group/cgroup.procs)" ]; }

group_down()
{
	cat $group/memory.events
	eventually group_is_empty
	rmdir $group
}

# NFS listens on each device, with ids, a PD and CQs
programs_gone() { ! counts | has -E ' (qp|mr|ctx|srq) [1-9]'; }

# ---- points --------------------------------------------------------------------------------

# the pages of files that it writes fill the group
fill()
{
	while :; do
		head -c 32M /dev/zero >"$EXPORT/fill"
	done
}

# The kernel's log has no report but the OOM killer's own, and none afterwards.
only_the_killer_reported()
{
	dmesg -c | sed -E '/ invoked oom-killer: /,/ oom-kill:|no killable processes/d' >"$TMP/log"
	not grep -E "$TERN_BAD_LOG" "$TMP/log"
}

pressed()
{
	local mode

	group_up 16M 32M
	enter_group
	fill & filler=$!
	for mode in send write read mixed; do
		pair 60 $vtraffic server -b 0.0.0.0 -p @PORT@ -e event -- \
			$vtraffic client -a $IP_B -p @PORT@ -e event -m $mode -t 4 -x 65536 -d 16
		grep ' operations' "$TMP/client"
	done
	kill $filler
	wait $filler || true
	leave_group
	[ "$(events high)" -gt 100 ]
	[ "$(events oom_kill)" = 0 ]
	group_down
	only_the_killer_reported
}

out_of_memory()
{
	group_up max 64M
	server
	enter_group
	client -t 600 -x 65536 -m mixed
	leave_group
	echo 1M >$group/memory.max
	within 5 eventually ended "$client_pid"
	[ "$(events oom_kill)" -ge 1 ]
	within 5 eventually ended "$server_pid"
	within 5 eventually programs_gone
	group_down
	only_the_killer_reported
}

# its pages change, go to the swap and come back, and each is compared
swapped()
{
	enter_group
	limit 120 stress-ng --vm 1 --vm-bytes 72M --vm-keep --vm-method walk-1d --verify \
		--timeout 20
}

swap_up()
{
	ready
	head -c 96M /dev/zero >"$MOUNTPOINT/swap"
	chmod 600 "$MOUNTPOINT/swap"
	mkswap "$MOUNTPOINT/swap"
	swapon "$MOUNTPOINT/swap"
	over_rdma
}

# As much as does not fit went out and came back. A program of the group stands still all
# that time; then its memory, which is pinned, has what the peer wrote.
swap()
{
	swap_up
	group_up max 24M
	server -e event
	enter_group
	client -e event -t 30 -m mixed -x 65536 -d 16
	leave_group
	kill -STOP "$client_pid"
	(over_tern $((2 * 48 << 20)) swapped)
	kill -CONT "$client_pid"
	wait "$client_pid" || { cat "$TMP/server" "$TMP/client"; return 1; }
	kill "$server_pid"
	[ "$(events oom_kill)" = 0 ]
	timed 20 swapoff "$MOUNTPOINT/swap"
	rm "$MOUNTPOINT/swap"
	group_down
}

all_gone()
{
	timed 10 limit 40 umount "$MOUNTPOINT"
	timed 10 server_stop
	nothing_left
	share_down
	topo_down
	timed 10 modprobe -r tern
	modprobe tern
}

[ "$TERN_TYPE" = tern ] || skip_all "tern only"
needs_modules nfs nfsd rpcrdma loop ext4
grep -qsw memory $cgroups/cgroup.controllers || skip_all "this kernel has no memory cgroups"
before_exit() { swapoff "$MOUNTPOINT/swap" 2>/dev/null; group_clear; share_down; }
topo_up
share_up
point "verified data in a group of 32 MiB that files fill" pressed
point "a program that the OOM killer ends leaves nothing" out_of_memory
point "swap on NFS over RDMA: three times the memory, each page compared" swap
point "no object, device or module is left" all_gone
finish
