#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# fio's verified data on a disk of iSER while stress-ng loads the machine. Both ends are this
# kernel. An argument is a glob of classes (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ./stress_disk.sh

pick=${1:-*}
IQN=iqn.2026-01.org.example:tern

disk() { echo /dev/"$(basename /sys/block/sd*)"; }

# By default the initiator suspects a connection that is silent for 5 s.
connect()
{
	mkdir -p /run/lock
	modprobe sd_mod
	follow iser target DISK=$DISK SERVER=$IP_B IQN=$IQN
	iscsid
	follow iser node IQN=$IQN SERVER=$IP_B
	iscsiadm -m node -T $IQN -p $IP_B -o update \
		-n 'node.conn[0].timeo.noop_out_timeout' -v $((15 * TERN_TIMEOUT_SCALE))
	follow iser login IQN=$IQN SERVER=$IP_B
	eventually ready
}

disconnect()
{
	follow iser logout IQN=$IQN SERVER=$IP_B
	iscsiadm -m node -T $IQN -p $IP_B -o delete
	iscsiadm -k 0
	follow iser target-down IQN=$IQN
	nothing_left ib_iser ib_isert
}

needs_modules ib_iser ib_isert null_blk
without_bus
hosts_up
point "iSER: login" connect
all_classes iSER ""
point "iSER: nothing is left" disconnect
finish
