# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by tests of block storage that run stress-ng: fio's verified data is on a disk whose
# two ends are this kernel. The caller defines disk and sets $pick.

. ../net/lib.sh
. ../ulp/lib.sh
. ../ulp/block.sh
. ./stress_lib.sh

ready() { [ -b "$(disk)" ]; }

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
