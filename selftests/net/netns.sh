#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Devices and network namespaces, in both RDMA namespace modes. In addition to lib.sh's
# two hosts, a has a second device towards b:
#
#	a: tern_a on v0a 10.7.0.1	b: tern_b on v0b 10.7.0.2
#	a: tern_a2 on v1a 10.8.0.1	b:           v1b 10.8.0.2

. ./lib.sh
. ./scene.sh

DEV_A2=${TERN_TYPE}_a2

second_wire()
{
	ip link add v1a mtu 1500 netns a type veth peer name v1b mtu 1500 netns b
	in_a ip addr add 10.8.0.1/24 dev v1a
	in_b ip addr add 10.8.0.2/24 dev v1b
	in_a ip link set v1a up
	in_b ip link set v1b up
	dev_add a "$DEV_A2" "$TERN_TYPE" v1a
}

# serve NETNS: start a wildcard server there on port $port, PID in $server_pid
serve()
{
	: >"$TMP/server-$1"
	ip netns exec "$1" $vtraffic server -b "${2:-0.0.0.0}" -p $port -k 1 >"$TMP/server-$1" 2>&1 &
	server_pid=$!
	eventually grep -qx 'vtraffic: listening' "$TMP/server-$1"
}

# ask NETNS ADDRESS: verified traffic to the server there
ask()
{
	ip netns exec "$1" timeout -k 2 $((20 * TERN_TIMEOUT_SCALE)) \
		$vtraffic client -a "$2" -p $port -n 20 -x 10000
}

# served NETNS PID: the server there served a client and ended
served()
{
	within 5 eventually ended "$2"
	cat "$TMP/server-$1"
	grep -q 'served [1-9]' "$TMP/server-$1"
}

# two servers on one port, each reached at its own address
wildcard_ipv4()
{
	local pid_a pid_b
	port=$((port + 1))
	serve a 0.0.0.0; pid_a=$server_pid
	serve b 0.0.0.0; pid_b=$server_pid
	ask a $IP_B
	served b $pid_b
	kill -0 $pid_a
	ask b $IP_A
	served a $pid_a
}

wildcard_ipv6()
{
	local pid_a pid_b
	port=$((port + 1))
	serve a ::; pid_a=$server_pid
	serve b ::; pid_b=$server_pid
	ask a $IP6_B
	served b $pid_b
	kill -0 $pid_a
	ask b $IP6_A
	served a $pid_a
}

# a server in one namespace is not reached at another's addresses
not_in_the_other()
{
	local pid
	port=$((port + 1))
	serve a; pid=$server_pid
	not ask a $IP_B
	kill -9 $pid
	ends $pid
}

# b connects to both devices of a, and each carries its own connection
two_in_one()
{
	local before2 pid
	port=$((port + 1))
	before2=$(counter "$DEV_A2" cm_accept || true)
	serve a; pid=$server_pid
	ask b $IP_A
	served a $pid
	[ -z "$before2" ] || [ "$(counter "$DEV_A2" cm_accept)" = "$before2" ]
	dev_add b "${TERN_TYPE}_b2" "$TERN_TYPE" v1b
	port=$((port + 1))
	serve a; pid=$server_pid
	ask b 10.8.0.1
	served a $pid
	[ -z "$before2" ] || [ "$(counter "$DEV_A2" cm_accept)" = $((before2 + 1)) ]
	in_b rdma link delete "${TERN_TYPE}_b2"
}

# a server bound to one device's address is not reached at the other's
bound_to_one()
{
	local pid
	port=$((port + 1))
	serve a $IP_A; pid=$server_pid
	dev_add b "${TERN_TYPE}_b2" "$TERN_TYPE" v1b
	not ask b 10.8.0.1
	ask b $IP_A
	served a $pid
	in_b rdma link delete "${TERN_TYPE}_b2"
}

same_host()
{
	local pid
	port=$((port + 1))
	serve "$1" "$2"; pid=$server_pid
	ask "$1" "$3"
	served "$1" $pid
}

# The wildcard address as a destination is the host itself: a device on its loopback
# carries the connection, and client and server are in the same netns.
own_loopback()
{
	local pid address server servers
	ip netns add c
	ip netns exec c ip link set lo up
	dev_add c "${TERN_TYPE}_c" "$TERN_TYPE" lo
	for address in 0.0.0.0 127.0.0.1 :: ::1; do
		case $address in
		*:*) servers=(:: ::1) ;;
		*)   servers=(0.0.0.0 127.0.0.1) ;;
		esac
		for server in "${servers[@]}"; do
			port=$((port + 1))
			serve c "$server"; pid=$server_pid
			ask c "$address"
			served c $pid
		done
	done
	ip netns exec c rdma link delete "${TERN_TYPE}_c"
	ip netns delete c
}

# ../verbs/access tries this from a third namespace without a device, as another user
others_loopback()
{
	ip netns add c
	ip netns exec c ip link set lo up
	limit 40 ../verbs/access netns__
	ip netns delete c
}

# the server listens on any address before the device exists (librdmacm needs some
# device: in the exclusive mode another one of b)
device_later()
{
	local pid
	dev_add b "${TERN_TYPE}_b2" "$TERN_TYPE" v1b
	in_b rdma link delete "$DEV_B"
	port=$((port + 1))
	: >"$TMP/server-b"
	ip netns exec b $vtraffic server -b 0.0.0.0 -p $port -k 1 >"$TMP/server-b" 2>&1 &
	pid=$!
	eventually grep -qx 'vtraffic: listening' "$TMP/server-b"
	dev_add b "$DEV_B" "$TERN_PEER" v0b
	ask a $IP_B
	served b $pid
	in_b rdma link delete "${TERN_TYPE}_b2"
}

# the device is deleted and added again while a server of its namespace listens
device_returns()
{
	local pid
	port=$((port + 1))
	serve b; pid=$server_pid
	in_b rdma link delete "$DEV_B"
	dev_add b "$DEV_B" "$TERN_PEER" v0b
	ask a $IP_B
	served b $pid
}

# rdma_cm creates a server on a loopback address on each device, too, and leaves a new
# device out if that fails: another program's server must not do so
loopback_servers()
{
	local host address pid pids=()
	for host in a b; do
		for address in 127.0.0.1 ::1; do
			port=$((port + 1))
			serve $host $address; pids+=("$server_pid")
		done
	done
	dev_add b "${TERN_TYPE}_b2" "$TERN_TYPE" v1b
	port=$((port + 1))
	serve b 10.8.0.2; pid=$server_pid
	ask a 10.8.0.2
	served b $pid
	in_b rdma link delete "${TERN_TYPE}_b2"
	kill -9 "${pids[@]}"
	ends "${pids[@]}"
}

# keep_port NETNS: a TCP server takes $port there, PID in $keeper
keep_port()
{
	: >"$TMP/keeper"
	ip netns exec "$1" python3 - $port >"$TMP/keeper" 2>&1 <<-'EOF' &
	import socket, sys, time
	server = socket.create_server(("", int(sys.argv[1])))
	print("listening", flush=True)
	time.sleep(1000)
	EOF
	keeper=$!
	eventually grep -qx listening "$TMP/keeper"
}

# a server of rdma_cm waits for a device, and one of TCP has its port: the device serves
# all other ports
port_kept()
{
	local pid kept
	dev_add b "${TERN_TYPE}_b2" "$TERN_TYPE" v1b
	in_b rdma link delete "$DEV_B"
	port=$((port + 1))
	serve b; kept=$server_pid
	in_b rdma link delete "${TERN_TYPE}_b2"
	keep_port b
	dev_add b "$DEV_B" "$TERN_PEER" v0b
	port=$((port + 1))
	serve b $IP_B; pid=$server_pid
	ask a $IP_B
	served b $pid
	kill -9 $kept $keeper
	ends $kept $keeper
}

# In the exclusive mode the devices of a dying netns are invisible, but their names stay
# in use until they are gone: so retry.
hosts_anew()
{
	topo_down
	wires_up
	within 5 eventually dev_add a "$DEV_A" "$TERN_TYPE" v0a
	within 5 eventually dev_add b "$DEV_B" "$TERN_PEER" v0b
}

netns_gone()
{
	[ ! -e "/run/netns/$1" ] && no_device "$2"
}

# netns_deleted ORDER NETNS: delete the netns and kill its program, in this order
netns_deleted()
{
	local pid
	traffic
	if [ "$2" = a ]; then pid=$client_pid; else pid=$server_pid; fi
	if [ "$1" = name-first ]; then
		ip netns delete "$2"
		kill -9 $pid
	else
		kill -9 $pid
		ip netns delete "$2"
	fi
	# the other host's end of the veth is deleted too
	within 5 eventually netns_gone "$2" "$DEV_A"
	within 5 eventually no_device "$DEV_B"
	ends $client_pid $server_pid
	within 5 eventually objects_gone
	hosts_anew
}

# both namespaces are deleted while a connection's last packets are delayed
netns_deleted_closing()
{
	server
	client -c
	in_b tc qdisc add dev v0b root netem delay 300ms
	kill -9 $client_pid $server_pid
	ip netns delete a
	ip netns delete b
	within 5 eventually netns_gone a "$DEV_A"
	within 5 eventually netns_gone b "$DEV_B"
	ends $client_pid $server_pid
	hosts_anew
}

# packet_too_big: b sends Packet Too Big, and a adds a cached route, which its netns counts
packet_too_big()
{
	in_b python3 - "$IP6_A" "$IP6_B" <<-'EOF'
	import socket, struct, sys
	a, b = (socket.inet_pton(socket.AF_INET6, x) for x in sys.argv[1:])
	ping = struct.pack(">IHBB", 6 << 28, 8, 58, 64) + a + b + struct.pack(">BBHHH", 128, 0, 0, 1, 1)
	sock = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
	sock.sendto(struct.pack(">BBHI", 2, 0, 0, 1400) + ping, (sys.argv[1], 0))
	EOF
	eventually sh -c "ip -n a -6 route show cache | grep 'mtu 1400'"
}

# IPv6 routes that are in use in a
routes_of_a()
{
	local stats
	read -ra stats < <(in_a cat /proc/net/rt6_stats)
	echo $((16#${stats[5]}))
}
no_more_routes() { [ "$(routes_of_a)" -le "$1" ]; }

# a QP of a stopped program keeps no IPv6 route once its connection has ended, so it
# cannot delay the end of the netns
no_route_kept()
{
	local bare
	in_a ip -6 addr flush dev v0a
	bare=$(routes_of_a)
	in_a ip addr add $IP6_A/64 dev v0a nodad
	packet_too_big
	server -b ::
	client -a $IP6_B -c
	kill -STOP $client_pid
	not no_more_routes "$bare"
	kill -9 $server_pid
	ends $server_pid
	within 5 eventually no_tcp a
	in_a ip -6 addr flush dev v0a
	rdma resource show qp link "$DEV_A" | grep .
	within 5 eventually no_more_routes "$bare" || { echo "$(routes_of_a), and $bare without"; return 1; }
	rdma resource show qp link "$DEV_A" | grep .
	kill -9 $client_pid
	ends $client_pid
	hosts_anew
}

mode_is() { [ "$(rdma system show | awk '{ print $2 }')" = "$1" ]; }

# in the exclusive mode only its own namespace sees a device
seen_in_its_own()
{
	in_a rdma link show | has "$DEV_A/"
	if in_b rdma link show | has "$DEV_A/"; then return 1; fi
	if rdma link show | has "$DEV_A/"; then return 1; fi
}

# each namespace sees its own device of that name
same_name()
{
	in_a tern show same | has 'netdev v1a'
	in_b tern show same | has 'netdev v1b'
}

# connections_in NETNS: how many of b's device it sees
connections_in() { ip netns exec "$1" tern --json show connections "$DEV_B" | jq length; }

# in the shared mode each namespace sees the device, but its connections only that of the
# device and the first one
connections_seen()
{
	server
	client -c
	[ "$(connections_in b)" -ge 1 ]
	[ "$(tern --json show connections "$DEV_B" | jq length)" -ge 1 ]
	in_a tern --json show "$DEV_B" | has "$DEV_B"
	[ "$(in_b tern --json show "$DEV_B" | jq -r '.[].netdev')" = v0b ]
	[ "$(in_a tern --json show "$DEV_B" | jq '.[] | has("netdev") or has("ifindex")')" = false ]
	in_a tern show "$DEV_B" | has "$DEV_B: netdev in another network namespace"
	if in_a tern showconf "$DEV_B"; then return 1; fi
	[ "$(connections_in a)" = 0 ]
	kill -9 $client_pid $server_pid
	ends $client_pid $server_pid
}

all_in() # MODE
{
	local host
	point "$1: wildcard servers on one port in both namespaces, IPv4" wildcard_ipv4
	point "$1: wildcard servers on one port in both namespaces, IPv6" wildcard_ipv6
	point "$1: a server is not reached at another namespace's address" not_in_the_other
	if ! has_siw; then
		point "netns, $1: no connection to another namespace's loopback" others_loopback
	fi
	second_wire
	point "$1: two devices in one namespace" two_in_one
	point "$1: a server bound to one of two addresses" bound_to_one
	for host in a b; do
		point "$1: a connection to an address of the same host, $host, wildcard" \
			same_host $host 0.0.0.0 "$([ $host = a ] && echo $IP_A || echo $IP_B)"
	done
	point "$1: a connection to the same host, bound" same_host b $IP_B $IP_B
	point "$1: a connection to the same host, IPv6" same_host b :: $IP6_B
	point "$1: from one device of a host to the other" same_host a 0.0.0.0 10.8.0.1
	point "$1: a device added after a wildcard server started" device_later
	point "$1: a device deleted and added under a wildcard server" device_returns
	if ! has_siw; then
		point "$1: servers on loopback addresses leave a new device to others" \
			loopback_servers
		point "$1: a new device serves although a port of it is taken" port_kept
	fi
	for host in a b; do
		point "$1: netns $host deleted under traffic, name first" \
			netns_deleted name-first $host
		point "$1: netns $host deleted under traffic, process first" \
			netns_deleted process-first $host
	done
	point "$1: netns deleted while its connections close" netns_deleted_closing
}

ktap_header
# before all other devices: rdma_cm uses the first one for the wildcard
if ! has_siw; then
	point "netns: a connection to the namespace's own loopback" own_loopback
fi
# the mode can change only while there is no other namespace
point "shared mode" rdma system set netns shared
wires_up
dev_add a "$DEV_A" "$TERN_TYPE" v0a
dev_add b "$DEV_B" "$TERN_PEER" v0b
all_in shared
if ! has_siw; then
	point "shared: connections are seen in their own namespace and the first, the netdev in its own" connections_seen
fi
point "a QP keeps no route of its netns after its connection ended" no_route_kept
topo_down
# a script that stops here would leave the mode to the next one
at_exit() { eventually rdma system set netns shared || true; }
point "exclusive mode" eventually rdma system set netns exclusive
wires_up
dev_add a "$DEV_A" "$TERN_TYPE" v0a
dev_add b "$DEV_B" "$TERN_PEER" v0b
point "exclusive: a device is seen in its own namespace only" seen_in_its_own
what="exclusive: devices of two namespaces have one name"
ip link add v1a netns a type veth peer name v1b netns b
dev_add a same "$TERN_TYPE" v1a
if dev_add b same "$TERN_TYPE" v1b 2>/dev/null; then
	point "$what" same_name
	in_b rdma link delete same
else
	ktap_test_skip "$what" "this kernel's names are global"
fi
in_a rdma link delete same
in_a ip link delete v1a
all_in exclusive
topo_down
point "back to shared mode" eventually rdma system set netns shared
finish
