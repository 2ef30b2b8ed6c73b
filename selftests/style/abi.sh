#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The ABI grows and never changes: the list abi.list has the size of each struct, the place of
# each member, each constant and each attribute of netlink that may have been compiled
# into a program, and the headers of this tree have all of it. Hostile programs make each call.
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

# methods and attributes by ioctl, and commands of netlink, that have no row in abi.c
without_a_row()
{
	local headers=(drivers/tern/uapi/rdma/*.h) rows=selftests/abuse/abi.c

	{
		grep -ohE '\bTERN_(METHOD|ATTR)_[A-Z_]+' "${headers[@]}"
		sed -nE 's/^\tTERN_CMD_([A-Z_]+).*/LINK(\1/p' "${headers[@]}" |
			grep -vE '_NTF$|[(]MAX$'
	} | sort -u | while read -r name; do
		grep -qwF "$name" $rows || echo "$rows: no row has $name"
	done
}

verdict keeps_what_was_promised $abi breaks $list
verdict has_each_new_promise $abi lacks $list
verdict is_reached_by_hostile_programs without_a_row
finish
