# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # what it sets is read by those that source it
# Sourced by the tests of block storage, after net/lib.sh and lib.sh. These
# layers know the initial netns only, so either the two ends are two machines
# (TERN_ROLE is the role of this one), or one kernel talks to itself:
#
#	 client                           server          both (no TERN_ROLE)
#	+-----------------+   wire   +-----------------+  +--------------------+
#	| tern0 over eth0 +----------+ tern0 over eth0 |  | tern0 over dummy0, |
#	|        10.7.0.1 | MTU 1500 | 10.7.0.2        |  | 10.7.0.2, by lo    |
#	+-----------------+          +-----------------+  +--------------------+
#
# A test defines its functions and calls hosts_up. On a server that never returns: it
# runs the functions that the client names with `server`.

CONTROL=7
PING=9
COUNTED=tern0
DISK=/dev/nullb0
SIZE=$((8 << 20))
# The load lasts longer than an event of a few seconds.
LOAD=$((6 * TERN_TIMEOUT_SCALE))
before_exit() { hosts_down; }

# ---- the two ends ---------------------------------------------------------

# In one kernel both ends have the same device, so it cannot be removed at one end only.
two_machines() { [ -n "${TERN_ROLE:-}" ]; }

# server FUNCTION ARG...: run it on the server.
server()
{
	local line

	[ -n "${TERN_ROLE:-}" ] || { "$@"; return; }
	printf '%s\n' "${*@Q}" >&"$control"
	while IFS= read -r -u "$control" line; do
		case $line in
		"status "*) return "${line#status }" ;;
		*) echo "server:$line" ;;
		esac
	done
	echo "the server is gone"
	return 1
}

both()
{
	server "$@"
	[ -z "${TERN_ROLE:-}" ] || "$@"
}

# serve_client: each line of a client is a command; the answer is its output, indented, and
# its status. It fails if the client goes without `bye`.
serve_client()
{
	local line status

	# shellcheck disable=SC2034 # known as WIRE
	coproc WIRE { exec busybox nc -l -p $CONTROL; }
	while read -r -u "${WIRE[0]}" line && [ "$line" != bye ]; do
		echo "$line"
		status=0
		( set -e; eval "$line" ) >"$TMP/out" 2>&1 </dev/null &
		wait $! || status=$?
		{ sed 's/^/ /' "$TMP/out"; echo "status $status"; } >&"${WIRE[1]}"
	done
	[ "$line" = bye ]
}

# serve: serve one client, and end the test on this machine
serve()
{
	ktap_done=1
	# in a condition `set -e` would be off, also for what it starts
	serve_client &
	wait $! || { echo "the client is gone"; exit 1; }
	exit 0
}

join()
{
	exec {control}<>"/dev/tcp/$IP_B/$CONTROL"
}

# one_kernel: over lo, but with the MTU of a wire.
one_kernel()
{
	netdev=dummy0 wire=lo
	ip link set lo mtu 1500
	ip link add dummy0 mtu 1500 type dummy
	ip addr add $IP_B/24 dev dummy0
}

# one_of_two ADDRESS
one_of_two()
{
	netdev=eth0 wire=eth0
	modprobe virtio_net
	eventually ip link show eth0 >/dev/null
	ip addr replace "$1/24" dev eth0
}

device_up() { follow index device NETDEV=$netdev; }

hosts_up()
{
	case ${TERN_ROLE:-} in
	server)	one_of_two $IP_B ;;
	client)	one_of_two $IP_A; ktap_header ;;
	*)	one_kernel; ktap_header ;;
	esac
	ip link set $netdev up
	device_up
	modprobe null_blk nr_devices=1 gb=1 memory_backed=1
	modprobe configfs
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	[ "${TERN_ROLE:-}" != server ] || serve
	[ "${TERN_ROLE:-}" != client ] || eventually join
}

hosts_down()
{
	[ -z "${control:-}" ] || echo bye >&"$control" || true
	rdma link delete tern0 2>/dev/null || true
	heard 2>/dev/null || true
	ip link delete dummy0 2>/dev/null || true
	ip link set lo mtu 65536
}

# targetcli does not start without a system bus, where it looks for tcmu-runner, though it
# can do without that; the lab's guest has no bus.
without_bus()
{
	[ ! -S /run/dbus/system_bus_socket ] || return 0
	mkdir "$TMP/bin"
	cat >"$TMP/bin/targetcli" <<-END
	#!/usr/bin/python3
	import runpy
	from gi.repository import Gio
	Gio.bus_get_sync = lambda *ignored: None
	runpy.run_path("$(command -v targetcli)", run_name="__main__")
	END
	chmod +x "$TMP/bin/targetcli"
	PATH=$TMP/bin:$PATH
}

# ---- steps for tests ------------------------------------------------------

# counter NAME: of tern0 on this machine.
counter()
{
	rdma statistic show link tern0/1 | awk -v name="$1" '$1 == name { print $2 }'
}

# by_rdma BYTES COMMAND...: at least that many bytes go over tern while it runs, without
# a bad FPDU.
by_rdma()
{
	over_tern "$@"
	has_crc
	both unharmed
}

# has_crc: the connections use CRC; without it no FPDU could be bad.
has_crc()
{
	rdma -d resource show qp -dd >"$TMP/qp"
	grep -q 'drv_mpa_crc on' "$TMP/qp"
	not grep 'drv_mpa_crc off' "$TMP/qp"
}

# unharmed: no FPDU was bad since the last connection was cut.
unharmed()
{
	local name

	for name in rx_crc_err rx_marker_err rx_ddp_err rx_rdmap_err; do
		[ "$(counter $name)" = 0 ] || { echo "$name $(counter $name)"; return 1; }
	done
}

# verify DEVICE: write all of SIZE in random pieces, read it back, compare.
verify()
{
	limit 60 fio --name=verify --filename="$1" --size=$SIZE --direct=1 \
		--rw=randwrite --bsrange=512-128k --blockalign=512 --ioengine=libaio \
		--iodepth=16 --verify=crc32c --do_verify=1 --output-format=terse >"$TMP/fio"
	cut -c1-120 "$TMP/fio"
}

# load DEVICE: the same in the background, without end; $loader is its process.
load()
{
	fio --name=load --filename="$1" --size=$SIZE --direct=1 --rw=randwrite --bs=4k \
		--ioengine=libaio --iodepth=16 --verify=crc32c --verify_backlog=64 \
		--time_based --runtime=$LOAD >"$TMP/load" 2>&1 &
	loader=$!
	eventually moved "$(fpdu_bytes)"
}

moved() { [ "$(fpdu_bytes)" -gt $(($1 + SIZE / 16)) ]; }

# load_runs: the load has not ended yet.
load_runs()
{
	kill -0 $loader || { echo "the load ended too early"; cat "$TMP/load"; return 1; }
}

# load_ends_well: the load ends, and no byte was wrong.
load_ends_well()
{
	wait $loader || { tail -n 20 "$TMP/load"; return 1; }
}

# load_fails: the load fails at once, as it must when its disk is removed. A removed disk
# has 0 bytes: a read returns 0, and fio, which verifies its buffer in any case, prints
# "bad header".
load_fails()
{
	local status=0

	eventually not kill -0 $loader
	wait $loader || status=$?
	[ $status != 0 ] || { echo "fio noticed nothing"; return 1; }
}

# silent PORT: this machine sends nothing there, like one that lost its power, until
# heard runs.
silent()
{
	nft "destroy table inet silent; add table inet silent;
		add chain inet silent in { type filter hook input priority 0; };
		add chain inet silent out { type filter hook output priority 0; };
		add rule inet silent in tcp dport $1 drop; add rule inet silent out tcp sport $1 drop"
}

heard() { nft delete table inet silent; }

# under_load UP GO COME: with a load on the disk the server runs GO, and COME when the
# disk is no longer UP; the load waits until then and loses nothing.
under_load()
{
	load "$(disk)"
	# shellcheck disable=SC2086 # a function and its words
	server $2
	eventually not "$1"
	load_runs
	[ -z "${bystander:-}" ] || goes_on
	# shellcheck disable=SC2086
	server $3
	eventually "$1"
	load_ends_well
	unharmed
}

# beside_another COMMAND...: another connection between the same two devices, at its own
# port, continues while COMMAND runs. It ends with nothing in flight: data for the memory
# of a killed program would count as an error.
beside_another()
{
	server rping_serves
	: >"$TMP/pings"
	rping -c -v -a $IP_B -p $PING >"$TMP/pings" 2>&1 &
	bystander=$!
	goes_on
	"$@"
	goes_on
	kill -STOP $bystander
	sleep 1
	kill -KILL $bystander
	server eventually not pidof rping
}

# rping_serves: one connection
rping_serves()
{
	rping -s -a $IP_B -p $PING >"$TMP/rping" 2>&1 &
	eventually rping_listens
}

rping_listens() { ss -Hltn "sport = :$PING" | has .; }

# goes_on: rping, which verifies each ping, has done more of them than before.
goes_on() { eventually more_pings "$(pings)"; }
more_pings() { [ "$(pings)" -gt "$1" ]; }
pings() { grep -c '^ping data: ' "$TMP/pings"; }

# device_goes_under_load: remove this machine's device, and add another one.
device_goes_under_load()
{
	load "$(disk)"
	limit 20 rdma link delete tern0
	load_fails
	device_up
}

# over_bad_wire: verify data while a hundredth of the packets is lost; TCP at both ends
# has to count retransmissions.
over_bad_wire()
{
	both start_loss
	by_rdma $((2 * SIZE)) verify "$(disk)"
	both stop_loss
}

resent() { nstat -asz TcpRetransSegs | awk '$1 == "TcpRetransSegs" { print $2 }'; }

# Lose packets of one segment each, as a wire does: netem drops a large packet of GSO as a
# whole, and may see too few of them to drop any. TCP looks at the limit with the route.
start_loss()
{
	ip link set dev $wire gso_max_segs 1
	ip route flush cache
	resent >"$TMP/resent"
	tc qdisc replace dev $wire root netem loss 1%
}

stop_loss()
{
	tc qdisc del dev $wire root
	ip link set dev $wire gso_max_segs 65535
	ip route flush cache
	echo "retransmitted segments: $(cat "$TMP/resent"), then $(resent)"
	[ "$(resent)" -gt "$(cat "$TMP/resent")" ]
}

# ext4 DEVICE: change pages of a file while they are sent: two programs write what a
# third one syncs. Then read back a file that no program changes.
ext4()
{
	local dir=$TMP/mnt

	mkfs.ext4 -q -F "$1" 64M
	mkdir -p "$dir"
	mount "$1" "$dir"
	limit 60 fio --name=change --filename="$dir/changing" --size=2M --numjobs=2 --thread \
		--ioengine=mmap --rw=randwrite --bs=512 --time_based \
		--runtime=$((LOAD / 2)) --group_reporting --output-format=terse \
		--name=flush --filename="$dir/changing" --size=2M --ioengine=sync --new_group \
		--rw=write --bs=4k --fsync=16 --time_based --runtime=$((LOAD / 2)) >"$TMP/fio"
	dd if=/dev/urandom of="$TMP/file" bs=1M count=4 status=none
	cp "$TMP/file" "$dir/file"
	sync -f "$dir"
	echo 3 >/proc/sys/vm/drop_caches
	cmp "$TMP/file" "$dir/file"
	umount "$dir"
	fsck.ext4 -fn "$1"
}

# unused: no object of an upper layer is left at tern0. (The core keeps the CQs of its
# pool until the device is removed.)
unused()
{
	rdma resource show | grep -E 'tern0: pd 0 cq [0-9]+ qp 0 cm_id 0 mr 0 .* srq 0 ' >/dev/null
}

# nothing_left MODULE...: all of it can be removed.
nothing_left()
{
	modprobe -r "$@"
	eventually unused || { rdma resource show; return 1; }
	rdma link delete tern0
	modprobe -r null_blk
	modprobe -r tern
}

# strangers_end_alone PORT [PRIVATE_DATA]: connections of strangers, whose messages of the
# extensions the target did not ask for, do not harm it: our disk keeps its data. Those
# FPDUs are counted as bad, so `unharmed` is no use after it.
strangers_end_alone()
{
	local target_port=$1 private=${2:-} near=()

	server tern set tern0 extensions off
	refuses_all
	over_tern $((2 * SIZE)) verify "$(disk)"
	server tern set tern0 extensions negotiate
	takes_some
	over_tern $((2 * SIZE)) verify "$(disk)"
}
