# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced after net/lib.sh, net/scene.sh and lib.sh by the tests of programs: run a
# recipe's commands on either host, and count what tern carries.

# on NETNS SECONDS FILE BLOCK [VARIABLE=VALUE...]: like follow, on that host. Each host
# sees both devices; a real machine sees only its own.
on()
{
	local ns=$1 seconds=$(($2 * TERN_TIMEOUT_SCALE)) dev=DEV_${1^^} commands
	commands=$(recipe "$3" "$4") || return
	exec ip netns exec "$ns" timeout -k 2 "$seconds" unshare --uts \
		env FI_VERBS_DEVICE_NAME="${!dev}" "${@:5}" \
		bash -euc "hostname host$ns; $commands"
}

# counted COMMAND...: run it; then $tern_rx, $tern_tx and $wire_rx are the bytes that b's
# device received and sent and that its netdev received.
netdev_rx() { in_b cat /sys/class/net/v0b/statistics/rx_bytes; }
counted()
{
	local rx tx wire
	rx=$(counter "$DEV_B" rx_bytes) tx=$(counter "$DEV_B" tx_bytes) wire=$(netdev_rx)
	"$@" || return
	tern_rx=$(($(counter "$DEV_B" rx_bytes) - rx))
	tern_tx=$(($(counter "$DEV_B" tx_bytes) - tx))
	wire_rx=$(($(netdev_rx) - wire))
	echo "tern received $tern_rx and sent $tern_tx, the netdev received $wire_rx"
}

# all_by_tern: the data on the wire was tern's, except a tenth for headers and some for
# programs that use TCP to start the others.
all_by_tern() { [ "$wire_rx" -lt $((tern_rx + tern_rx / 10 + 1000000)) ]; }
