#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# perftest's six programs between two hosts, connected by rdma_cm: all sizes from 2 B to
# 8 MiB with polling, and with jumbo frames and completion events (except Writes). From tern
# to tern those of bandwidth use CRC and those of latency do not, as CRC takes a third of
# their time under TCG. This proves that they run; selftests/bench measures. Processes that
# poll take most of the rest: with TERN_SET_PERFTEST_SHORT each program runs once, the three
# of bandwidth polling, those of latency with events where there are any.

. ./lib.sh

tools="ib_write_bw ib_read_bw ib_send_bw ib_write_lat ib_read_lat ib_send_lat"
iterations=5
sizes=23

# bind ADDRESS: siw listens and connects on a given address only.
bind()
{
	if has_siw; then echo "--bind_source_ip $1"; fi
}

# mtu BYTES: set the MTU of both hosts
mtu()
{
	in_a ip link set v0a mtu "$1"
	in_b ip link set v0b mtu "$1"
}

# perf TOOL [OPTION]...: every size appears once in the client's table.
perf()
{
	# shellcheck disable=SC2046 # words
	perftest_pair 40 "$@" -R -F -a -n "$iterations" -p @PORT@ $(bind "$IP_B") -- \
		"$@" -R -F -a -n "$iterations" -p @PORT@ $(bind "$IP_A") "$IP_B"
	[ "$(grep -cE '^ *[0-9]+ +[0-9]+ ' "$TMP/client")" = "$sizes" ] ||
		{ echo "not $sizes sizes:"; cat "$TMP/client"; return 1; }
}

# no_events TOOL: the peer's Writes raise no completion, so perftest refuses events
no_events()
{
	! in_a "$1" -R -e -n "$iterations" "$IP_B" >"$TMP/client" 2>&1 &&
		grep -q "Events feature not available on WRITE" "$TMP/client"
}

# each SIZE:MESSAGES... -- TOOL [OPTION]...: run the tool for each size, which prints a row
each()
{
	local chosen=() size n

	while [ "$1" != -- ]; do
		chosen+=("$1")
		shift
	done
	shift
	for size in "${chosen[@]}"; do
		n=${size#*:} size=${size%:*}
		# shellcheck disable=SC2046 # words
		perftest_pair 40 "$@" -R -F -s "$size" -n "$n" -p @PORT@ $(bind "$IP_B") -- \
			"$@" -R -F -s "$size" -n "$n" -p @PORT@ $(bind "$IP_A") "$IP_B"
		grep -qE "^ *$size +[0-9]+ " "$TMP/client"
	done
}

# On iWARP ib_send_bw needs credits, which the peer writes into its memory. With -e it may
# wait for a completion of its own although it needs a credit: for ever, if it reaches its
# last few messages before the first credit arrives. So each message has a completion
# (-Q 1), and there are enough messages for a credit to arrive.
some="2 B, 4 KiB, 64 KiB and 8 MiB"
enough=(2:600 4096:600 65536:300 8388608:12)

# events TOOL: its point with jumbo frames and completion events
events()
{
	mtu 9000
	case $1 in
	ib_write_*)
		point "$1 -R, events: perftest has none for Writes" no_events "$1" ;;
	ib_send_bw)
		point "$1 -R, $some, events" each "${enough[@]}" -- "$1" -e -Q 1 ;;
	*)
		point "$1 -R, 2 B to 8 MiB, events" perf "$1" -e ;;
	esac
}

polling()
{
	mtu 1500
	point "$1 -R, 2 B to 8 MiB, polling" perf "$1"
}

topo_up
for tool in $tools; do
	if [[ $tool = *_lat && $TERN_TYPE$TERN_PEER = terntern ]]; then
		in_a tern set "$DEV_A" crc off
		in_b tern set "$DEV_B" crc off
	fi
	case ${TERN_SET_PERFTEST_SHORT:+short}$tool in
	short*_write_lat|short*_bw) polling "$tool" ;;
	short*)	events "$tool" ;;
	*)	polling "$tool"; events "$tool" ;;
	esac
done
finish
