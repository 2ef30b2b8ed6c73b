#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# NFS 4.2 over RDMA on tern and on siw, and over TCP, in one boot: fio, O_DIRECT,
# a share in memory, so that the transport is what limits. Every candidate in
# every round; medians. Prints a table of Documentation/performance.rst.
#
#	TERN_UML_ULP=1 selftests/lab/run --lane uml --plain bench:nfs.sh
#
# BENCH_ROUNDS (5), BENCH_SECONDS (3 per figure), BENCH_CANDIDATES, BENCH_RPS as
# in bench.sh.

. "$(dirname "$0")/compare.sh"
. ./scene.sh
. ../ulp/lib.sh
. ../ulp/nfs_lib.sh

rounds=${TERN_SET_BENCH_ROUNDS:-5}
seconds=${TERN_SET_BENCH_SECONDS:-3}
candidates=${TERN_SET_BENCH_CANDIDATES:-tern tern-nocrc siw siw-crc tcp}

# row NAME UNIT BETTER fio OPTIONS...
rows=(
	"randread-4K 1000/s high fio --rw=randread --bs=4k --iodepth=32"
	"randwrite-4K 1000/s high fio --rw=randwrite --bs=4k --iodepth=32"
	"read-1M MiB/s high fio --rw=read --bs=1m --iodepth=4"
	"write-1M MiB/s high fio --rw=write --bs=1m --iodepth=4"
)

# siw can't listen on a wildcard while it has two devices: every server of ours
# gets its listener by address.
serve()
{
	rm -f /etc/nfs.conf.d/tern.conf
	server_start
	[ "$1" = tcp ] || nsenter --net=/run/netns/b nfsdctl listener "+rdma:$IP_B:20049"
}

attach()
{
	local how=proto=rdma,port=20049
	[ "$1" != tcp ] || how=proto=tcp
	mkdir -p "$MOUNTPOINT"
	limit 60 nsenter --net=/run/netns/a \
		mount -t nfs -o "vers=4.2,$how" "$IP_B:$EXPORT" "$MOUNTPOINT"
	grep -q " $MOUNTPOINT nfs4.*,${how%%,*}," /proc/mounts
}

# figure UNIT fio OPTIONS...: of fio's terse line, bandwidth (KiB/s) or IOPS of
# what was done, read or written
figure()
{
	local unit=$1
	shift 2
	fio --name=share --directory="$MOUNTPOINT" --size=64m --direct=1 --ioengine=libaio \
		--time_based --runtime="$seconds" --minimal "$@" |
		awk -F';' -v unit="$unit" '
			/^3;/ { print unit == "MiB/s" ? ($7 + $48) / 1024 : ($8 + $49) / 1000 }'
}

measure()
{
	local row name unit rest

	[ "$1" = tcp ] || up "$1"
	serve "$1"
	attach "$1"
	for row in "${rows[@]}"; do
		read -r name unit _ rest <<<"$row"
		# shellcheck disable=SC2086 # words
		figure $unit $rest >>"$TMP/$name.$1"
	done
	umount "$MOUNTPOINT"
	server_stop
	[ "$1" = tcp ] || down "$1"
}

trap 'share_down; on_exit' EXIT
wires_up
if [ "${TERN_SET_BENCH_RPS:-1}" = 1 ]; then
	in_a sh -c 'echo 3 >/sys/class/net/v0a/queues/rx-0/rps_cpus'
	in_b sh -c 'echo 3 >/sys/class/net/v0b/queues/rx-0/rps_cpus'
fi
modprobe -r siw 2>/dev/null || true
mkdir -p "$EXPORT"
mount -t tmpfs -o size=160m share "$EXPORT"
exec 2>"$TMP/trace"
follow_in b nfs export
for ((round = 1; round <= rounds; round++)); do
	echo "round $round of $rounds"
	for c in $candidates; do
		measure "$c" || { tail -n 20 "$TMP/trace"; exit 1; }
	done
done
echo "kernel $(uname -r), $(nproc) CPUs, lane $TERN_LANE, MTU 1500, median of $rounds"
table
