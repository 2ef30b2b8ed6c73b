#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The ABI grows and never changes: the list abi.list has the size of each struct, the place of
# each member, each constant and each attribute of netlink that may have been compiled
# into a program, and the headers of this tree have all of it.
#
#	abi.sh --add	write what is new into the list
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.."
abi=selftests/style/abi.py
list=selftests/style/abi.list

if [ "${1:-}" = --add ]; then
	exec $abi add $list
fi
verdict keeps_what_was_promised $abi breaks $list
verdict has_each_new_promise $abi lacks $list
finish
