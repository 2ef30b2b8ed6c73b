#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Many connections between two namespaces (many.c): how fast they are made, what an end
# takes of which memory, how fast one of them talks beside the idle others, and how long the
# program takes to end:
#
#	selftests/lab/run --lane uml --plain bench:many.sh
#
# TERN_SET_MANY ("64 1000"): numbers of connections; TERN_SET_MANY_CANDIDATES ("tern siw").
# 10000 are possible: more than some 14000 need more ports (ip_local_port_range). Raised
# here: locked memory, open files, the backlog of a listener, SYNs.

. "$(dirname "$0")/compare.sh"

counts=${TERN_SET_MANY:-64 1000}

# the program may have ended when it is told to go on
trap '' PIPE
ulimit -l unlimited
ulimit -n 65536

# Kilobytes by kind, and slabs as "slab:NAME COUNT SIZE"; merged slabs have one name.
memory()
{
	local cache

	sync
	echo 3 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache" 2>/dev/null || true
	done
	awk '/^(MemFree|Slab|SUnreclaim|VmallocUsed|Percpu|AnonPages|PageTables|KernelStack):/ {
		print $1, $2 }' /proc/meminfo
	awk 'NR > 2 { print "slab:" $1, $2, $4 }' /proc/slabinfo
}

said_or_ended()
{
	grep -qx "$1" "$TMP/many" || ! kill -0 "$many_pid" 2>/dev/null
}

# told WORD: wait until the program says so, then take its memory; let it go on
told()
{
	eventually said_or_ended "$1"
	grep -qx "$1" "$TMP/many"
	sleep 1
	memory >"$TMP/memory.$1"
	echo >&"$next_step"
}

# an_end N BEFORE AFTER: what one of 2 * N ends took more
an_end()
{
	awk -v ends="$((2 * ($1 - 1)))" '
		NR == FNR { before[$1] = $2; next }
		/^slab:/ { n = ($2 - before[$1]) / ends; bytes = n * $3; sum += bytes
			if (bytes >= 40) printf "    %7d B  %5.2f of %5d B  %s\n", bytes, n, $3, substr($1, 6)
			next }
		{ kib = ($2 - before[$1]) / ends; if ($1 == "MemFree:") kib = -kib
		  printf "  %-12s %6.2f KiB\n", $1, kib }
		END { printf "  slab objects %6.2f KiB\n", sum / 1024 }' "$TMP/memory.$2" "$TMP/memory.$3"
}

measure()
{
	local n=$2 done_at

	up "$1"
	eventually in_a ping -q -c 1 -W 1 "$IP_B" >/dev/null
	: >"$TMP/many"
	coproc program { exec ../bench/many -n "$n" >"$TMP/many" 2>&1; }
	many_pid=$!
	exec {next_step}>&"${program[1]}"
	for step in first connected pinged; do
		TERN_TIMEOUT_SCALE=60 told "$step" || { cat "$TMP/many"; break; }
	done
	TERN_TIMEOUT_SCALE=60 eventually said_or_ended "done"
	done_at=${EPOCHREALTIME/./}
	wait $many_pid || true
	exec {next_step}>&-
	echo "$1, $n connections"
	! grep -qx "done" "$TMP/many" ||
		echo "ends in $(((${EPOCHREALTIME/./} - done_at) / 1000)) ms"
	grep -E '^(talks|connects)|many:|drive:' "$TMP/many"
	if [ -e "$TMP/memory.pinged" ]; then
		echo "an end, connected:"
		an_end "$n" first connected
		echo "an end, after a ping:"
		an_end "$n" first pinged
	fi
	rm -f "$TMP"/memory.*
	down "$1"
}

wires_up
for ns in a b; do
	ip netns exec $ns sysctl -qw net.core.somaxconn=4096 net.ipv4.tcp_max_syn_backlog=4096
done
for n in $counts; do
	for c in ${TERN_SET_MANY_CANDIDATES:-tern siw}; do
		measure "$c" "$n"
	done
done
