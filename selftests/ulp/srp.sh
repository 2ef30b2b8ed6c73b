#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# SRP over rdma_cm, kernel to kernel, with data verified.

. ../net/lib.sh
. ./lib.sh
. ./block.sh

target_up()	{ follow srp target DISK=$DISK CLIENT="$1"; }
target_down()	{ follow srp target-down CLIENT="$1"; }
target_id()	{ follow srp target-id 2>/dev/null; }
client_id()	{ follow srp client-id 2>/dev/null; }

disk() { echo /dev/"$(basename /sys/block/sd*)"; }
ready() { [ -b "$(disk)" ]; }

login()
{
	local id

	id=$(server target_id)
	modprobe sd_mod
	follow srp login TARGET="${id##* }" SERVER=$IP_B
	eventually ready
}

logout()
{
	follow srp logout
	eventually not ready
}

# The defaults of the recipe: TCP retransmits for a quarter of an hour before it gives up
# a peer, then SRP waits for 10 s, and fails I/O after 15 s.
be_quick()
{
	sysctl -w net.ipv4.tcp_retries2=$((2 + TERN_TIMEOUT_SCALE / 2))
	echo off >"$(remote_port)/fast_io_fail_tmo"
	echo 1 >"$(remote_port)/reconnect_delay"
}

remote_port() { echo /sys/class/srp_remote_ports/*; }
running() { grep -qx running "$(remote_port)/state"; }

silent_under_load()
{
	be_quick
	under_load running "silent 5555" heard
	sysctl -w net.ipv4.tcp_retries2=15
}

logout_under_load()
{
	load "$(disk)"
	logout
	load_fails
}

# Strangers log in with our name, as a further channel. (struct srp_login_req_rdma: tag,
# buffer formats 6, flags MULTICHAN_MULTI, opcode LOGIN_REQ, 512 bytes at most, our
# name, the target's twice, no immediate data)
strangers()
{
	local id

	id=$(server target_id)
	strangers_end_alone 5555 "$(printf '%016d%s%s%016d%s%s%s%016d' 1 00060100 00000200 \
		0 "$(client_id)" "${id##* }" "${id##* }" 0)"
}

nothing_left_of_srp() { nothing_left ib_srp ib_srpt target_core_iblock; }

hosts_up
point "srp: the target is up" server target_up "$(client_id)"
point "srp: login" login
point "srp: fio's data is read back as written" by_rdma $((2 * SIZE)) verify "$(disk)"
point "srp: ext4, pages change while they are sent" by_rdma $((4 << 20)) ext4 "$(disk)"
point "srp: fio's data while packets are lost" over_bad_wire
point "srp: the server falls silent under load and answers again, another connection stays" \
	beside_another silent_under_load
point "srp: logout under load" logout_under_load
point "srp: login again" login
if two_machines; then
	point "srp: the initiator's device is removed under load" device_goes_under_load
	point "srp: login once more" login
fi
point "srp: strangers that send unasked extensions end alone" strangers
point "srp: logout" logout
point "srp: the target is removed" server target_down "$(client_id)"
point "srp: nothing is left" both nothing_left_of_srp
finish
