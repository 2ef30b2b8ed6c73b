#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# fio's verified data on a disk of NVMe over Fabrics while stress-ng loads the machine. Both
# ends are this kernel. An argument is a glob of classes (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ../net/lib.sh
. ../ulp/lib.sh
. ../ulp/block.sh
. ./stress_lib.sh

pick=${1:-*}
NQN=nqn.2014-08.org.nvmexpress:tern
options="--keep-alive-tmo=$((15 * TERN_TIMEOUT_SCALE))"

disk() { echo /dev/"$(basename /sys/block/nvme[0-9]n1)"; }
ready() { [ -b "$(disk)" ]; }

connect()
{
	follow nvme target DISK=$DISK SERVER=$IP_B NQN=$NQN
	follow nvme connect SERVER=$IP_B NQN=$NQN OPTIONS="$options"
	eventually ready
}

start_data()
{
	LOAD=$1
	load "$(disk)"
}

data_is_right()
{
	load_ends_well
	unharmed
	by_rdma $((2 * SIZE)) verify "$(disk)"
}

# fio may have verified what it wrote before one of these
spoil_data()
{
	for _ in 1 2 3; do
		dd if=/dev/zero of=$DISK bs=1M count=8 oflag=direct status=none
	done
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
