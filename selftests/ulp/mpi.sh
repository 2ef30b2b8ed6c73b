#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck disable=SC2154 # set in hosts.sh
# Open MPI between two hosts, by Documentation/recipes/mpi.rst: collective
# operations, each result checked, and all of it over tern.

. ../net/lib.sh
. ../net/scene.sh
. ../net/netem.sh
. ./lib.sh
. ./hosts.sh

# small: a guest under TCG also has to compute the sums
most=$((1048576 / TERN_TIMEOUT_SCALE))
run() { mpi_run "$1" "$PWD/mpi_coll $most"; }

sent_by_first() { sed -n "s/^mpi_coll: $1 ranks, \([0-9]*\) bytes.*/\1/p" "$TMP/mpi"; }

# about BYTES SENT: headers, rendezvous and the barrier are added
about() { [ "$1" -ge "$2" ] && [ "$1" -le $(($2 + $2 / 5 + 100000)) ]; }

# with one rank each, the first sends all its data to b, and receives as much
one_each()
{
	local sent
	counted run 1
	sent=$(sent_by_first 2)
	echo "the first rank sent $sent"
	about "$tern_rx" "$sent"
	about "$tern_tx" "$sent"
	all_by_tern
}

# with two, at least its part of each alltoall goes to b
two_each()
{
	local sent
	counted run 2
	sent=$(sent_by_first 4)
	echo "the first rank sent $sent"
	[ "$tern_rx" -ge $((sent / 2)) ]
	[ "$tern_tx" -ge $((sent / 2)) ]
	all_by_tern
}

without_device()
{
	rdma link delete "$DEV_A"
	rdma link delete "$DEV_B"
	if run 1; then
		echo "it ran"
		return 1
	fi
	not grep -aq '^mpi_coll: ' "$TMP/mpi"
}

command -v mpirun >/dev/null || skip_all "mpirun of Open MPI is not installed"
topo_up
mpi_prepare
point "one rank on each host: every element right, all of it over tern" one_each
point "two ranks on each host: every element right, all of it over tern" two_each
packets_as_on_a_wire
point "one rank on each host while packets are lost" \
	under RetransSegs loss 1% -- one_each
point "no object of the programs is left" nothing_left
point "without a device it fails, and does not fall back to TCP" without_device
finish
