#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Power cuts: the server's machine is reset while a client writes to its disk, and boots again.
# What was fsynced before is there, and the checker of the file system finds no fault.
#
#	 client                         server
#	+-----------------+   wire   +-------------------------+
#	| ext4, xfs over  +----------+ target: /dev/loop0, a   |
#	| NVMe, iSER      |          | file on /dev/vdc        |
#	| NFS 4.2         +----------+ ext4, xfs on /dev/vdc   |
#	+-----------------+          +-------------------------+
#
# The loop device writes to the page cache of the server, which the cut empties: only what the
# client's flush brought down is on /dev/vdc. The client's file system is shut down, mounted
# again from the server that is back, and checked. With NFS the client's programs wait for the
# server, go on without an error, and send again what the server has lost. An argument is a
# glob of cases, without spaces (nvme*ext4).
#
# TERN_SET_PLANT is a list with a fault for each case, which must fail then. flush: the loop
# device says that it has no cache, or the server of NFS answers before its disk does; byte:
# bytes of a file change; file: a file goes.

cd "$(dirname "$0")" || exit 1
. ../net/lib.sh
. ../ulp/lib.sh
. ../ulp/block.sh

pick=${1:-*}
durable=./durable.py
NQN=nqn.2014-08.org.nvmexpress:tern
IQN=iqn.2026-01.org.example:tern
DISK=/dev/loop0
store=/srv/store
mnt=$TMP/mnt list=$TMP/list
read -ra plants <<<"${TERN_SET_PLANT:-}"

# ---- the control connection: one for each point, and another after a cut ---------------

serve()
{
	ktap_done=1
	local status=1

	# in a condition `set -e` would be off, also for what it starts
	while [ $status != 0 ]; do
		status=0
		serve_client &
		wait $! || status=$?
		sleep 0.2
	done
	exit 0
}

# A boot takes longer than what `eventually` waits for.
meet() { eventually join || eventually join || eventually join; }

leave()
{
	exec {control}>&-
	control=
}

# power_cut: nothing of the data's disk is synced, only the system's; both are those of a machine
# that goes on, but its memory is lost
power_cut()
{
	local boot

	boot=$(server boot_id)
	server no_report
	server sync -f /
	echo "echo b >/proc/sysrq-trigger" >&"$control"
	leave
	meet
	[ "$(server boot_id)" != "$boot" ]
}

boot_id() { cat /proc/sys/kernel/random/boot_id; }
no_report() { ! dmesg | grep -E "$TERN_BAD_LOG"; }

# ---- the server --------------------------------------------------------------------------

# store_up [FS]: the data's disk is mounted, with a new file system if FS is named
store_up()
{
	modprobe -a loop "${1:-ext4}" xfs
	[ -z "${1:-}" ] || wipefs -qa /dev/vdc
	[ -z "${1:-}" ] || "mkfs.$1" -q /dev/vdc
	mkdir -p $store
	mount /dev/vdc $store
}

store_down()
{
	eventually umount $store
	check_fs /dev/vdc
}

# image_up [FS [PLANT]]: the disk that the target exports
image_up()
{
	store_up "${1:-}"
	[ -n "${1:-}" ] || [ -s $store/image ]
	truncate -s 512M $store/image
	losetup $DISK $store/image
	[ "${2:-}" != flush ] || echo "write through" >/sys/block/loop0/queue/write_cache
	cat /sys/block/loop0/queue/write_cache
}

image_down()
{
	losetup -d $DISK
	store_down
}

# what a case that failed has left
disk_clear()
{
	mountpoint -q $store || return 0
	follow nvme target-down NQN=$NQN || true
	follow iser target-down IQN=$IQN || true
	losetup -d $DISK || true
	umount $store
}

nvme_up()	{ image_up "$@"; follow nvme target DISK=$DISK SERVER=$IP_B NQN=$NQN; }
nvme_down()	{ follow nvme target-down NQN=$NQN; image_down; }
# The kernel's target says that its disk knows FUA, and passes it on only to a disk that does:
# the loop device does not. So ask for flushes instead.
iser_up()
{
	image_up "$@"
	follow iser target DISK=$DISK SERVER=$IP_B IQN=$IQN
	targetcli /backstores/block/disk set attribute emulate_fua_write=0
}

iser_down()	{ follow iser target-down IQN=$IQN; image_down; }

# nfs_up [FS [PLANT]]: clients come back after a short grace
nfs_up()
{
	store_up "${1:-}"
	follow nfs export EXPORT=$store CLIENTS=$IP_A
	[ "${2:-}" != flush ] || sed -i 's/(rw,/(rw,async,/' /etc/exports.d/tern.exports
	follow nfs config
	printf '[nfsd]\ngrace-time=10\nlease-time=30\n' >/etc/nfs.conf.d/test.conf
	follow nfs start
	follow nfs listening
}

nfs_down()
{
	follow nfs stop
	store_down
}

# what a case that failed has left
nfs_clear()
{
	! mountpoint -q $store || follow nfs stop || true
	umount $store 2>/dev/null || true
}

# ---- the client --------------------------------------------------------------------------

disk()
{
	case $transport in
	nvme)	echo /dev/"$(basename /sys/block/nvme[0-9]n1)" ;;
	iser)	echo /dev/"$(basename /sys/block/sd*)" ;;
	esac
}
has_disk() { [ -b "$(disk)" ]; }
no_disk() { [ ! -b "$(disk)" ]; }

nvme_connect()	  { follow nvme connect SERVER=$IP_B NQN=$NQN OPTIONS=; }
nvme_disconnect() { follow nvme disconnect NQN=$NQN; }

iser_connect()
{
	mkdir -p /run/lock
	modprobe -a sd_mod ib_iser
	pidof iscsid || iscsid
	follow iser node IQN=$IQN SERVER=$IP_B
	follow iser login IQN=$IQN SERVER=$IP_B
}

iser_disconnect()
{
	follow iser logout IQN=$IQN SERVER=$IP_B
	iscsiadm -m node -T $IQN -p $IP_B -o delete
}

attach()
{
	"${transport}_connect"
	eventually has_disk
}

detach()
{
	"${transport}_disconnect"
	eventually no_disk
}

# check_fs DEVICE: the checker of its file system finds no fault, and mends nothing
check_fs()
{
	case $(blkid -p -s TYPE -o value "$1") in
	ext4)	fsck.ext4 -fn "$1" ;;
	xfs)	xfs_repair -n "$1" ;;
	*)	echo "no file system on $1"; return 1 ;;
	esac
}

# load_begins: files that must stay, and many that make the journal work; wait for some of
# the first
load_begins()
{
	: >"$list"
	mkdir "$mnt/durable" "$mnt/stress"
	$durable write "$mnt/durable" "$list" &
	writer=$!
	stress-ng -q --dir 1 --rename 1 --link 1 --hdd 1 --hdd-bytes 4m \
		--temp-path "$mnt/stress" --timeout 600 &
	stressor=$!
	eventually wrote 40 || eventually wrote 40
}

wrote() { [ "$(wc -l <"$list")" -ge "$1" ]; }

# the first file is never removed by its writer
spoil()
{
	case $plant in
	byte)	printf '\xa5\x5a' | dd of="$mnt/durable/000001" conv=notrunc status=none ;;
	file)	rm "$mnt/durable/000001" ;;
	esac
}

held()
{
	spoil
	$durable check "$mnt/durable" "$list" | tee "$TMP/held"
}

# The file system of a disk that has gone is shut down, as a crash of the client would leave
# it, without waiting: that writes to the disk. Its programs are killed before that: fsync() of
# a folder of xfs succeeds when it has been shut down, and the file would count as safe.
given_up()
{
	kill -9 $writer || true
	pkill -9 stress-ng || true
	xfs_io -x -c shutdown "$mnt" &
	sleep 1
	detach
	wait || true
	eventually umount "$mnt"
}

nfs_mount()
{
	follow nfs mount SERVER=$IP_B EXPORT=$store MOUNTPOINT="$mnt" VERS=4.2 MORE=
	grep " $mnt nfs4 .*proto=rdma," /proc/mounts
}

# The writer goes on by itself, after TCP and NFS have tried again and the server's grace is
# over, and had no error. stress-ng may have: NFS repeats what was done already.
goes_on()
{
	local more=$(($(wc -l <"$list") + 40)) tries=12

	until eventually wrote $more; do
		kill -0 $writer
		tries=$((tries - 1))
		[ $tries -gt 0 ]
	done
	kill $writer
	wait $writer
	kill -INT $stressor
	wait $stressor || true
}

# let_go: of what a case that failed has left
let_go()
{
	local transport

	umount -l "$mnt" 2>/dev/null || true
	for transport in nvme iser; do
		! has_disk || detach || true
	done
}

# of_disk FS: transport is nvme or iser
of_disk()
{
	meet
	let_go
	server disk_clear
	server "${transport}_up" ext4 "$plant"
	attach
	"mkfs.$1" -q "$(disk)"
	mkdir -p "$mnt"
	mount "$(disk)" "$mnt"
	load_begins
	power_cut
	given_up
	server "${transport}_up"
	attach
	mount "$(disk)" "$mnt"
	held
	umount "$mnt"
	check_fs "$(disk)"
	detach
	server "${transport}_down"
}

# of_share FS: that of the server
of_share()
{
	meet
	umount -f -l "$mnt" 2>/dev/null || true
	server nfs_clear
	server nfs_up "$1" "$plant"
	nfs_mount
	load_begins
	power_cut
	server nfs_up
	goes_on
	umount "$mnt"
	nfs_mount
	held
	umount "$mnt"
	server nfs_down
}

case_of()
{
	local what=of_disk

	transport=$1
	[ $transport != nfs ] || what=of_share
	# shellcheck disable=SC2053 # a glob is meant
	[[ "$1 $2" == $pick ]] || return 0
	: >"$TMP/held"
	plant=${plants[0]:-} plants=("${plants[@]:1}")
	point "power cut: $1, $2: fsynced files stay, fsck finds nothing" $what "$2"
	sed 's/^/# /' "$TMP/held"
}

two_machines || skip_all "it needs a server of its own"
[ "$TERN_ROLE" = client ] || [ -b /dev/vdc ] || skip_all "the server has no disk that stays"
# What waits for a server that boots must not count as a hung task.
echo $((150 * TERN_TIMEOUT_SCALE)) >/proc/sys/kernel/hung_task_timeout_secs
without_bus
hosts_up
leave
for transport in nvme iser nfs; do
	for fs in ext4 xfs; do
		case_of $transport $fs
	done
done
meet
finish
