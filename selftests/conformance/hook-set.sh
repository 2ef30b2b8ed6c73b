#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern-conform-agent's --set command for tern:
#
#	hook-set.sh DEV NAME VALUE...	change settings, as `tern set` does
#	hook-set.sh DEV mtu N		set the MTU of its network device
#	hook-set.sh DEV default		restore what this agent found at its first change

set -euo pipefail

dev=$1
shift
# our parent is the agent
saved=${TERN_HOOK_SAVED:-/run/tern-conform.$dev.$PPID}

if [ ! -f "$saved" ]; then
	tern show "$dev" | awk '/^ / && NF == 2 { printf "%s %s ", $1, $2 } END { print "" }' \
		>"$saved.new"
	mv "$saved.new" "$saved"
fi
if [ "$1" = mtu ]; then
	netdev=$(rdma -j link show "$dev/1" | jq -r '.[0].netdev')
	[ -f "$saved.mtu" ] || ip -j link show "$netdev" |
		jq -r '.[0] | "\(.ifname) \(.mtu)"' >"$saved.mtu"
	exec ip link set "$netdev" mtu "$2"
fi
if [ "$*" = default ]; then
	if [ -f "$saved.mtu" ]; then
		read -r netdev mtu <"$saved.mtu"
		ip link set "$netdev" mtu "$mtu"
		rm "$saved.mtu"
	fi
	read -ra words <"$saved"
	set -- "${words[@]}"
fi
exec tern set "$dev" "$@"
