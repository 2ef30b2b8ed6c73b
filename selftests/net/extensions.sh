#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs that use what RFC 7306 adds, between two hosts, connected by rdma_cm: perftest's
# with atomics and with --write_with_imm (its Sends have no immediate data), which proves
# that they run; qperf's ver_ tests, which check each value that an atomic returns.
# pyverbs.sh has rdma-core's own tests.

. ./lib.sh

# extensions MODE: of connections from now on, at both ends
extensions()
{
	in_a tern set "$DEV_A" extensions "$1"
	in_b tern set "$DEV_B" extensions "$1"
}

# cap N: what ibv_query_device() says, by the core's copy of the attributes
cap()
{
	in_a python3 -c "import pyverbs.device as d
print(int(d.Context(name='$DEV_A').query_device().atomic_caps))" | has -x "$1"
}

# cap_follows: IBV_ATOMIC_NONE, IBV_ATOMIC_GLOB
cap_follows()
{
	extensions off
	cap 0
	extensions negotiate
	cap 2
}

# perf TOOL [OPTION]...: the same options at both ends; the client prints a row
perf()
{
	perftest_pair 40 "$@" -R -F -p @PORT@ -- "$@" -R -F -p @PORT@ "$IP_B"
	grep -qE '^ *[0-9]+ +[0-9]+ ' "$TMP/client"
}

# qperf_serves: each test has a connection for control, port 19765
qperf_serves()
{
	in_b qperf >/dev/null 2>&1 &
	wait_for_listen 19765
}

# qperf_runs TEST: for a second, by rdma_cm; it fails at the first wrong value. (When a
# test is over, qperf's server destroys the QP of its listener, which has none, and
# crashes: no line of that in the kernel's log.)
qperf_runs()
{
	local status=0

	sysctl -qw debug.exception-trace=0
	limit 20 in_a qperf -t 1 -cm1 "$IP_B" "$1" >"$TMP/qperf" 2>&1 || status=$?
	sysctl -qw debug.exception-trace=1
	cat "$TMP/qperf"
	[ $status = 0 ] && grep -qE "msg_rate += +[0-9]" "$TMP/qperf"
}

# refused: no connection has atomics, so the first one fails: IBV_WC_LOC_QP_OP_ERR
refused()
{
	extensions off
	not perftest_pair 20 ib_atomic_bw -R -F -n 5 -p @PORT@ -- \
		ib_atomic_bw -R -F -n 5 -p @PORT@ "$IP_B"
	grep -q 'Failed status 2:' "$TMP/client" || { cat "$TMP/client"; return 1; }
}

topo_up
point "ibv_query_device() has atomics as the setting is now" cap_follows
for type in FETCH_AND_ADD CMP_AND_SWAP; do
	point "ib_atomic_bw -R, $type, polling" perf ib_atomic_bw -A $type -n 500
	point "ib_atomic_bw -R, $type, events, both ways, 4 QPs" \
		perf ib_atomic_bw -A $type -n 100 -e -b -q 4
	point "ib_atomic_lat -R, $type, ibv_post_send()" \
		perf ib_atomic_lat -A $type -n 100 --use_old_post_send
done
# Immediate data takes a receive, and perftest has credits for Sends alone: as many
# receives (-r) as messages
point "ib_write_bw -R --write_with_imm, polling" \
	perf ib_write_bw --write_with_imm -n 100 -r 100 -s 1048576
point "ib_write_bw -R --write_with_imm, 4 QPs, ibv_post_send()" \
	perf ib_write_bw --write_with_imm -n 100 -r 100 -q 4 --use_old_post_send
point "ib_write_lat -R --write_with_imm" \
	perf ib_write_lat --write_with_imm -n 100 -s 4096
if [ -e /proc/sys/debug/exception-trace ]; then
	point "qperf's server listens" qperf_serves
	for test in fetch_add compare_swap; do
		point "qperf ver_rc_$test, values checked" qperf_runs ver_rc_$test
	done
else
	ktap_test_skip "qperf ver_rc_*" "this kernel always logs the crash of its server"
fi
point "ib_atomic_bw -R, extensions off: the first atomic fails, both ends end" refused
finish
