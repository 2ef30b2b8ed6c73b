# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # the jobs are the script's
# Sourced after compare.sh and ulp/lib.sh by the scripts that run fio over NFS, NVMe over
# Fabrics and iSCSI. Both ends are in the initial netns, since the block layers know no other;
# they talk over lo with the MTU of Ethernet.

# NAME UNIT high OPTIONS of fio
jobs=(
	"randread-4K 1000/s high --rw=randread --bs=4k --iodepth=32"
	"randwrite-4K 1000/s high --rw=randwrite --bs=4k --iodepth=32"
	"lone-read-4K 1000/s high --rw=randread --bs=4k --iodepth=1"
	"read-1M MiB/s high --rw=read --bs=1m --iodepth=4"
	"write-1M MiB/s high --rw=write --bs=1m --iodepth=4"
)

SIZE=$((64 << 20))
DISK=/dev/nullb0
NQN=nqn.2014-08.org.nvmexpress:tern
IQN=iqn.2026-01.org.example:tern
TARGET=/sys/kernel/config/target
TPG=$TARGET/iscsi/$IQN/tpgt_1
export EXPORT=/srv/share MOUNTPOINT=/run/share CLIENTS=10.7.0.0/24 SERVER=$IP_B

# ---- set up what is served, once ------------------------------------------

share_up()
{
	mkdir -p "$EXPORT" "$MOUNTPOINT"
	mount -t tmpfs -o size=$((SIZE + (8 << 20))) share "$EXPORT"
	dd if=/dev/urandom of="$EXPORT/file" bs=1M count=$((SIZE >> 20)) status=none
	follow nfs export
	# its daemons stay
	follow nfs start
	rpc.nfsd 0
}

disk_up()
{
	modprobe null_blk nr_devices=1 gb=1 memory_backed=1
	dd if="$EXPORT/file" of=$DISK bs=1M oflag=direct status=none
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
}

# the same as targetcli, without its ten seconds of Python
iscsi_target_up()
{
	modprobe -a iscsi_target_mod target_core_iblock sd_mod
	mkdir -p $TARGET/core/iblock_0/disk
	echo "udev_path=$DISK" >$TARGET/core/iblock_0/disk/control
	echo 1 >$TARGET/core/iblock_0/disk/enable
	mkdir -p $TARGET/iscsi $TPG/lun/lun_0
	ln -s $TARGET/core/iblock_0/disk $TPG/lun/lun_0/disk
	echo 0 >$TPG/attrib/authentication
	echo 1 >$TPG/attrib/generate_node_acls
	echo 0 >$TPG/attrib/demo_mode_write_protect
	mkdir -p /run/lock
	iscsid
}

# ---- the layers: LAYER_up rdma|tcp leaves a path to read and write in $TMP/path -

# listen on addresses: on a wildcard siw would listen at v0b only, not at lo
nfs_up()
{
	local how=proto=$1

	nfsdctl listener "+tcp:$IP_B:2049"
	if [ "$1" = rdma ]; then
		how+=,port=20049
		nfsdctl listener "+rdma:$IP_B:20049"
	fi
	nfsdctl threads 8
	mount -t nfs -o "vers=4.2,$how" "$IP_B:$EXPORT" "$MOUNTPOINT"
	grep -q " $MOUNTPOINT nfs4 .*[ ,]proto=$1," /proc/mounts
	echo "$MOUNTPOINT/file" >"$TMP/path"
}

nfs_down()
{
	umount "$MOUNTPOINT"
	nfsdctl threads 0
}

# by TRANSPORT NAME VARIABLE=VALUE...: follow nvme, by that transport
by()
{
	local commands
	commands=$(recipe nvme "$2")
	env "${@:3}" bash -euxc "${commands//rdma/$1}"
}

nvme_up()
{
	local disk

	by "$1" target DISK=$DISK SERVER="$IP_B" NQN=$NQN
	by "$1" connect SERVER="$IP_B" NQN=$NQN OPTIONS=
	disk="/sys/class/nvme-subsystem/*/nvme*n1"
	eventually compgen -G "$disk"
	[ "$(cat /sys/class/nvme/nvme*/transport)" = "$1" ]
	# shellcheck disable=SC2086 # a glob
	echo /dev/"$(basename $disk)" >"$TMP/path"
	eventually test -b "$(<"$TMP/path")"
}

nvme_down()
{
	follow nvme disconnect NQN=$NQN
	follow nvme target-down NQN=$NQN
}

# of iWARP's listener and TCP's only one can have the port (recipes/iser.rst)
iser_up()
{
	local np=$TPG/np/$IP_B:3260 iface=default name=tcp

	if [ "$1" = rdma ]; then
		modprobe -a ib_isert ib_iser
		iface=iser name=iser
		unshare --net mkdir "$np"
		echo 1 >"$np/iser"
	else
		modprobe iscsi_tcp
		mkdir "$np"
	fi
	echo 1 >$TPG/enable
	iscsiadm -m node -o new -T $IQN -p "$IP_B" -I $iface
	follow iser login IQN=$IQN SERVER="$IP_B"
	iscsiadm -m session | has "^$name:"
	eventually compgen -G "/sys/block/sd*"
	echo /dev/"$(basename /sys/block/sd*)" >"$TMP/path"
	eventually test -b "$(<"$TMP/path")"
}

iser_down()
{
	local np=$TPG/np/$IP_B:3260

	follow iser logout IQN=$IQN SERVER="$IP_B"
	iscsiadm -m node -T $IQN -p "$IP_B" -o delete
	echo 0 >$TPG/enable
	[ "$1" = tcp ] || echo 0 >"$np/iser"
	rmdir "$np"
}

# storage_up LAYER...: what these layers serve, and where
storage_up()
{
	one_host 1500
	share_up
	disk_up
	[[ " $* " != *" iser "* ]] || iscsi_target_up
	# from the guest's disk, before anything is measured
	fio_on $DISK --rw=read --bs=4k >"$TMP/fio"
	modprobe -r siw || true
}

# fio_on PATH OPTIONS...
fio_on()
{
	fio --name=bench --filename="$1" --size=$SIZE --direct=1 --thread --ioengine=libaio \
		--gtod_reduce=1 "${@:2}"
}
