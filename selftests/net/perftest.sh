#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# perftest's six programs between two hosts, connected by rdma_cm, all sizes
# from 2 B to 8 MiB, polling and with completion events. This proves that they
# run; selftests/bench measures.

. ./lib.sh

tools="ib_write_bw ib_read_bw ib_send_bw ib_write_lat ib_read_lat ib_send_lat"
iterations=5
sizes=23

# bind ADDRESS: siw listens and connects on a given address only.
bind()
{
	if has_siw; then echo "--bind_source_ip $1"; fi
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

# On iWARP ib_send_bw takes credits, which the peer writes into its memory. With
# -e it may sleep for a completion of its own when a credit is what it needs: it
# does, for ever, when it gets to its last few messages before the first credit
# is there. So each message has a completion, there are enough of them for a
# credit to come, and not all sizes are sent.
send_events()
{
	local size n

	for size in 2:600 4096:600 65536:300 8388608:12; do
		n=${size#*:} size=${size%:*}
		# shellcheck disable=SC2046 # words
		perftest_pair 40 ib_send_bw -e -Q 1 -R -F -s "$size" -n "$n" -p @PORT@ $(bind "$IP_B") -- \
			ib_send_bw -e -Q 1 -R -F -s "$size" -n "$n" -p @PORT@ $(bind "$IP_A") "$IP_B"
	done
}

topo_up
for tool in $tools; do
	point "$tool -R, 2 B to 8 MiB, polling" perf "$tool"
	case $tool in
	ib_write_*) ;; # "Events feature not available on WRITE verb"
	ib_send_bw) point "$tool -R, 2 B to 8 MiB, events" send_events ;;
	*) point "$tool -R, 2 B to 8 MiB, events" perf "$tool" -e ;;
	esac
done
finish
