# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced after scene.sh by tests over a bad network, which have to prove that the network
# was as bad as the point says.

bad_network()
{
	in_a tc qdisc replace dev v0a root netem "$@"
	in_b tc qdisc replace dev v0b root netem "$@"
}

good_network()
{
	in_a tc qdisc del dev v0a root
	in_b tc qdisc del dev v0b root
}

both_counters() { echo $(($(tcp_counter a "$1") + $(tcp_counter b "$1"))); }

# netem's counters of dropped and forwarded packets, for a point that fails
netem_counters()
{
	in_a tc -s qdisc show dev v0a root
	in_b tc -s qdisc show dev v0b root
}

# under PROOF NETEM... -- COMMAND...: while it runs, TCP's counter PROOF grows, and no
# corrupted data reaches MPA. If by chance no packet was hit, run it again, up to ten times
# in all.
under()
{
	local proof=$1 words=() before try
	shift
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	bad_network "${words[@]}"
	before=$(both_counters "$proof")
	for try in {1..10}; do
		"$@"
		[ "$(both_counters "$proof")" = "$before" ] || break
	done
	netem_counters
	good_network
	echo "$proof: $before, then $(both_counters "$proof"), try $try"
	[ "$(both_counters "$proof")" -gt "$before" ]
	[ "$(counter tern_a rx_crc_err)" = 0 ]
	[ "$(counter tern_b rx_crc_err)" = 0 ]
}

# Let netem see packets as on a wire, not GSO's large ones. TCP builds those even when
# ethtool turns GSO off, since they can be segmented after the qdisc; but it respects
# gso_max_segs.
packets_as_on_a_wire()
{
	in_a ip link set v0a gso_max_segs 1
	in_b ip link set v0b gso_max_segs 1
}
