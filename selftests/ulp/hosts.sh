# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced behind net/lib.sh, net/scene.sh and lib.sh by the tests of programs:
# a recipe's commands on either host, and what tern carried meanwhile.

# on NETNS SECONDS FILE BLOCK [VARIABLE=VALUE...]: as follow, on that host. Both
# devices are seen from both; a machine has its own only.
on()
{
	local ns=$1 seconds=$(($2 * TERN_TIMEOUT_SCALE)) dev=DEV_${1^^} commands
	commands=$(recipe "$3" "$4") || return
	exec ip netns exec "$ns" timeout -k 2 "$seconds" unshare --uts \
		env FI_VERBS_DEVICE_NAME="${!dev}" "${@:5}" \
		bash -euc "hostname host$ns; $commands"
}

# meanwhile COMMAND...: run it; then $tern_rx, $tern_tx and $wire_rx are what
# b's device received and sent and what its netdev received, in octets.
netdev_rx() { in_b cat /sys/class/net/v0b/statistics/rx_bytes; }
meanwhile()
{
	local rx tx wire
	rx=$(counter "$DEV_B" rx_bytes) tx=$(counter "$DEV_B" tx_bytes) wire=$(netdev_rx)
	"$@" || return
	tern_rx=$(($(counter "$DEV_B" rx_bytes) - rx))
	tern_tx=$(($(counter "$DEV_B" tx_bytes) - tx))
	wire_rx=$(($(netdev_rx) - wire))
	echo "tern received $tern_rx and sent $tern_tx, the netdev received $wire_rx"
}

# all_by_tern: what came over the wire was tern's: a tenth for headers, and some
# for who talks TCP to set the others up.
all_by_tern() { [ "$wire_rx" -lt $((tern_rx + tern_rx / 10 + 1000000)) ]; }
