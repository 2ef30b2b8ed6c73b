#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# NFS, NVMe over Fabrics and iSCSI by RDMA over tern and siw, and by TCP, in one
# boot: fio, O_DIRECT, on memory, so that the transport is the limit. The unit is
# instructions, see instructions.sh:
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:storage.sh
#
# Both ends are in the initial netns, since the block layers know no other; they
# talk over lo with the MTU of Ethernet. Every candidate in every round, medians;
# a figure that cannot be measured has its reason below the table.
# TERN_SET_BENCH_ROUNDS (3), TERN_SET_BENCH_CANDIDATES, TERN_SET_BENCH_LAYERS
# ("nfs nvme iser"), TERN_SET_BENCH_ROWS (a regular expression),
# TERN_SET_BENCH_MS (500 per figure).

. "$(dirname "$0")/compare.sh"
. ../ulp/lib.sh

rounds=${TERN_SET_BENCH_ROUNDS:-3}
milliseconds=${TERN_SET_BENCH_MS:-500}
candidates=${TERN_SET_BENCH_CANDIDATES:-tern tern-nocrc siw siw-crc tcp}
layers=${TERN_SET_BENCH_LAYERS:-nfs nvme iser}
jobs=(
	"randread-4K 1000/s high --rw=randread --bs=4k --iodepth=32"
	"randwrite-4K 1000/s high --rw=randwrite --bs=4k --iodepth=32"
	"lone-read-4K 1000/s high --rw=randread --bs=4k --iodepth=1"
	"read-1M MiB/s high --rw=read --bs=1m --iodepth=4"
	"write-1M MiB/s high --rw=write --bs=1m --iodepth=4"
)
ratios+=("on/tcp tern tcp" "off/tcp tern-nocrc tcp")

COUNTED=dev_b
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

# ---- figures ----------------------------------------------------------------

# within SECONDS COMMAND...: put its status into $status, 124 after that time; a command
# that hangs in the kernel is abandoned. Allow many seconds: the virtual clock runs on
# while the guest waits for its disk. Return 0, as all callers do: `set -e` would be off
# inside a command that `||` follows.
within()
{
	local seconds=$1 job timer ended

	shift
	( set -e; "$@" ) </dev/null &
	job=$!
	sleep "$seconds" &
	timer=$!
	status=0
	wait -n -p ended $job $timer || status=$?
	if [ "$ended" = $timer ]; then
		pkill -9 -P $job || true
		kill -9 $job
		status=124
	else
		kill $timer
	fi
}

# run PATH OPTIONS...: its terse line in $TMP/fio
run()
{
	fio --name=bench --filename="$1" --size=$SIZE --direct=1 --thread \
		--ioengine=libaio --gtod_reduce=1 --time_based \
		--runtime="${milliseconds}ms" --minimal "${@:2}" >"$TMP/fio"
}

# run_row OPTIONS...: and check that its bytes went over RDMA, for a row of RDMA
run_row()
{
	local least before

	before=$(fpdu_bytes)
	run "$(<"$TMP/path")" "$@"
	case $candidate in
	tern*)	least=$(awk -F';' '/^3;/ { printf "%d", ($6 + $47) * 1024 }' "$TMP/fio")
		[ $(($(fpdu_bytes) - before)) -ge "$least" ] ;;
	siw*)	rdma resource show qp | has "link $COUNTED/1 .* state RTS " ;;
	esac
}

# figure UNIT: of fio's terse line, bandwidth (KiB/s) or IOPS, read or written
figure()
{
	awk -F';' -v unit="$1" '
		/^3;/ { print unit == "MiB/s" ? ($7 + $48) / 1024 : ($8 + $49) / 1000 }' "$TMP/fio"
}

# failed WHAT: keep the first reason, to print it at the end
failed()
{
	local why="status $status"

	[ "$status" != 124 ] || why="hangs"
	echo "$candidate $1: $why"
	! grep -qs "^$candidate $1:" "$TMP/reasons" || return 0
	{
		echo "$candidate $1: $why"
		tail -n 5 "$TMP/trace"
		dmesg | grep -vE 'null_blk|random:' | tail -n 12
	} >>"$TMP/reasons"
}

# rows_of LAYER: measure until one fails
rows_of()
{
	local row name unit options

	for row in "${rows[@]}"; do
		read -r name unit _ options <<<"$row"
		[[ $name = "$1"-* ]] || continue
		# shellcheck disable=SC2086 # words
		within 300 run_row $options
		if [ "$status" != 0 ]; then
			failed "$name"
			return 0
		fi
		figure "$unit" >>"$TMP/$name.$candidate"
	done
}

# measure_layer LAYER TRANSPORT
measure_layer()
{
	within 300 "$1_up" "$2"
	if [ "$status" = 0 ]; then rows_of "$1"; else failed "$1 begins"; fi
	within 300 "$1_down" "$2"
	[ "$status" = 0 ] || failed "$1 ends"
}

measure_device()
{
	local layer

	# down needs it: the variable of up is lost with its process
	TERN_PEER=$(kind "$candidate")
	within 300 up "$candidate"
	[ "$status" = 0 ] || { failed "device begins"; return 0; }
	for layer in $layers; do
		measure_layer "$layer" rdma
	done
	within 300 down "$candidate"
	[ "$status" = 0 ] || failed "device ends"
}

measure()
{
	local layer

	candidate=$1
	if [ "$1" != tcp ]; then
		measure_device
		return
	fi
	for layer in $layers; do
		measure_layer "$layer" tcp
	done
}

# all_rows: those of each layer
all_rows()
{
	local layer

	for layer in $layers; do
		printf "$layer-%s\n" "${jobs[@]}"
	done
}

mapfile -t rows < <(all_rows | wanted_rows)
: >"$TMP/reasons"
exec 2>"$TMP/trace"
one_host 1500
share_up
disk_up
[[ $layers != *iser* ]] || iscsi_target_up
# from the guest's disk, before time counts
run $DISK --rw=read --bs=4k
modprobe -r siw || true
# shellcheck disable=SC2086 # words
every_round "lo, MTU 1500" $candidates
cat "$TMP/reasons"
