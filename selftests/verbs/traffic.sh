#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Verified traffic between the two hosts: all modes of vtraffic, ways to wait, queue
# depths, message lengths up to 8 MiB, an SRQ, a bad network, and huge pages.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh
# shellcheck source=../net/netem.sh
. ./netem.sh

count=${TERN_SET_TRAFFIC:-150}
vtraffic=../verbs/vtraffic

# traffic SERVER_OPTIONS CLIENT_OPTIONS
traffic()
{
	# shellcheck disable=SC2086 # words
	pair 40 $vtraffic server -b "$(server_address $IP_B 0.0.0.0)" -p @PORT@ $1 -- \
		$vtraffic client -a $IP_B -p @PORT@ -n $count $2
	grep -q ' operations' "$TMP/client"
}

traffic6()
{
	pair 40 $vtraffic server -b "$(server_address $IP6_B ::)" -p @PORT@ -- \
		$vtraffic client -a $IP6_B -p @PORT@ -n $count -x 100000
}

# netem COMMAND...: run it on a network that loses, delays, reorders and duplicates
netem()
{
	local status

	bad_network delay 1ms 1ms loss 1% reorder 10% duplicate 1%
	attempt "$@"
	good_network
	return "$status"
}

# huge_pages COMMAND...: run it while the guest has 16, which are free again at its end
huge_pages()
{
	local status

	sysctl -q vm.nr_hugepages=16
	all_huge_pages_free
	attempt "$@"
	eventually all_huge_pages_free || status=1
	sysctl -q vm.nr_hugepages=0
	return "$status"
}

before_exit() { sysctl -q vm.nr_hugepages=0 2>/dev/null || true; }

all_huge_pages_free()
{
	awk '/^HugePages_(Total|Free):/ { n[$1] = $2 }
		END { exit n["HugePages_Total:"] != 16 || n["HugePages_Free:"] != 16 }' \
		/proc/meminfo
}

# b has sent more than so many bytes
has_sent() { [ "$(in_b cat /sys/class/net/v0b/statistics/tx_bytes)" -gt "$1" ]; }

# The server is killed while its peer reads from it, and the client's connection ends.
killed_while_it_is_read()
{
	local port status=0 server client

	port=$(new_port)
	limit 30 in_b $vtraffic server -b $IP_B -p "$port" -H >"$TMP/server" 2>&1 &
	wait_for_listen "$port"
	limit 30 in_a $vtraffic client -a $IP_B -p "$port" -m read -x 1048576 -t 25 -H \
		>"$TMP/client" 2>&1 &
	client=$!
	eventually has_sent $(($(in_b cat /sys/class/net/v0b/statistics/tx_bytes) + (4 << 20)))
	server=$(ip netns pids b)
	[ -n "$server" ] || return 1
	# shellcheck disable=SC2086 # timeout and its child
	kill -9 $server
	wait $client || status=$?
	cat "$TMP/client"
	[ "$status" = 2 ]
}

topo_up
for mode in send write read mixed; do
	point "$mode, up to 1 MiB, events, verified" \
		traffic "" "-m $mode -x 1048576 -s 1"
done
point "mixed, up to 4 KiB, polling, 32 at once" \
	traffic "-e poll" "-m mixed -x 4096 -d 32 -e poll -s 2 -n $((count * 4))"
point "mixed, solicited events only" \
	traffic "-e solicited" "-m mixed -x 65536 -e solicited -s 3"
point "sends into an SRQ" traffic "-S" "-m send -x 65536 -s 4 -d 8"
point "mixed, up to 8 MiB" traffic "" "-m mixed -s 5 -n 30"
point "mixed, one at a time" traffic "" "-m mixed -x 3000 -d 1 -s 6"
point "mixed, IPv6" traffic6
point "mixed over a network that loses, reorders and duplicates" \
	netem traffic "" "-m mixed -x 30000 -n 60 -s 7"
if [ -d /sys/kernel/mm/hugepages/hugepages-2048kB ]; then
	point "mixed, in huge pages" huge_pages traffic "-H" "-m mixed -x 1048576 -H -s 8"
	point "a server with huge pages is killed while its peer reads them" \
		huge_pages killed_while_it_is_read
else
	for what in "mixed, in huge pages" \
		"a server with huge pages is killed while its peer reads them"; do
		ktap_test_skip "$what" "no huge pages of 2 MiB in this kernel"
	done
fi
finish
