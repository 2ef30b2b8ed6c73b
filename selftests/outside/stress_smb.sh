#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# fio's verified data on a share of SMB Direct while stress-ng loads the machine, and the
# share itself. Both ends are this kernel. An argument is a glob of classes (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ./stress_disk.sh
. ../ulp/smb_lib.sh

pick=${1:-*}
# UML has no userfaultfd, and link takes minutes over SMB
stressors[faults]="--fault 1 --madvise 1 --mlock 1"
stressors[files]="--dir 1 --dir-dirs 128 --rename 1 --hdd 1 --hdd-bytes 4m --temp-path @FILES@"

disk() { echo "$MOUNTPOINT/fio"; }

up()
{
	share_up
	mounts
	mkdir "$MOUNTPOINT/stress"
}

spoil_data()
{
	for _ in 1 2 3; do
		dd if=/dev/zero of="$EXPORT/fio" bs=1M count=8 conv=notrunc status=none
	done
}

down()
{
	umount "$MOUNTPOINT"
	share_down
	nothing_left_of_smb
}

needs_modules smbdirect null_blk
hosts_up
point "SMB: mounted over RDMA" up
all_classes SMB "$MOUNTPOINT/stress"
point "SMB: nothing is left" down
finish
