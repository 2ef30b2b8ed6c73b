#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Rounds of loading, connecting and unloading leave nothing in the kernel.

. ./lib.sh
. ./scene.sh

module=$TERN_TYPE
rounds=${TERN_SET_ROUNDS:-$([ "${TERN_LANE:-}" = uml-debug ] && echo 20 || echo 100)}

# Slabs of a cache that CPUs hold, all objects of which count as allocated: one for each
# CPU, and with several CPUs also partial ones (CONFIG_SLUB_CPU_PARTIAL).
slabs_in_use() { nproc | awk '{ print ($1 > 1 ? $1 * 3 : 1) }'; }

# What a module may leak, with its current amount: objects of caches, per-CPU memory,
# pinned pages of programs. TIME-WAIT is no leak: TCP keeps it for a minute.
kept()
{
	local cache waiting
	for cache in /sys/kernel/slab/{kmalloc-*,skbuff_*,request_sock_*,tw_sock_*,filp,pid}; do
		echo 1 >"$cache/shrink" 2>/dev/null || true
	done
	waiting=$(everywhere ss -4Htan state time-wait | wc -l)
	awk -v names="$caches" -v waiting="$waiting" -v slabs="$(slabs_in_use)" '$1 ~ names {
		print $1, $2 - ($1 == "tw_sock_TCP" ? waiting : 0), $5 * slabs }' /proc/slabinfo
	awk '/^Percpu:/ { print $1, $2 }' /proc/meminfo
	# fold the per-CPU parts of the counters into the totals
	cat /proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired / { n += $2 } /^nr_foll_pin_released / { n -= $2 }
		END { print "pinned", n + 0 }' /proc/vmstat
}
caches='^(kmalloc|vmap_area|TCP|sock_inode|dentry_never|skbuff_|request_sock_|tw_sock_'
caches+='|net_namespace|filp|pid$)'

# grown BEFORE AFTER N: print what grew by N or more, and how many of it the CPUs' slabs
# may hold
grown()
{
	awk -v n="$3" 'NR == FNR { before[$1] = $2; next }
		$2 - before[$1] >= n { print $1, before[$1], $2, $3 + 0 }' "$1" "$2"
}

# one_round I: only every tenth round checks for left objects, since that takes longer than
# all the rest; the module cannot be unloaded while there are any
one_round()
{
	modprobe "$module"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
	server -k 1
	client -n 3 -x 5000 -d 2
	wait $client_pid && wait $server_pid || return 1
	[ $(($1 % 10)) != 9 ] || nothing_left || return 1
	rdma link delete "$DEV_A"
	# unloading the module deletes the other device
	rmmod "$module"
}

some_rounds()
{
	local i
	for ((i = 0; i < $1; i++)); do
		one_round $i || { echo "round $i failed"; cat "$TMP/client" "$TMP/server"; return 1; }
	done
	kept >"$TMP/kept$2"
}

# A leak loses an object or more in each round; the kernel's own caches grow by some dozen
# objects and then stop. So count after the first rounds, and run more rounds while
# something has grown: in the end only growth in nearly every round is a leak.
many_rounds()
{
	local n=$((rounds - 10))
	rmmod "$module"
	some_rounds 10 0
	some_rounds $n 1
	# KASAN keeps freed memory for a while; there kmemleak finds leaks instead
	[ "${TERN_LANE:-}" != uml-debug ] || return 0
	while grown "$TMP/kept0" "$TMP/kept1" $((n * 6 / 10)) | tee "$TMP/grown" | grep .; do
		echo "so it was after $n rounds"
		[ $n -lt 150 ] || ! awk '$3 - $2 > $4' "$TMP/grown" | grep . || return 1
		if [ $n -ge 290 ]; then
			[ -z "$(grown "$TMP/kept0" "$TMP/kept1" $((n * 9 / 10)))" ]
			return
		fi
		some_rounds 40 1
		n=$((n + 40))
	done
}

# A namespace is destroyed after its last reference is dropped. A veth from the rounds'
# namespace to this one shows that: it disappears with the namespace.
no_probe() { [ ! -e /sys/class/net/probe_a ] && [ ! -e /sys/class/net/probe_b ]; }
namespaces_go()
{
	local ns
	for ns in a b; do
		ip link add probe_$ns type veth peer name probe netns $ns
		ip netns delete $ns
	done
	within 5 eventually no_probe
}

topo_up
said="$rounds rounds of load, connect, unload"
[ "${TERN_LANE:-}" = uml-debug ] || said+=": no leak"
point "$said" many_rounds
point "no namespace is left after these rounds" namespaces_go
modprobe "$module"
finish
