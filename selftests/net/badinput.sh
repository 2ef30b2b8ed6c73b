#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Bad input gets a precise errno in one line, changes nothing and logs nothing, even as a
# flood. (link.sh tests what the tool itself refuses, and bad values of settings.)

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks the errno of each request"

# refused TEXT COMMAND...: it fails, and its output has TEXT; that of tern and vtraffic
# is one line
refused()
{
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "succeeded: $*"
		return 1
	fi
	echo "$out"
	[[ $* == *"rdma link"* ]] || [ "$(wc -l <<<"$out")" = 1 ] || return 1
	grep -q "$text" <<<"$out"
}

# tern refuses a netdev that cannot carry IP, of any kind that this kernel has
odd_netdev()
{
	local kind
	for kind in vcan nlmon; do
		if in_a ip link add odd type $kind 2>/dev/null; then
			refused 'Operation not supported' in_a rdma link add tern_odd type tern netdev odd
			in_a ip link set odd up
			refused 'Operation not supported' in_a rdma link add tern_odd type tern netdev odd
			in_a ip link delete odd
			return
		fi
	done
	echo "neither vcan nor nlmon here"
	return 1
}

# an MTU that is too small for IPv4: RFC 791 requires 68 bytes
small_mtu()
{
	in_a ip link add small mtu 60 type dummy || in_a ip link add small type dummy
	in_a ip link set small mtu 60
	refused 'Operation not supported' in_a rdma link add tern_small type tern netdev small
	in_a ip link delete small
}

no_such_type()
{
	refused 'Invalid argument' in_a rdma link add x type nosuchtype netdev v0a
}

long_name()
{
	local long
	long=$(printf 'x%.0s' {1..100})
	refused 'policy validation' in_a rdma link add "$long" type tern netdev lo
	refused 'policy validation: Invalid argument' in_a tern show "$long"
	no_device x
}

pattern_name()
{
	refused 'Invalid argument' in_a rdma link add 'tern%s' type tern netdev lo
}

unprivileged()
{
	refused 'not permitted' in_a setpriv --reuid 65534 --clear-groups \
		rdma link add tern_u type tern netdev lo
	refused 'not permitted' in_a setpriv --reuid 65534 --clear-groups \
		rdma link delete "$DEV_A"
}

delete_unknown() { refused 'Wrong device name' rdma link delete nothere; }

# a device whose netdev is up but has no address: it may exist, but it has no connections,
# even with a route
no_address()
{
	local none='Cannot assign requested address'
	ip netns add c
	ip -n c link add v8 type veth peer name v8p
	ip -n c link set v8 up
	ip -n c link set v8p up
	ip netns exec c rdma link add tern_8 type tern netdev v8
	refused "listening: $none" ip netns exec c timeout 20 $vtraffic server -b 10.99.0.1 -p 30001
	refused 'resolving: Network is unreachable' ip netns exec c timeout 20 \
		$vtraffic client -a 10.99.0.2 -p 30001
	ip -n c route add 10.99.0.0/24 dev v8
	refused "rdma_connect: $none" ip netns exec c timeout 20 \
		$vtraffic client -a 10.99.0.2 -p 30001
	rdma link delete tern_8
	ip netns delete c
}

# addresses of the other host, or of none. A server on a loopback address is no such case:
# it waits for a device of lo.
no_such_address()
{
	local address
	for address in $IP_B 192.0.2.99 $IP6_B; do
		refused 'listening: Cannot assign requested address' \
			in_a timeout 20 $vtraffic server -b "$address" -p 30002
	done
}

address_in_use()
{
	local address
	server
	# rdma_cm returns EADDRNOTAVAIL
	for address in $IP_B 0.0.0.0; do
		refused 'listening: Cannot assign requested address' \
			in_b timeout 20 $vtraffic server -b "$address" -p $port
	done
	kill -9 $server_pid
	ends $server_pid
}

# a plain TCP listener has the port: tern uses TCP's ports
port_of_tcp()
{
	local pid
	silent_listener 30003
	refused 'listening: Address already in use' in_b timeout 20 $vtraffic server -b 0.0.0.0 -p 30003
	pid=$(ip netns pids b)
	[ -z "$pid" ] || kill -9 $pid
}

netlink()
{
	in_a python3 ./badnl.py "$DEV_A" | tee "$TMP/nl"
	diff <(awk '{ print $1, $2 }' "$TMP/nl") - <<-END
	good ANSWERED
	no-name EINVAL
	unknown-device ENODEV
	name-not-a-string EINVAL
	name-too-long EINVAL
	unknown-command ENOTSUP
	unknown-attribute EINVAL
	unknown-setting EINVAL
	no-settings EINVAL
	settings-not-nested EINVAL
	setting-too-short EINVAL
	setting-too-long EINVAL
	out-of-range ERANGE
	extensions-out-of-range ERANGE
	features-unknown EINVAL
	features-v2-alone EINVAL
	max-fpdu-too-short EINVAL
	max-fpdu-too-long ERANGE
	attribute-beyond-the-end EINVAL
	length-of-two EINVAL
	nothing-to-set OK
	END
	# every refusal by the tern family has an error text
	if awk '$2 != "ANSWERED" && $2 != "OK" && $1 != "unknown-command" && NF < 3' "$TMP/nl" | grep .; then return 1; fi
}

# ---- floods ----------------------------------------------------------------------

lines_of_log() { dmesg | wc -l; }

flood()
{
	local before i
	before=$(lines_of_log)
	for ((i = 0; i < 30; i++)); do
		in_a rdma link add again type tern netdev v0a 2>/dev/null || true
		in_a tern set "$DEV_A" mpa-rev 9 2>/dev/null || true
	done
	in_a python3 ./badnl.py "$DEV_A" >/dev/null
	show_new_lines "$before"
}

# show_new_lines N: messages of tern or the RDMA core after line N of the log; none is good
show_new_lines()
{
	dmesg | tail -n +$(($1 + 1)) | grep -E 'tern|infiniband|rdma|iw_cm|RDMA' | tee "$TMP/new" || true
	[ ! -s "$TMP/new" ]
}

# connections without MPA to a listener on a wildcard address
garbage_connections()
{
	local before port2
	server
	before=$(lines_of_log)
	port2=$port
	in_a bash -c "
		for ((i = 0; i < 150; i++)); do
			exec 3<>/dev/tcp/$IP_B/$port2 || exit 1
			case \$((i % 4)) in
			0) printf 'GET / HTTP/1.0\r\n\r\n' >&3 ;;
			1) printf 'MPA ID Req Frame' >&3 ;;
			2) printf 'MPA ID Req Frame\xff\xff\xff\xff' >&3 ;;
			esac
			exec 3>&-
		done"
	show_new_lines "$before"
	# a good client is still served
	client -n 20 -x 5000
	timed 10 eventually ended $client_pid
	grep -q operations "$TMP/client"
	kill -9 $server_pid
	ends $server_pid
	nothing_left
	[ "$(counter "$DEV_B" cm_bad_frame)" -ge 37 ]
}

# connections with a good startup, followed by random bytes
noisy_connections()
{
	local before
	port=$((port + 1))
	ip netns exec b rping -s -P -a 0.0.0.0 -p $port >"$TMP/server" 2>&1 &
	server_pid=$!
	wait_for_listen $port
	before=$(lines_of_log)
	limit 60 in_a ./mpa_peer.py to_noise $IP_B $port 60
	show_new_lines "$before"
	limit 20 in_a rping -c -v -V -a $IP_B -p $port -C 5 -S 3000
	kill -9 $server_pid
	ends $server_pid
	nothing_left
	# mpa_peer.py sends as many with a bad CRC as with a bad DDP header
	[ "$(counter "$DEV_B" rx_crc_err)" -ge 20 ]
	[ "$(counter "$DEV_B" rx_ddp_err)" -ge 20 ]
}

# a peer that aborts right after connecting
aborted_connections()
{
	local before
	server
	before=$(lines_of_log)
	in_a python3 - "$IP_B" "$port" <<-'END'
	import socket, struct, sys
	for i in range(150):
	    s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
	    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
	    if i % 2:
	        s.send(b"MPA ID Req Frame\x40\x01\x00\x00")
	    s.close()
	END
	show_new_lines "$before"
	client -n 20 -x 5000
	timed 10 eventually ended $client_pid
	grep -q operations "$TMP/client"
	kill -9 $server_pid
	ends $server_pid
	nothing_left
}

nothing_changed()
{
	in_a tern --json show "$DEV_A" >"$TMP/settings-now"
	cmp "$TMP/settings" "$TMP/settings-now"
	[ "$(rdma link show | wc -l)" = 2 ]
}

topo_up
in_a tern --json show "$DEV_A" >"$TMP/settings"
# the UML lane's kernel has no such netdevs
if [ "$TERN_LANE" = vm ] || modprobe -n vcan 2>/dev/null; then
	point "a netdev without IP: EOPNOTSUPP" odd_netdev
else
	ktap_test_skip "a netdev without IP: EOPNOTSUPP" "no such netdev in this kernel"
fi
point "a netdev with an MTU too small for IP: EOPNOTSUPP" small_mtu
point "a link type that does not exist: EINVAL" no_such_type
point "names that are too long: EINVAL" long_name
point "a name with a format directive: EINVAL" pattern_name
point "link add and delete without privilege: EPERM" unprivileged
point "delete of a link that is not there: no such name" delete_unknown
point "a device without address: EADDRNOTAVAIL, ENETUNREACH" no_address
point "addresses that are not there: EADDRNOTAVAIL" no_such_address
point "an address and port in use: EADDRNOTAVAIL" address_in_use
point "a port that a TCP listener has: EADDRINUSE" port_of_tcp
point "malformed requests to the netlink family: errno and reason" netlink
point "a flood of refused requests logs nothing" flood
point "a flood of connections that send no MPA frame" garbage_connections
point "a flood of random bytes after a good startup" noisy_connections
point "a flood of connections that are aborted" aborted_connections
point "the devices and their settings are unchanged after all this" nothing_changed
finish
