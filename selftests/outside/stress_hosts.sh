# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by tests of programs on two hosts that run stress-ng. The caller sets $pick.

. ../net/lib.sh
. ../net/scene.sh
# shellcheck disable=SC2034 # ulp/lib.sh uses it
RECIPES=$PWD/../../recipes
. ../ulp/lib.sh
. ../ulp/hosts.sh
. ./stress_lib.sh

COUNTED=$DEV_A

# start_load FUNCTION SECONDS: in the background, until data moves
start_load()
{
	load_from=$(fpdu_bytes)
	"$@" >"$TMP/load" 2>&1 &
	load_pid=$!
	eventually load_moved
}

load_moved() { [ $(($(fpdu_bytes) - load_from)) -gt 100000 ]; }

load_ends() { wait "$load_pid" || { echo "the load failed"; cat "$TMP/load"; return 1; }; }
