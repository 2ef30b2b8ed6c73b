#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern-conform-agent's --set command for tern:
#
#	hook-set.sh DEV NAME VALUE...	as tern set
#	hook-set.sh DEV default		as they were when this agent first changed any

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
if [ "$*" = default ]; then
	read -ra words <"$saved"
	set -- "${words[@]}"
fi
exec tern set "$dev" "$@"
