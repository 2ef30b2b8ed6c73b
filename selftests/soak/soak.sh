#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A mix of everything at once, until a time is over. Workers take round after round, each
# with parameters of its own by chance:
#
#	v0a --- v0b	streams (verified Sends, Writes and Reads), atomics (a lock, whose
#			counter is exact), ping (rping), storage (NFS over RDMA, compared at
#			both ends), while the network is good and bad in turns, settings
#			change, and memory runs short. Nothing may fail here, and at the end
#			both ends have counted the same.
#	v1a --- v1b	change: connections under load, while a device, the wire or an address
#			goes and comes back, or a program is killed. They may end, but no byte
#			may be wrong, and no object may be left.
#
# Arguments are names of workers, to run these alone. TERN_SET_SOAK_SECONDS (60): how long;
# TERN_SET_SEED: the seed of all choices, printed (how the workers run beside one another, it
# does not decide).

cd ../ulp || exit
. ../net/lib.sh
. ../net/scene.sh
. ../net/netem.sh
. ./lib.sh
. ./nfs_lib.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: changes its settings, and reads its counters"
needs_modules nfs nfsd rpcrdma loop ext4

seconds=${TERN_SET_SOAK_SECONDS:-60}
seed=${TERN_SET_SEED:-$((EPOCHSECONDS % 100000))}
wanted=("$@")
names=(network settings memory stream_1 stream_2 atomics ping storage change)
for word; do
	[[ " ${names[*]} " = *" $word "* ]] || skip_all "no worker $word"
done
locks=../verbs/locks
SOAK=$TMP

# ---- workers ---------------------------------------------------------------------------

# one_of WORD...: sets $chosen. In `$( )` RANDOM would not be that of the seed.
one_of() { shift $((RANDOM % $#)); chosen=$1; }

# each round has a port of its own: no two workers choose the same
new_port() { echo "$own_port"; }

# one_round WORKER SEED: runs in the background, because `set -e` is off in what || follows
one_round()
{
	set -e
	RANDOM=$2
	"$1"
}

# rounds NAME NUMBER: a worker; what a round printed is kept if it failed
rounds()
{
	local n=0
	TMP=$SOAK/$1
	while [ $EPOCHSECONDS -lt "$until" ] && [ ! -e "$TMP/failed" ]; do
		own_port=$((20000 + $2 * 1000 + n % 1000))
		one_round "$1" $((seed + $2 * 7919 + n * 104729)) >"$TMP/said" 2>&1 </dev/null &
		wait $! || { echo "round $n: status $?"; tail -n 40 "$TMP/said"; } >"$TMP/failed"
		n=$((n + 1))
		echo $n >"$TMP/rounds"
	done
}

worker()
{
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $1 "* ]] || return 0
	workers+=("$1")
	mkdir "$SOAK/$1"
	rounds "$1" ${#workers[@]} & pids+=($!)
}

verdict()
{
	echo "seed $seed"
	[ ! -e "$SOAK/$1/failed" ] || { cat "$SOAK/$1/failed"; return 1; }
	[ "$(<"$SOAK/$1/rounds")" -gt 0 ]
}

# ---- the steady wire ---------------------------------------------------------------------

# up to 4 MiB in flight
stream()
{
	local size=$((1 << (RANDOM % 21))) depth=$((1 + RANDOM % 16)) server=() client from=0.0.0.0 to=$IP_B
	[ $((size * depth)) -le $((4 << 20)) ] || depth=4
	[ $((RANDOM % 2)) = 0 ] || server=(-S)
	[ $((RANDOM % 3)) != 0 ] || from=:: to=$IP6_B
	one_of poll event event solicited
	server+=(-e "$chosen")
	one_of poll event event solicited
	client=(-e "$chosen")
	one_of send write read mixed
	client+=(-m "$chosen")
	pair 120 $vtraffic server -b $from -p @PORT@ "${server[@]}" -- \
		$vtraffic client -a "$to" -p @PORT@ "${client[@]}" -t $((1 + RANDOM % 6)) \
		-x $size -d $depth -l $((1 + RANDOM % 6)) -s $((1 + RANDOM))
	grep ' operations' "$TMP/client"
}

stream_1() { stream; }
stream_2() { stream; }

atomics()
{
	local pids=() pid
	limit 120 in_b $locks server $IP_B "$own_port" 3 30 & pids+=($!)
	wait_for_listen "$own_port"
	for _ in 1 2 3; do
		limit 120 in_a $locks client $IP_B "$own_port" 30 & pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
}

ping()
{
	local options=(-C $((1 + RANDOM % 30)) -S $((64 + RANDOM % 60000)) -p @PORT@)
	pair 120 rping -s -a $IP_B "${options[@]}" -- rping -c -V -a $IP_B "${options[@]}"
}

# the bytes are compared at both ends: wrong ones could be the same in client and original
storage()
{
	head -c $((RANDOM * RANDOM % (3 << 20))) /dev/urandom >"$TMP/original"
	cp "$TMP/original" "$MOUNTPOINT/soak"
	forget_cache
	cmp "$TMP/original" "$MOUNTPOINT/soak"
	cmp "$TMP/original" "$EXPORT/soak"
	rm "$MOUNTPOINT/soak"
	over_rdma
}

# ---- what the steady wire has to bear ------------------------------------------------------

network()
{
	one_of "delay 0" "loss 1%" "duplicate 2%" "rate 200mbit" "delay 1ms 1ms" \
		"delay 1ms reorder 10%" "delay 2ms 1ms loss 0.3%"
	# shellcheck disable=SC2086 # words
	bad_network $chosen
	sleep $((1 + RANDOM % 4))
}

# none that one end alone could refuse
settings()
{
	local of=(in_a tern set "$DEV_A") row words=()
	[ $((RANDOM % 2)) = 0 ] || of=(in_b tern set "$DEV_B")
	for row in "crc on on off" "markers off off on" "max-fpdu mss 1024 9000 32768 64750" \
		"features 7306 7306,v2 7306,long-fpdu 7306,v2,long-fpdu"; do
		# shellcheck disable=SC2086 # words
		one_of ${row#* }
		words+=("${row%% *}" "$chosen")
	done
	"${of[@]}" "${words[@]}"
	sleep 0.$((1 + RANDOM % 9))
}

# fill most of the free memory, then the caches go and free pages are moved together
memory()
{
	local free
	free=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	mkdir -p "$TMP/full"
	mount -t tmpfs -o size=90% full "$TMP/full"
	[ "$free" -le 300 ] || head -c $((free - 300))M /dev/zero >"$TMP/full/zeros" ||
		{ umount "$TMP/full"; return 1; }
	sleep 1
	umount "$TMP/full"
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/compact_memory 2>/dev/null || true
	sleep $((1 + RANDOM % 4))
}

# ---- the other wire ------------------------------------------------------------------------

wire_there() { [ -e /run/netns/a ] && in_a ip link show v1a >/dev/null 2>&1; }

wire_back()
{
	wire_there || {
		ip link add v1a mtu 1500 netns a type veth peer name v1b mtu 1500 netns b
		in_a ip addr add 10.8.0.1/24 dev v1a
		in_b ip addr add 10.8.0.2/24 dev v1b
		in_a ip link set v1a up
		in_b ip link set v1b up
	}
	in_a rdma link show tern_c/1 >/dev/null 2>&1 || dev_add a tern_c tern v1a
	in_b rdma link show tern_d/1 >/dev/null 2>&1 || dev_add b tern_d tern v1b
}

something_happens()
{
	one_of client_device server_device wire down address kill_client kill_server
	echo "$chosen"
	case $chosen in
	client_device)	in_a rdma link delete tern_c ;;
	server_device)	in_b rdma link delete tern_d ;;
	wire)		in_a ip link delete v1a
			eventually no_device tern_c
			eventually no_device tern_d ;;
	down)		in_a ip link set v1a down; sleep 0.2; in_a ip link set v1a up ;;
	address)	in_b ip addr del 10.8.0.2/24 dev v1b; sleep 0.2
			in_b ip addr add 10.8.0.2/24 dev v1b ;;
	kill_client)	kill -9 "$client_pid" ;;
	kill_server)	kill -9 "$server_pid" ;;
	esac
}

# NFS listens on each device, with a PD and CQs
objects_of_change() { everywhere rdma resource show | grep -E 'tern_[cd]:'; }
change_leaves_nothing() { ! objects_of_change | has -E '(qp|mr|ctx|srq) [1-9]'; }

change()
{
	wire_back
	: >"$TMP/server"
	: >"$TMP/client"
	ip netns exec b $vtraffic server -b 10.8.0.2 -p "$own_port" >"$TMP/server" 2>&1 &
	server_pid=$!
	eventually grep -qx 'vtraffic: listening' "$TMP/server"
	ip netns exec a $vtraffic client -a 10.8.0.2 -p "$own_port" -m mixed -t 600 -x $((1 << (RANDOM % 18))) \
		-s $((1 + RANDOM)) >"$TMP/client" 2>&1 &
	client_pid=$!
	eventually grep -Eq 'running|connected' "$TMP/client"
	sleep 0.$((RANDOM % 10))
	something_happens
	sleep 0.$((RANDOM % 10))
	kill -9 "$client_pid" "$server_pid" 2>/dev/null || true
	within 5 eventually ended "$client_pid"
	within 5 eventually ended "$server_pid"
	cat "$TMP/client" "$TMP/server"
	! grep -E 'damaged|checksum|unexpected|out of range' "$TMP/client" "$TMP/server" || return 1
	within 5 eventually change_leaves_nothing || { objects_of_change; return 1; }
}

# ---- the end -------------------------------------------------------------------------------

# total END NAME: a counter of that end of the steady wire
total() { echo "$(<"/sys/class/infiniband/tern_$1/ports/1/hw_counters/$2")"; }

counted_alike()
{
	local pair from to bad=0 name
	for pair in tx_fpdu:rx_fpdu tx_bytes:rx_bytes cm_connect:cm_accept; do
		for from in a b; do
			to=b
			[ $from = a ] || to=a
			[ "$(total $from ${pair%:*})" = "$(total $to ${pair#*:})" ] || bad=1
			echo "$from ${pair%:*} $(total $from ${pair%:*}), $to ${pair#*:} $(total $to ${pair#*:})"
		done
	done
	for name in rx_crc_err rx_marker_err rx_ddp_err rx_rdmap_err sq_bad_entry rq_bad_entry cq_overflow; do
		for from in a b; do
			[ "$(total $from $name)" = 0 ] || { echo "$from: $name $(total $from $name)"; bad=1; }
		done
	done
	[ "$(total a tx_fpdu)" -gt 0 ] && return $bad
}

# the network was as bad as it was to be
packets_were_lost() { [ "$(both_counters RetransSegs)" -gt "$sent_again" ]; }

all_gone()
{
	timed 10 server_stop
	nothing_left
	share_down
	rdma link delete tern_c 2>/dev/null || true
	rdma link delete tern_d 2>/dev/null || true
	topo_down
	timed 10 modprobe -r tern
	modprobe tern
}

unmount() { timed 10 limit 40 umount "$MOUNTPOINT"; }

# in the checked kernel the last rounds end some fifteen seconds after they began, or later
run_all()
{
	local name began=$EPOCHSECONDS
	until=$((began + seconds - 15))
	for name in "${names[@]}"; do
		worker "$name"
	done
	wait "${pids[@]}"
	good_network 2>/dev/null || true
	lasted=$((EPOCHSECONDS - began))
}

before_exit() { share_down; }
topo_up
packets_as_on_a_wire
workers=() pids=()
point "the server of NFS starts, and is mounted" eval 'share_up; ready'
sent_again=$(both_counters RetransSegs)
run_all
for name in "${workers[@]}"; do
	point "$name: $(<"$SOAK/$name/rounds") rounds in $lasted s" verdict "$name"
done
[ ${#wanted[@]} != 0 ] || point "packets were lost, and sent again" packets_were_lost
point "NFS is unmounted" unmount
point "both ends have counted the same, and no error" counted_alike
point "no object, device or module is left" all_gone
finish
