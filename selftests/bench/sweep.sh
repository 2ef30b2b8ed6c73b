#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The guest's part of report: figures of drive over the size of messages, the length of
# lists and the number of QPs, by events and by polling, as lines
#
#	CSV SERIES,KIND,X,CANDIDATE,INSTRUCTIONS
#
# in icount mode, where nanoseconds are instructions, of both ends with their program. Both
# are this host, and the MTU is 1500, so that rxe takes part. TERN_SET_SWEEP_CANDIDATES.

. "$(dirname "$0")/compare.sh"

sizes="64 512 4096 16384 65536 262144 1048576 8388608"
lists="1 2 4 8 16 32 64"
qps="1 4 16 64"

# line SERIES KIND X OPTIONS...: siw may stall, and rxe fail: then there is none
line()
{
	local series=$1 kind=$2 x=$3 name=$2 out
	shift 3

	[ "$candidate" != tcp ] || kind=tcp
	out=$(limit 10 ../bench/drive "$kind" "$@" 2>&1) ||
		{ echo "# $series $name $x $candidate: $out"; return 0; }
	echo "CSV $series,$name,$x,$candidate,${out#* }"
}

# some_of SIZE: 4 MiB, but at most 2000 messages and at least 2
some_of() { echo $(($1 < 16384 ? 2000 : $1 > 2097152 ? 2 : 4194304 / $1)); }

of_sizes()
{
	local kind size depth

	for kind in write send read; do
		# TCP has one kind
		case $candidate:$kind in tcp:send | tcp:read) continue ;; esac
		for size in $sizes; do
			depth=$((size > 65536 ? 4 : 16))
			line size $kind "$size" -s "$size" -d $depth -n "$(some_of "$size")"
		done
	done
}

of_lists()
{
	local kind list

	for kind in write send; do
		for list in $lists; do
			line list $kind "$list" -s 64 -l "$list" -d 128 -n 1920
		done
	done
}

of_qps()
{
	local n

	for n in $qps; do
		line qps write "$n" -s 64 -q "$n" -n 2000
		line qps send "$n" -s 64 -q "$n" -n 2000
	done
}

# polling with one CPU is waiting for a tick, where a thread of the kernel has to run
of_polling()
{
	line wait send events -s 64 -n 2000
	line wait send polling -s 64 -n 2000 -p
	line wait write events -s 64 -n 2000
	line wait write polling -s 64 -n 2000 -p
}

measure()
{
	candidate=$1
	[ "$1" = tcp ] || up "$1"
	eventually ping -q -c 1 -W 1 "$IP_B" >/dev/null
	of_sizes
	if [ "$1" != tcp ]; then
		of_lists
		of_qps
	fi
	[ "$1" != tern ] || of_polling
	[ "$1" = tcp ] || down "$1"
}

modprobe -r siw 2>/dev/null || true
one_host 1500
IP_A=$IP_B
for c in ${TERN_SET_SWEEP_CANDIDATES:-tern tern-nocrc tern-short siw siw-crc rxe tcp}; do
	measure "$c"
done
echo "KERNEL $(uname -r) $(uname -v)"
