#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run fail_nth on the devices of a and b, and a netdev without one. With arguments, only the
# tests whose name has one of them. TERN_SET_FAIL_VERBOSE=2: a stack for each refusal.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

debug=/sys/kernel/debug
[ "$TERN_TYPE" = tern ] || skip_all "tern only: what the other drivers do then is theirs"
[ -d $debug/failslab ] || skip_all "a kernel without CONFIG_FAILSLAB"
# not only what may not sleep, not only many pages at once, and no trace of each
for which in failslab fail_page_alloc; do
	echo N >$debug/$which/ignore-gfp-wait
	echo ${TERN_SET_FAIL_VERBOSE:-0} >$debug/$which/verbose
done
echo 0 >$debug/fail_page_alloc/min-order
topo_up
ip -n a link add nth0 type veth peer name nth1
ip -n a link set nth0 up
# shellcheck disable=SC2034 # read by lib.sh: the program plans its points
ktap_done=1
limit 100 ../verbs/fail_nth "$@"
