#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Clients of a lock server: the counter that they change under the lock is exact.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

locks=../verbs/locks
clients=4
count=${TERN_SET_LOCKS:-200}

# serve PORT: a server in b; its PID in $server_pid
serve()
{
	limit 60 in_b $locks server $IP_B "$1" $clients "$count" >"$TMP/server" 2>&1 &
	server_pid=$!
	wait_for_listen "$1"
}

# work PORT [nolock]: all clients at once, and the server's verdict
work()
{
	local i pids=() pid
	serve "$1"
	for ((i = 0; i < clients; i++)); do
		limit 60 in_a $locks client $IP_B "$1" "$count" "${@:2}" & pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
	status=0
	wait "$server_pid" || status=$?
	cat "$TMP/server"
}

exact() { work "$(new_port)" && [ $status = 0 ]; }

# nobody can tell how many, but some are lost
lossy()
{
	work "$(new_port)" nolock
	[ $status = 1 ]
	grep -q 'the lock free' "$TMP/server"
}

[ "$TERN_TYPE" = tern ] || skip_all "tern only: siw has no atomics"
topo_up
in_a tern set "$DEV_A" extensions negotiate
in_b tern set "$DEV_B" extensions negotiate
eventually in_a ping -q -c 1 -W 1 "$IP_B" >/dev/null
point "$clients clients with a lock by CmpSwap: the counter is exact" exact
point "without the lock increments are lost, so the point before proves something" lossy
finish
