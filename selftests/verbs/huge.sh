#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run huge on the devices of a and b: the longest messages. With arguments, only the tests
# whose name holds one of them.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

[ "$TERN_LANE" = vm ] || skip_all "VM only: under UML the host would need a mapping for each page of 4 GiB"
topo_up
# save an emulated CPU work: few packets, no CRC
in_a ip link set v0a mtu 65535
in_b ip link set v0b mtu 65535
tern set "$DEV_A" crc off
tern set "$DEV_B" crc off
# shellcheck disable=SC2034 # read by lib.sh: the program plans its points
ktap_done=1
limit 360 ../verbs/huge "$@"
