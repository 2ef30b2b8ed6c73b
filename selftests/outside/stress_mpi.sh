#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Two ranks of Open MPI, whose collective operations have each element checked, while
# stress-ng loads the machine. An argument is a glob of classes (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ./stress_hosts.sh

pick=${1:-*}
most=$((262144 / TERN_TIMEOUT_SCALE))

collect() { mpi_run 1 "$PWD/../ulp/mpi_coll $most 1 $1"; }

start_data() { start_load collect "$1"; }

data_is_right()
{
	load_ends
	over_tern $most collect 0
}

# one rank sends wrong elements
spoil_data() { pkill -USR1 -o -f "^[^ ]*/mpi_coll "; }

command -v mpirun >/dev/null || skip_all "mpirun of Open MPI is not installed"
topo_up
mpi_prepare
all_classes MPI ""
point "MPI: no object is left" nothing_left
finish
