#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run hostile: a program that corrupts the memory it shares with the kernel. With
# arguments, only the tests whose name holds one of them.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: writes to its rings"
topo_up
in_a tern set "$DEV_A" extensions negotiate
in_b tern set "$DEV_B" extensions negotiate
# shellcheck disable=SC2034 # read by lib.sh: the program plans its points
ktap_done=1
limit 100 ../verbs/hostile "$@"
