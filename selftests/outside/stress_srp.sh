#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# fio's verified data on a disk of SRP while stress-ng loads the machine. Both ends are this
# kernel. An argument is a glob of classes (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ./stress_disk.sh

pick=${1:-*}

disk() { echo /dev/"$(basename /sys/block/sd*)"; }
client_id() { follow srp client-id 2>/dev/null; }

connect()
{
	local id

	follow srp target DISK=$DISK CLIENT="$(client_id)"
	id=$(follow srp target-id 2>/dev/null)
	modprobe sd_mod
	follow srp login TARGET="$id" SERVER=$IP_B
	eventually ready
}

disconnect()
{
	follow srp logout
	eventually not ready
	follow srp target-down CLIENT="$(client_id)"
	nothing_left ib_srp ib_srpt target_core_iblock
}

needs_modules ib_srp ib_srpt null_blk
hosts_up
point "SRP: login" connect
all_classes SRP ""
point "SRP: nothing is left" disconnect
finish
