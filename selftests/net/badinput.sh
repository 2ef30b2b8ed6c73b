#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Item 11: bad input has a precise errno, told in one line, changes nothing and
# says nothing in the kernel log, however much of it there is. (What a tool
# refuses by itself, and settings with bad values: link.sh.)

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern's own answers"

# refused TEXT COMMAND...: it fails, and what it says holds TEXT; tern and
# vtraffic say it in one line
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

# A netdev that carries no IP: whichever kind this kernel has.
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

# too small for IPv4: RFC 791's 68 octets
small_mtu()
{
	in_a ip link add small mtu 60 type dummy || in_a ip link add small type dummy
	in_a ip link set small mtu 60
	refused 'Operation not supported' in_a rdma link add tern_small type tern netdev small
	in_a ip link delete small
}

no_such_type()
{
	refused 'nvalid argument\|No such\|not supported' in_a rdma link add x type nosuchtype netdev v0a
}

long_name()
{
	refused . in_a rdma link add "$(printf 'x%.0s' {1..100})" type tern netdev lo
	refused . in_a tern show "$(printf 'x%.0s' {1..100})"
	no_device x
}

pattern_name()
{
	refused . in_a rdma link add 'tern%s' type tern netdev lo || in_a rdma link delete 'tern%s'
}

unprivileged()
{
	refused 'not permitted' in_a setpriv --reuid 65534 --clear-groups \
		rdma link add tern_u type tern netdev lo
	refused 'not permitted' in_a setpriv --reuid 65534 --clear-groups \
		rdma link delete "$DEV_A"
}

delete_unknown() { refused 'No such device\|Wrong device\|nvalid' rdma link delete nothere; }

# a device without any address: it can be, and nobody reaches it
no_address()
{
	in_a ip link add v8 type veth peer name v8p
	in_a rdma link add tern_8 type tern netdev v8
	refused . in_a timeout 20 $vtraffic server -b 10.99.0.1 -p 30001
	in_a rdma link delete tern_8
	in_a ip link delete v8
}

# addresses of nobody, or of the wrong side
no_such_address()
{
	refused . in_a timeout 20 $vtraffic server -b $IP_B -p 30002
	refused . in_a timeout 20 $vtraffic server -b 127.0.0.99 -p 30002
}

address_in_use()
{
	server
	# rdma_cm's own answers
	refused 'in use\|Cannot assign' in_b timeout 20 $vtraffic server -b $IP_B -p $port
	refused 'in use\|Cannot assign' in_b timeout 20 $vtraffic server -b 0.0.0.0 -p $port
	kill -9 $server_pid
	ends $server_pid
}

# a plain TCP listener has the port: TCP's ports are one space
port_of_tcp()
{
	local pid
	sleep 1000 | ip netns exec b busybox nc -l -p 30003 >/dev/null &
	wait_for_listen 30003
	refused 'in use' in_b timeout 20 $vtraffic server -b 0.0.0.0 -p 30003
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
	attribute-behind-the-end EINVAL
	length-of-two EINVAL
	nothing-to-set OK
	END
	# each refusal of the family itself says why
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

# what we or the RDMA core logged since; nothing may be there
show_new_lines()
{
	dmesg | tail -n +$(($1 + 1)) | grep -E 'tern|infiniband|rdma|iw_cm|RDMA' | tee "$TMP/new" || true
	[ ! -s "$TMP/new" ]
}

# connections that are no MPA, to a listener with a wildcard address
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
	# and those who behave are served as before
	client -n 20 -x 5000
	timed 10 eventually ended $client_pid
	grep -q operations "$TMP/client"
	kill -9 $server_pid
	ends $server_pid
	nothing_left
	[ "$(counter "$DEV_B" cm_bad_frame)" -ge 37 ]
}

# raw FPDUs of noise behind a good Request are verbs' and the conformance
# suite's business; here: a peer that aborts right behind connecting
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
	point "item 11: a netdev without IP: EOPNOTSUPP" odd_netdev
else
	ktap_test_skip "item 11: a netdev without IP: EOPNOTSUPP" "no such netdev in this kernel"
fi
point "item 11: a netdev with an MTU too small for IP: EOPNOTSUPP" small_mtu
point "item 11: a link type that does not exist" no_such_type
point "item 11: names that are too long" long_name
point "item 11: a name that is a format" pattern_name
point "item 11: link add and delete without privilege: EPERM" unprivileged
point "item 11: delete of a link that is not there" delete_unknown
point "item 11: a device without address" no_address
point "item 11: addresses that are not there" no_such_address
point "item 11: an address and port in use" address_in_use
point "item 11: a port that a TCP listener has: EADDRINUSE" port_of_tcp
point "item 11: malformed requests to the netlink family: errno and reason" netlink
point "item 11: a flood of refused requests logs nothing" flood
point "item 11: a flood of connections that are no MPA" garbage_connections
point "item 11: a flood of connections that are aborted" aborted_connections
point "item 11: nothing was changed by all this" nothing_changed
finish
