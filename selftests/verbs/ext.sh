#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run ext on the devices of a and b, which negotiate extensions. With arguments, only the
# tests whose name holds one of them. TERN_SET_STORM: how many operations each QP of the
# storms has (10000; `make check-storm`: a million).

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: siw has no extensions"
topo_up
in_a tern set "$DEV_A" extensions negotiate
in_b tern set "$DEV_B" extensions negotiate
# shellcheck disable=SC2034 # read by lib.sh: the program plans its points
ktap_done=1
limit 150 ../verbs/ext "$@"
