#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# RNBD over RTRS: refused, since its client binds all connections of a session to one port:
# Documentation/recipes/index.rst. The client is told, and both ends release the device.

. ../net/lib.sh
. ./lib.sh
. ./block.sh

PORT=1234
MAP=/sys/devices/virtual/rnbd-client/ctl/map_device

listens() { ss -Hltn "sport = :$PORT" | has .; }

server_up()
{
	# few buffers: each is 128 KiB of contiguous memory
	modprobe rtrs-server sess_queue_depth=16
	modprobe rnbd-server
	eventually listens
}

kernel_said() { dmesg | has "$1"; }

map_fails()
{
	modprobe rnbd-client
	not limit 20 tee $MAP >/dev/null <<<"sessname=tern path=ip:$IP_B device_path=$DISK"
	not ls /dev/rnbd*
}

# the server has mapped its buffers and taken the first connection; the client's second fails
reason()
{
	kernel_said "rtrs_client .*rdma_connect_locked(): -EADDRNOTAVAIL"
	not kernel_said "RTRS server session allocation failed"
}

before_exit()
{
	modprobe -r rnbd-client rnbd-server 2>/dev/null || true
	hosts_down
}

nothing_left_of_rnbd() { nothing_left rnbd-client rnbd-server; }

needs_modules rnbd-client rnbd-server
hosts_up
point "rnbd: the server listens" server_up
point "rnbd: mapping a disk fails, and there is none" map_fails
point "rnbd: the port of the second connection is what failed, and the client knows" reason
point "rnbd: nothing is left" nothing_left_of_rnbd
finish
