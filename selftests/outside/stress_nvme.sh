#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# fio's verified data on a disk of NVMe over Fabrics while stress-ng loads the machine. Both
# ends are this kernel. An argument is a glob of classes (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ./stress_disk.sh

pick=${1:-*}
NQN=nqn.2014-08.org.nvmexpress:tern
options="--keep-alive-tmo=$((15 * TERN_TIMEOUT_SCALE))"

disk() { echo /dev/"$(basename /sys/block/nvme[0-9]n1)"; }

connect()
{
	follow nvme target DISK=$DISK SERVER=$IP_B NQN=$NQN
	follow nvme connect SERVER=$IP_B NQN=$NQN OPTIONS="$options"
	eventually ready
}

disconnect()
{
	follow nvme disconnect NQN=$NQN
	follow nvme target-down NQN=$NQN
	nothing_left nvme-rdma nvmet-rdma
}

needs_modules nvme-rdma nvmet-rdma null_blk
hosts_up
point "NVMe: a host connects" connect
all_classes NVMe ""
point "NVMe: nothing is left" disconnect
finish
