# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # read by the tests that source this
# Sourced after net/lib.sh, net/scene.sh and lib.sh by the tests of programs: run a
# recipe's commands on either host, count what tern carries, and start a server of files
# or a job of MPI.

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

# ---- rsockets_file ---------------------------------------------------------------------

# The caller sets $files, the program.

# serve WHAT FILE BLOCK: in b, by that recipe, its files in $TMP/b
# shellcheck disable=SC2154 # what the callers set
serve()
{
	port=$(new_port)
	( cd "$TMP/b" && on b 300 "$2" "$3" \
		COMMAND="$files $1 $IP_B $port" ) >"$TMP/served" 2>&1 &
	serving=$!
	wait_for_listen "$port"
}

# client VERB NAME...
client() { ( on a 60 rsockets "${block:-preload}" COMMAND="$files $1 $IP_B $port ${*:2}" ); }

same() { [ "$(sha256sum <"$1")" = "$(sha256sum <"$2")" ]; }

# ---- MPI ---------------------------------------------------------------------------------

# the names of the hosts, and a script in place of ssh, which mpirun calls with HOST
# COMMAND...
mpi_prepare()
{
	printf '%s hosta\n%s hostb\n' "$IP_A" "$IP_B" >>/etc/hosts
	cat >"$TMP/agent" <<-'END'
		#!/bin/bash
		exec ip netns exec "${1#host}" unshare --uts env FI_VERBS_DEVICE_NAME="$DEV_B" \
			bash -c 'hostname "$0"; eval "$@"' "$@"
	END
	chmod +x "$TMP/agent"
}

# mpi_run RANKS PROGRAM: that many on each host
mpi_run()
{
	( on a 120 mpi run HOSTS="hosta:$1,hostb:$1" PROGRAM="$2" \
		PRTE_MCA_plm_ssh_agent="$TMP/agent" \
		OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ) >"$TMP/mpi" 2>&1 || {
		tr -d '\0' <"$TMP/mpi"
		return 1
	}
}
