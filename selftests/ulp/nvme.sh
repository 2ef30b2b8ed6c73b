#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# NVMe over Fabrics, kernel to kernel: data verified, a file system on it, and removal of
# either end under load.

. ../net/lib.sh
. ./lib.sh
. ./block.sh

NQN=nqn.2014-08.org.nvmexpress:tern
target_up()	{ follow nvme target DISK=$DISK SERVER=$IP_B NQN=$NQN; }
target_down()	{ follow nvme target-down NQN=$NQN; }
port_off()	{ rm /sys/kernel/config/nvmet/ports/1/subsystems/$NQN; }
port_on()	{ ln -s /sys/kernel/config/nvmet/subsystems/$NQN /sys/kernel/config/nvmet/ports/1/subsystems/; }

# A port of a removed device does not serve a new device.
device_off()	{ rdma link delete tern0; }
device_on()	{ device_up; port_off; port_on; }

# The defaults of the recipe wait for 5 s at one end and 10 s at the other.
options="--reconnect-delay=1 --keep-alive-tmo=$((3 * TERN_TIMEOUT_SCALE))"

# disk: whether the kernel has CONFIG_NVME_MULTIPATH or not
disk() { echo /dev/"$(basename /sys/block/nvme[0-9]n1)"; }
ready() { [ -b "$(disk)" ]; }
live() { grep -q live /sys/class/nvme/nvme*/state; }

connect()
{
	follow nvme connect SERVER=$IP_B NQN=$NQN OPTIONS="$options"
	eventually ready
}

disconnect()
{
	follow nvme disconnect NQN=$NQN
	eventually not live
}

reset_under_load()
{
	local ctrl

	ctrl=$(basename /sys/class/nvme/nvme*)
	load "$(disk)"
	for _ in 1 2 3; do
		load_runs
		echo 1 >"/sys/class/nvme/$ctrl/reset_controller"
		eventually live
	done
	load_ends_well
	unharmed
}

disconnect_under_load()
{
	load "$(disk)"
	disconnect
	load_fails
}

# The host keeps trying, and must still release the device.
target_removed_under_load()
{
	load "$(disk)"
	server target_down
	eventually not live
	disconnect
	load_fails
}

# Strangers ask for an admin queue. (struct nvme_rdma_cm_req: format 0, queue 0, 32
# responses, 31 commands)
strangers() { strangers_end_alone 4420 0000000020001f00"$(printf '%048d' 0)"; }

nothing_left_of_nvme() { nothing_left nvme-rdma nvmet-rdma; }

hosts_up
point "nvme: the target is up" server target_up
point "nvme: a host connects" connect
point "nvme: fio's data is read back as written" by_rdma $((2 * SIZE)) verify "$(disk)"
if ! short; then
	point "nvme: ext4, pages change while they are sent" by_rdma $((4 << 20)) ext4 "$(disk)"
	point "nvme: fio's data while packets are lost" over_bad_wire
	point "nvme: the controller is reset under load" reset_under_load
	point "nvme: the target is removed under load and comes back, another connection stays" \
		beside_another under_load live port_off port_on
	point "nvme: the server falls silent under load and answers again, another connection stays" \
		beside_another under_load live "silent 4420" heard
	! two_machines ||
		point "nvme: the server's device is removed under load and comes back" \
			under_load live device_off device_on
	point "nvme: disconnect under load" disconnect_under_load
	point "nvme: a host connects again" connect
	if two_machines; then
		point "nvme: the host's device is removed under load" device_goes_under_load
		point "nvme: a host connects once more" connect
	fi
	point "nvme: strangers that send unasked extensions end alone" strangers
	point "nvme: the target is removed under load" target_removed_under_load
else
	shortest || point "nvme: strangers that send unasked extensions end alone" strangers
	point "nvme: disconnect" disconnect
	point "nvme: the target is removed" server target_down
fi
point "nvme: nothing is left" both nothing_left_of_nvme
finish
