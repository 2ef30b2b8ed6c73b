#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# iSER, kernel to kernel: data verified, a file system on it, and removal of the portal
# or the session under load.

. ../net/lib.sh
. ./lib.sh
. ./block.sh

IQN=iqn.2026-01.org.example:tern
TPG=/sys/kernel/config/target/iscsi/$IQN/tpgt_1
target_up()	{ follow iser target DISK=$DISK SERVER=$IP_B IQN=$IQN; }
target_down()	{ follow iser target-down IQN=$IQN; }

# Removing a portal keeps its sessions; removing the group ends them.
portal_off()
{
	follow iser portal-delete SERVER=$IP_B IQN=$IQN
	not portal_listens
	echo 0 >$TPG/enable
	echo 1 >$TPG/enable
}

portal_on()
{
	follow iser portal-create SERVER=$IP_B IQN=$IQN
	portal_listens
}

# targetcli is slow
portal_removed_under_load()
{
	LOAD=$((3 * LOAD))
	under_load logged_in portal_off portal_on
}

portal_listens() { ss -Htln "src $IP_B:3260" | has LISTEN; }

disk() { echo /dev/"$(basename /sys/block/sd*)"; }
ready() { [ -b "$(disk)" ]; }
logged_in() { grep -q LOGGED_IN /sys/class/iscsi_session/session*/state; }

# start: start the daemon like systemd, and add the record of the target. By default it
# suspects a connection that is silent for 5 s.
start()
{
	mkdir -p /run/lock
	modprobe sd_mod
	iscsid
	follow iser node IQN=$IQN SERVER=$IP_B
	iscsiadm -m node -T $IQN -p $IP_B -o update \
		-n 'node.conn[0].timeo.noop_out_timeout' -v $((3 * TERN_TIMEOUT_SCALE))
}

login()
{
	follow iser login IQN=$IQN SERVER=$IP_B
	iscsiadm -m session | grep '^iser:'
	eventually ready
}

logout()
{
	follow iser logout IQN=$IQN SERVER=$IP_B
	eventually not ready
}

# Its disk waits for the target, over any device that reaches it.
device_restored()
{
	load "$(disk)"
	limit 20 rdma link delete tern0
	eventually not logged_in
	load_runs
	device_up
	eventually logged_in
	load_ends_well
}

logout_under_load()
{
	load "$(disk)"
	logout
	load_fails
}

stop()
{
	iscsiadm -m node -T $IQN -p $IP_B -o delete
	iscsiadm -k 0
}

strangers() { strangers_end_alone 3260; }

nothing_left_of_iser() { nothing_left ib_iser ib_isert; }

without_bus
hosts_up
point "iser: the target is up" server target_up
point "iser: the initiator's daemon and node record are set up" start
point "iser: login" login
point "iser: fio's data is read back as written" by_rdma $((2 * SIZE)) verify "$(disk)"
if ! short; then
	point "iser: ext4, pages change while they are sent" by_rdma $((4 << 20)) ext4 "$(disk)"
	point "iser: fio's data while packets are lost" over_bad_wire
	# isert frees a portal that events of its connections still use: isert_cma_handler()
	# reads isert_np, as KASAN reports in the checked kernel
	! two_machines ||
		point "iser: the portal is removed under load and added again, another connection stays" \
			beside_another portal_removed_under_load
	point "iser: the server falls silent under load and answers again, another connection stays" \
		beside_another under_load logged_in "silent 3260" heard
	! two_machines ||
		point "iser: the initiator's device is removed under load and comes back" device_restored
	point "iser: logout under load" logout_under_load
	point "iser: login again" login
	point "iser: fio's data in the new session is read back as written" by_rdma $((2 * SIZE)) verify "$(disk)"
fi
point "iser: strangers that send unasked extensions end alone" strangers
point "iser: logout" logout
point "iser: the initiator's daemon and node record are removed" stop
point "iser: the target is removed" server target_down
point "iser: nothing is left" both nothing_left_of_iser
finish
