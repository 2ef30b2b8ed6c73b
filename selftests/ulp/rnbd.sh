#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# RNBD over RTRS: refused, since its server registers its buffers in pages of 8 KiB or
# more (max_chunk_size): Documentation/recipes/index.rst. The client is told, and both ends
# release the device.

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

# reasons: EINVAL of ib_map_mr_sg() ends the session; the client gets it by the Reject
reasons()
{
	kernel_said "RTRS server session allocation failed: -22"
	kernel_said "Connect rejected: status .* rtrs errno -EINVAL"
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
point "rnbd: the server's registration is what failed, and the client knows" reasons
point "rnbd: nothing is left" nothing_left_of_rnbd
finish
