#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# NFS over RDMA, by Documentation/recipes/nfs.rst: server in b, client in a,
# every version; data verified, a tree built, and failures under load.
#
# TERN_SET_NFS_VERSIONS ("4.2 4.1 4.0 3") chooses versions, TERN_SET_ULP_SHORT
# the short form. An argument is a glob that picks points by name:
# run --args '*deleted*' ulp:nfs.sh

cd "$(dirname "$0")" || exit 1
. ../net/lib.sh
. ../net/scene.sh
. ../net/netem.sh
. ./lib.sh
. ./nfs_lib.sh

pick=${1:-*}

# ---- data ---------------------------------------------------------------------

mounts()
{
	ready
	grep -q " $MOUNTPOINT nfs.*[ ,]vers=$version," /proc/mounts
	over_rdma
}

# several jobs and sizes at once; the verified data must be at the server, too
data()
{
	ready
	over_tern $((9 * mib)) verified_jobs
	same_at_server
	over_tern $((2 * mib)) copy
}

# copy: the original never leaves the client. Comparing the two others is not enough: a
# byte that is damaged on its way to the server is wrong in both.
copy()
{
	head -c $((mib + 50001)) /dev/urandom >"$TMP/original"
	cp "$TMP/original" "$MOUNTPOINT/copy"
	forget_cache
	cmp "$TMP/original" "$MOUNTPOINT/copy"
	cmp "$TMP/original" "$EXPORT/copy"
	rm "$MOUNTPOINT/copy"
}

# the sources of this project's conformance agent
unpack()
{
	rm -rf "${1:?}/src"
	mkdir -p "$1/src/selftests/conformance"
	tar -C ../conformance -c --exclude='tern-conform*' . |
		tar -C "$1/src/selftests/conformance" -x
	cp ../lib.mk ../test.h "$1/src/selftests/"
}

build()
{
	limit 60 make -s -j2 -C "$1/src/selftests/conformance" \
		OUTPUT=. CFLAGS="-O0 -std=gnu11" ./tern-conform-agent
}

tree_on()
{
	unpack "$1"
	build "$1"
}

tree()
{
	ready
	over_tern $mib tree_on "$MOUNTPOINT"
	forget_cache
	sums "$MOUNTPOINT/src" | diff "$TMP/reference" -
	sums "$EXPORT/src" | diff "$TMP/reference" -
	rm -r "$MOUNTPOINT/src"
}

reference()
{
	mkdir "$TMP/local"
	tree_on "$TMP/local"
	sums "$TMP/local/src" >"$TMP/reference"
	grep -q 'tern-conform-agent$' "$TMP/reference"
}

# ---- under load ---------------------------------------------------------------

# Stop NFS under load. A connection that its transport has and no thread has accepted is
# leaked then, with its id: svc_rdma_free() forgets sc_accept_q, and the device can never
# be removed. So no client connects at that moment.
stop_under_load()
{
	drop_in_b "tcp dport 20049 tcp flags & (syn | ack) == syn drop"
	server_stop
	undrop
	! in_b rdma resource show cm_id link "$DEV_B" | has -v lqpn || return 1
}

server_restart()
{
	load
	follow_in a nfs patience "DEVICE=$DEV_A"
	stop_under_load
	timed 5 eventually no_qp
	load_stands
	server_start
	load_ends
	same_at_server
}

link_down_and_up()
{
	load
	in_b ip link set v0b down
	sleep 3
	load_stands
	in_b ip link set v0b up
	load_ends
	same_at_server
}

# device_deleted NETNS DEVICE NETDEV: delete it and add it again, under a mounted NFS
device_deleted()
{
	load
	timed 5 limit 20 rdma link delete "$2"
	timed 5 eventually no_qp
	load_stands
	dev_add "$1" "$2" "$TERN_TYPE" "$3"
	load_ends
	same_at_server
	over_rdma
}

# umount fails with busy; a lazy one completes with the last user
umount_busy()
{
	load
	timed 5 not limit 20 umount "$MOUNTPOINT"
	timed 5 limit 20 umount -l "$MOUNTPOINT"
	over_tern 65536 sleep 1
	load_ends
	timed 5 eventually no_volume
	timed 5 eventually no_qp
}

# A hundredth of the packets is lost in either direction. Unmount while it is: holding
# delegations of these files, the client would not give up a server that has gone.
lossy()
{
	ready
	packets_as_on_a_wire
	under RetransSegs loss 1% -- data
	over_rdma
	unmount
}

# The server does not return. umount -f ends the requests that wait for it, but the last
# process returns its delegations after that, and waits for the server for ever: have none.
umount_forced()
{
	sysctl -q fs.leases-enable=0
	load direct
	stop_under_load
	timed 10 limit 40 umount -f -l "$MOUNTPOINT"
	load_kill
	timed 20 eventually load_killed
	nothing_left
	server_start
	sysctl -q fs.leases-enable=1
}

# the wire does not return: both devices are removed with it
wire_gone()
{
	load direct
	in_b ip link set v0b down
	load_kill
	timed 5 limit 20 ip -n b link delete v0b
	timed 5 eventually no_device "$DEV_A"
	timed 5 eventually no_device "$DEV_B"
	timed 10 limit 40 umount -f -l "$MOUNTPOINT"
	timed 20 eventually load_killed
}

# delete the device while NFS waits for an answer that never comes
deleted_while_connecting()
{
	local mounting
	unmount
	server_stop
	# 6.12 frees its listener in a work after that; the port is in use until then
	wait_for_no_listen 20049
	silent_listener 20049
	mount_share 4.2 &
	mounting=$!
	soon expect conns_of_a state=REPLY_WAIT ended=false
	within 5 rdma link delete "$DEV_A"
	pkill -9 mount.nfs || true
	wait $mounting || true
	kill -9 $listener_pid 2>/dev/null || true # it may have ended with its connection
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	server_start
}

# ---- the end ------------------------------------------------------------------

unmount()
{
	ready
	timed 5 limit 20 umount "$MOUNTPOINT"
	timed 5 eventually no_qp
}

all_gone()
{
	timed 5 server_stop
	nothing_left
	share_down
	topo_down
	timed 5 modprobe -r tern
	modprobe tern
}

# strangers' connections, whose messages of the extensions the server did not ask for, do
# not harm it
strangers_end_alone()
{
	local target_port=20049 private='' near=(in_a)

	ready
	in_b tern set "$DEV_B" extensions off
	refuses_all
	over_tern $((2 * mib)) copy
	in_b tern set "$DEV_B" extensions negotiate
	takes_some
	over_tern $((2 * mib)) copy
	unmount
}

# step NAME COMMAND...: a point, if it was picked
step()
{
	# shellcheck disable=SC2053 # a glob is meant
	[[ $1 != $pick ]] || point "$@"
}

rounds()
{
	local version
	for version in $versions; do
		step "NFS $version: mount, and the transport is RDMA" mounts
		step "NFS $version: fio, jobs of several sizes verified" data
		if ! short; then
			step "NFS $version: a source tree unpacked, built, compared" tree
			step "NFS $version: server stopped and started under load" server_restart
			step "NFS $version: umount under load" umount_busy
		fi
		step "NFS $version: umount closes the connection" unmount
	done
}

faults()
{
	step "link down and up under load" link_down_and_up
	step "server's device deleted and added again under load" \
		device_deleted b "$DEV_B" v0b
	step "client's device deleted and added again under load" \
		device_deleted a "$DEV_A" v0a
	step "fio, verified, while packets are lost" lossy
	step "forced umount under load, server stopped" umount_forced
	step "wire deleted under load" wire_gone
}

needs_modules nfs nfsd rpcrdma loop ext4
before_exit() { share_down; }
topo_up
point "the server starts and listens for RDMA" share_up
short || step "the reference tree is built" reference
rounds
shortest || step "strangers that send unasked extensions end alone" strangers_end_alone
step "client's device deleted while it waits for the server" deleted_while_connecting
short || faults
point "NFS stops, the devices and the module are removed" all_gone
finish
