#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run syscalls on the devices of a and b: the system calls of polling, arming and
# posting. With arguments, only the tests whose name holds one of them.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: counts system calls of its provider"
topo_up
# shellcheck disable=SC2034 # read by lib.sh: the program plans its points
ktap_done=1
limit 100 ../verbs/syscalls "$@"
