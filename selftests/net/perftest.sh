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
	pair 40 "$@" -R -F -a -n "$iterations" -p @PORT@ $(bind "$IP_B") -- \
		"$@" -R -F -a -n "$iterations" -p @PORT@ $(bind "$IP_A") "$IP_B"
	[ "$(grep -cE '^ *[0-9]+ +[0-9]+ ' "$TMP/client")" = "$sizes" ] ||
		{ echo "not $sizes sizes:"; cat "$TMP/client"; return 1; }
}

topo_up
for tool in $tools; do
	point "$tool -R, 2 B to 8 MiB, polling" perf "$tool"
	case $tool in
	ib_write_*) ;; # "Events feature not available on WRITE verb"
	# On iWARP it waits for credits by Write while it sleeps for a completion
	# of its own: each send has to have one.
	ib_send_bw) point "$tool -R, 2 B to 8 MiB, events" perf "$tool" -e -Q 1 ;;
	*) point "$tool -R, 2 B to 8 MiB, events" perf "$tool" -e ;;
	esac
done
finish
