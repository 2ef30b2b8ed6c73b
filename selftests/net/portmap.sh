#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The port mapper: the peer's program asks for one port and its device listens at another,
# like hardware and siw-mapped. rdma-core's iwpmd reports the mapping. iwpmd and iw_cm's
# netlink only work in the initial network namespace, so both ends are there.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: one end is tern, the other siw"
[ -x /usr/sbin/iwpmd ] || skip_all "iwpmd is not installed"
variants=${TERN_VARIANTS:-/mnt/variants}
tern=tern_a siw=siw_b

# neighbours FROM TO ADDRESS...: add static neighbours, since rdma_cm resolves on the
# device it is bound to, where no ARP reply comes for an address of this host
neighbours()
{
	local mac

	mac=$(cat "/sys/class/net/$2/address")
	ip neigh replace "$3" lladdr "$mac" dev "$1" nud permanent
	ip neigh replace "$4" lladdr "$mac" dev "$1" nud permanent
}

both_ends_up()
{
	ip link set lo up
	ip link add v0a type veth peer name v0b
	ip addr add "$IP_A/24" dev v0a
	ip addr add "$IP_B/24" dev v0b
	ip addr add "$IP6_A/64" dev v0a nodad
	ip addr add "$IP6_B/64" dev v0b nodad
	ip link set v0a up
	ip link set v0b up
	neighbours v0a v0b $IP_B $IP6_B
	neighbours v0b v0a $IP_A $IP6_A
	load_file "$variants/siw-mapped/siw.ko"
	rdma link add $tern type tern netdev v0a
	rdma link add $siw type siw netdev v0b
}

# replaces lib.sh's
topo_down()
{
	rdma link delete $tern 2>/dev/null || true
	rdma link delete $siw 2>/dev/null || true
	kill -9 "$iwpmd_pid" 2>/dev/null || true
	ip link delete v0a 2>/dev/null || true
	rmmod siw 2>/dev/null || true
}

iwpmd_serves() { ss -Hlun "sport = :3935" | has .; }

# listens_at ADDRESS: the TCP port that the device listens at
listens_at()
{
	ss -Hltn | awk -v ip="$1" '{
		port = $4; sub(/.*:/, "", port)
		at = $4; sub(/:[0-9]*$/, "", at); gsub(/[][]/, "", at)
		if (at == ip && !n++) print port }'
}
has_listener() { [ -n "$(listens_at "$1")" ]; }

# serve ADDRESS: rping's server at $port; the device's port is in $mapped
serve()
{
	port=$(new_port)
	rping -s -a "$1" -p "$port" -C 5 -v >"$TMP/server" 2>&1 &
	server_pid=$!
	eventually has_listener "$1"
	mapped=$(listens_at "$1")
	echo "asked for $port, listens at $mapped"
}

# ping FROM TO: rping's client at FROM
ping()
{
	limit 15 rping -c -I "$1" -a "$2" -p "$port" -C 5 -v -V >"$TMP/client" 2>&1 &&
		[ "$(grep -c 'ping data' "$TMP/client")" = 5 ]
}

ours() { tern --json show connections --all $tern; }

no_server()
{
	kill -9 "$server_pid" 2>/dev/null || true
	wait "$server_pid" 2>/dev/null || true
	eventually not has_listener "$1"
}

# siw_accept() sends its Reply before it listens to its socket, and data that arrives
# between stays there until more arrives (see siw.sh): so try several times.
to_the_mapped_port()
{
	local try done=

	for try in 1 2 3; do
		serve "$2"
		[ "$mapped" != "$port" ] || { echo "nothing is mapped"; return 1; }
		! ping "$1" "$2" || done=$try
		cat "$TMP/client"
		no_server "$2"
		expect ours role=initiator remote="$2" remote_port="$mapped"
		[ -z "$done" ] || return 0
	done
	return 1
}

# tern does not map its own ports: IW_F_NO_PORT_MAP
at_the_port_asked_for()
{
	serve "$2"
	[ "$mapped" = "$port" ]
	ping "$1" "$2"
	no_server "$2"
	expect ours role=responder local="$2" local_port="$port"
}

ktap_header
both_ends_up
# All on one CPU, where iwpmd hardly runs before iw_cm has sent its first message and sleeps: an
# answer before that crashes a kernel without tools/upstream/mends/0005-iwpm-register.patch.
taskset --pid --cpu-list 0 $$ >/dev/null
# -s: in the foreground
chrt --idle 0 /usr/sbin/iwpmd -s &
iwpmd_pid=$!
disown
eventually iwpmd_serves
point "tern connects to the port at which the peer's device listens" \
	to_the_mapped_port $IP_A $IP_B
point "tern connects to the mapped port over IPv6" to_the_mapped_port $IP6_A $IP6_B
point "tern listens at the port that its program asked for" \
	at_the_port_asked_for $IP_B $IP_A
finish
