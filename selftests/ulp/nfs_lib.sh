# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # read by those that source this
# Sourced by nfs.sh after the other libraries: a share, its server in b, its
# client in a.

mib=1048576
COUNTED=$DEV_A
if short; then versions=${TERN_SET_NFS_VERSIONS:-4.2 3}; fi
versions=${versions:-${TERN_SET_NFS_VERSIONS:-4.2 4.1 4.0 3}}
hung_task=/proc/sys/kernel/hung_task_timeout_secs
export EXPORT=/srv/share MOUNTPOINT=/run/share CLIENTS=10.7.0.0/24 SERVER=$IP_B

# An NFS client that waits for its server must not count as a hung task.
[ ! -e $hung_task ] || echo $((40 * TERN_TIMEOUT_SCALE)) >$hung_task

# ---- server -------------------------------------------------------------------

# a real file system for it; clients come back after a short grace, and a slow
# machine may renew late
share_up()
{
	modprobe -a loop ext4
	truncate -s 192M "$TMP/disk"
	mkfs.ext4 -q -E nodiscard "$TMP/disk"
	mkdir -p "$EXPORT"
	mount -o loop "$TMP/disk" "$EXPORT"
	mkdir -p /etc/nfs.conf.d
	printf '[nfsd]\ngrace-time=10\nlease-time=30\n' >/etc/nfs.conf.d/test.conf
	follow_in b nfs export
	follow_in b nfs config
	server_start
	follow_in b nfs listening
}

server_start()	{ follow_in b nfs start; }
server_stop()	{ follow_in b nfs stop; }

# share_down: works in any state
share_down()
{
	local dir
	umount -f -l "$MOUNTPOINT" 2>/dev/null || true
	! serves || server_stop >/dev/null 2>&1 || true
	ip netns pids b 2>/dev/null | xargs -r kill 2>/dev/null || true
	for dir in /proc/fs/nfsd /run/rpc_pipefs "$EXPORT"; do
		umount -l $dir 2>/dev/null || true
	done
	rm -f /etc/nfs.conf.d/*.conf /etc/exports.d/tern.exports
}

# ---- client -------------------------------------------------------------------

# mount_share VERSION: with fatal_neterrors=none if the kernel has it, so that errors of
# the network do not become errors of the disk, as in the initial netns
mount_share()
{
	mount_with "$1" MORE=
	! grep -q " $MOUNTPOINT nfs.*,fatal_neterrors=ENET" /proc/mounts || {
		umount "$MOUNTPOINT"
		mount_with "$1" MORE=,fatal_neterrors=none
	}
}

mount_with()
{
	case $1 in
	3)	follow_in a nfs mount-v3 "$2" ;;
	*)	follow_in a nfs mount VERS="$1" "$2" ;;
	esac
}

serves() { grep -qs '[1-9]' /proc/fs/nfsd/threads; }

# ready: mount the share, unless the last point left it mounted. A point that failed may have
# left its server stopped: all that follow would wait for it.
ready()
{
	serves || server_start
	mountpoint -q "$MOUNTPOINT" || mount_share "${version:-4.2}"
}

# The mount and its transport say rdma, and no TCP connection goes to NFS.
over_rdma()
{
	follow_in a nfs look
	grep -q " $MOUNTPOINT nfs.*[ ,]proto=rdma," /proc/mounts
	! in_a ss -Htn 'dport = :2049' | grep . || return 1
}

# the remains of a lazy umount are gone, too
no_volume() { ! nsenter --net=/run/netns/a cat /proc/net/nfsfs/volumes | has '^v[0-9]'; }

no_qp() { ! counts | has -E ' qp [1-9]'; }

# ---- data ---------------------------------------------------------------------

# fio with the options of all runs, on new files: unwritten data has no header. Paths are
# relative, so that they are the share's after umount -l. In a subshell of its own, since
# it becomes fio.
verifying()
{
	rm -rf "$MOUNTPOINT/fio"
	mkdir "$MOUNTPOINT/fio"
	cd "$MOUNTPOINT/fio" || exit
	exec timeout -k 2 $((90 * TERN_TIMEOUT_SCALE)) fio --directory=. --aux-path="$TMP" \
		--verify=crc32c --verify_fatal=1 --randrepeat=0 \
		--ioengine=libaio --fallocate=none --minimal "$@"
}

# 9 MiB, written and read
verified_jobs()
(
	verifying --size=1m \
		--name=small --rw=randwrite --bs=4k --direct=1 --iodepth=8 --numjobs=2 \
		--name=odd --rw=write --bsrange=512-96k --bs_unaligned --iodepth=4 --end_fsync=1 \
		--name=cached --rw=randwrite --bs=16k --end_fsync=1 --size=2m \
		--name=large --rw=write --bs=1m --direct=1 --iodepth=2 --size=4m
)

forget_cache()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

sums() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

# fio compares the data with what it wrote: it drops the client's pages before it
# verifies, and NFS reads a file again that is opened again.
same_at_server()
{
	forget_cache
	sums "$MOUNTPOINT" >"$TMP/sums.client"
	sums "$EXPORT" | diff "$TMP/sums.client" -
	[ -s "$TMP/sums.client" ]
}

# load [direct]: start fio in the background, $load_pid, and wait until it has begun. It takes
# some four seconds, and more where all is slow, to outlast what is done under it. With direct
# there are no dirty pages: a hard mount keeps those for a server that may never
# return, and sync waits for it.
load()
{
	local cached=(--name=load-cached --rw=randwrite --bs=16k --fsync=16)

	[ "${1:-}" != direct ] || cached=()
	ready
	load_from=$(fpdu_bytes)
	(verifying --size=$((1 + TERN_TIMEOUT_SCALE))m --rate=,500k --iodepth=4 \
		--name=load-small --rw=randwrite --bs=4k --direct=1 \
		--name=load-large --rw=write --bs=128k --direct=1 \
		"${cached[@]}") &
	load_pid=$!
	eventually load_moved
}

load_moved() { [ $(($(fpdu_bytes) - load_from)) -gt 500000 ]; }

# the load waits: it has neither ended nor made progress
load_stands()
{
	local before
	before=$(fpdu_bytes)
	sleep 1
	kill -0 "$load_pid"
	[ $(($(fpdu_bytes) - before)) -lt 20000 ]
}

load_ends() { wait "$load_pid"; }

# timeout leads a process group of its own
load_kill()	{ kill -9 -- "-$load_pid"; }
load_killed()	{ ! kill -0 -- "-$load_pid" 2>/dev/null; }
