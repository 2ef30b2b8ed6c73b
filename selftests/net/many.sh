#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Many connections between two hosts, by bench/many: each talks, none takes more memory than
# it may, and nothing of them is left.

. ./lib.sh
. ./scene.sh

connections=300
# An end takes 25 KiB with two queues of a page each, TCP's socket and rdma_cm's id. A
# fragment that TCP keeps for it is 32 KiB more.
limit=40

ulimit -l unlimited
ulimit -n 4096
# the program may have ended when it is told to go on
trap '' PIPE

free_kib()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemFree:/ { print $2 }' /proc/meminfo
}

said_or_ended()
{
	grep -qx "$1" "$TMP/many" || ! kill -0 "$many_pid" 2>/dev/null
}

# at STEP: the program has come to it
at()
{
	within 20 eventually said_or_ended "$1"
	cat "$TMP/many"
	grep -qx "$1" "$TMP/many"
}

go_on() { echo >&"$next_step"; }

all_connect()
{
	at first
	free_kib >"$TMP/before"
	go_on
	at connected
	go_on
}

all_ping() { at pinged; }

memory()
{
	local ends=$((2 * (connections - 1))) each

	each=$((($(cat "$TMP/before") - $(free_kib)) / ends))
	echo "an end takes $each KiB"
	[ $each -ge 1 ] && [ $each -le $limit ]
}

# the first one still talks beside the others; then the program ends
ends_clean()
{
	go_on
	at "done"
	within 5 eventually ended "$many_pid"
	within 5 eventually no_tcp a
	within 5 eventually no_tcp b
	in_a rdma resource show qp link "$DEV_A" | tee "$TMP/qps"
	[ ! -s "$TMP/qps" ]
}

topo_up
: >"$TMP/many"
coproc program { exec ../bench/many -n $connections >"$TMP/many" 2>&1; }
many_pid=$!
exec {next_step}>&"${program[1]}"
point "$connections connections are made" all_connect
point "each carries a ping" all_ping
if [ "$TERN_LANE" = uml-debug ]; then
	ktap_test_skip "an end takes at most $limit KiB" "the checked kernel adds to each object"
else
	point "an end takes at most $limit KiB" memory
fi
point "nothing of them is left" ends_clean
finish
