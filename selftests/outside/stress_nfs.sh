#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# fio's verified data on NFS over RDMA while stress-ng loads the machine, and the share
# itself. An argument is a glob of classes (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ../net/lib.sh
. ../net/scene.sh
. ../ulp/lib.sh
. ../ulp/nfs_lib.sh
. ./stress_lib.sh

pick=${1:-*}
version=4.2

up()
{
	share_up
	ready
	over_rdma
	mkdir "$MOUNTPOINT/stress"
}

start_data()
{
	(verifying --size=2m --iodepth=4 --time_based --runtime="$1" --verify_backlog=32 \
		--name=direct --rw=randwrite --bs=4k --direct=1 \
		--name=cached --rw=randwrite --bs=16k --fsync=16) &
	load_pid=$!
	load_from=$(fpdu_bytes)
	eventually load_moved
}

data_is_right()
{
	load_ends
	rm -rf "$MOUNTPOINT"/stress/*
	same_at_server
	over_tern $((9 * mib)) verified_jobs
	same_at_server
}

spoil_data()
{
	dd if=/dev/zero of="$EXPORT/fio/direct.0.0" bs=4k count=256 conv=notrunc status=none
}

unmount()
{
	timed 10 limit 20 umount "$MOUNTPOINT"
	timed 10 eventually no_qp
	server_stop
	nothing_left
}

needs_modules nfs nfsd rpcrdma loop ext4
before_exit() { share_down; }
topo_up
point "NFS: mounted over RDMA" up
all_classes NFS "$MOUNTPOINT/stress"
point "NFS: nothing is left" unmount
finish
