#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# NFS, NVMe over Fabrics and iSCSI by RDMA over tern and siw, and by TCP, in one
# boot: fio, O_DIRECT, on memory, so that the transport is the limit. The unit is
# instructions, see instructions.sh:
#
#	TERN_ACCEL=icount selftests/lab/run --plain bench:storage.sh
#
# Every candidate in every round, medians; a figure that cannot be measured has
# its reason below the table.
# TERN_SET_BENCH_ROUNDS (3), TERN_SET_BENCH_CANDIDATES, TERN_SET_BENCH_LAYERS
# ("nfs nvme iser"), TERN_SET_BENCH_ROWS (a regular expression),
# TERN_SET_BENCH_MS (500 per figure).

. "$(dirname "$0")/compare.sh"
. ../ulp/lib.sh
# shellcheck source=storage_scene.sh
. ../bench/storage_scene.sh

rounds=${TERN_SET_BENCH_ROUNDS:-3}
milliseconds=${TERN_SET_BENCH_MS:-500}
candidates=${TERN_SET_BENCH_CANDIDATES:-tern tern-nocrc siw siw-crc tcp}
layers=${TERN_SET_BENCH_LAYERS:-nfs nvme iser}
ratios+=("on/tcp tern tcp" "off/tcp tern-nocrc tcp")

COUNTED=dev_b

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
	fio_on "$1" --time_based --runtime="${milliseconds}ms" --minimal "${@:2}" >"$TMP/fio"
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
# shellcheck disable=SC2086 # words
storage_up $layers
# shellcheck disable=SC2086 # words
every_round "lo, MTU 1500" $candidates
cat "$TMP/reasons"
