#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern-conform, a plain TCP peer in a, tests the device of b, whose verbs the agent
# drives. Arguments select tests by ID, name or group. If the first one starts with a
# dash, all of them are options of tern-conform.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

here=$PWD/../conformance
port=5040

agent_options()
{
	echo "--port $port --device-address $IP_B"
	if [ "$TERN_TYPE" != tern ]; then
		echo --bind
	fi
}

start_agent()
{
	local options=()

	read -ra options < <(agent_options | xargs)
	if [ "$TERN_TYPE" = tern ]; then
		export TERN_HOOK_SAVED=$TMP/settings
		options+=(--set "$here/hook-set.sh $DEV_B")
		options+=(--state "$here/hook-state.sh $DEV_B")
	fi
	in_b "$here/tern-conform-agent" "${options[@]}" >"$TMP/agent" 2>&1 &
	agent=$!
	wait_for_listen "$port" b >&2
}

chosen()
{
	case ${1:-} in
	'') ;;
	-*) printf '%s\n' "$@" ;;
	*)  printf '%s\n' --only "$(IFS=,; echo "$*")" ;;
	esac
}

mapfile -t options < <(chosen "$@")
wires_up
in_a ip link set v0a mtu "${TERN_MTU:-1500}"
in_b ip link set v0b mtu "${TERN_MTU:-1500}"
dev_add b "$DEV_B" "$TERN_PEER" v0b
start_agent
# shellcheck disable=SC2034 # read by lib.sh: the program plans its points
ktap_done=1
status=0
limit 390 in_a "$here/tern-conform" --target "$IP_B" --agent-port "$port" --local "$IP_A" \
	--scale "$TERN_TIMEOUT_SCALE" "${options[@]}" || status=$?
kill "$agent"
wait "$agent" 2>/dev/null || true
sed 's/^/# agent: /' "$TMP/agent"
exit $status
