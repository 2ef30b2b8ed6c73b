#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Devices on each kind of netdev, and what a program or its host asks of the socket: type of
# service, mark, VRF. Each kind is made as `nd` at both ends, by make_KIND, over the wires:
#
#	 netns a                                      netns b
#	+----------------------------+               +----------------------------+
#	| tern_a                     |               |                     tern_b |
#	|  nd  10.9.0.1  fd00:9::1   |               |   10.9.0.2  fd00:9::2  nd  |
#	|   |  what nd is made of    |               |                         |  |
#	|  v0a 10.7.0.1 -------------+- veth, 1500 --+-------------- 10.7.0.2 v0b |
#	|  v1a ----------------------+- veth, 1500 --+----------------------- v1b |
#	|  v2a ----------------------+- veth, 1500 --+----------------------- v2b |
#	+----------------------------+               +----------------------------+
#
#	netdevs.sh [KIND | GROUP]...	a GROUP is tos, mark, vrfs or vlans
#
# Without arguments a short form: in the VM VRFs, which UML lacks, in UML what the wire and
# the driver show of the others. TERN_SET_NETDEVS_LONG=1: all of them, and all of vrfs.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: reads its settings and counters"

kinds="vlan bridge macvlan ipvlan tun wireguard vrf linklocal gre vxlan bond"
groups="vlans vrfs tos mark"
long=${TERN_SET_NETDEVS_LONG:-}

# try NAME COMMAND...: a point whose programs, if it fails, are not left to the next one
try()
{
	local end pid tun

	point "$@"
	tun=$(cat "$TMP/tun" 2>/dev/null || true)
	for end in a b; do
		for pid in $(ip netns pids $end); do
			[ "$pid" = "$tun" ] || kill -9 "$pid" 2>/dev/null || true
		done
	done
}

# ---- kinds of netdevs --------------------------------------------------------

# make_KIND NETNS OTHER: nd of this netns, whose other end is in OTHER
declare -A mtu=([tun]=1500 [wireguard]=1420 [gre]=1476 [vxlan]=1450)

make_vlan() { ip -n "$1" link add link "v0$1" name nd type vlan id 10; }
make_macvlan() { ip -n "$1" link add link "v0$1" name nd type macvlan mode bridge; }
make_ipvlan() { ip -n "$1" link add link "v0$1" name nd type ipvlan mode l2; }

make_bridge()
{
	ip -n "$1" link add nd type bridge
	ip -n "$1" link set "v1$1" master nd
}

# both ends at once
make_tun()
{
	[ "$1" = a ] || return 0
	./tun.py a b nd >&2 &
	echo $! >"$TMP/tun"
	eventually ip -n b link show nd
}

make_wireguard()
{
	local end

	for end in a b; do
		[ -f "$TMP/key-$end" ] || wg genkey >"$TMP/key-$end"
	done
	ip -n "$1" link add nd type wireguard
	ip netns exec "$1" wg set nd listen-port 51820 private-key "$TMP/key-$1" \
		peer "$(wg pubkey <"$TMP/key-$2")" allowed-ips 0.0.0.0/0,::/0 \
		endpoint "$(underlay "$2"):51820"
}

make_gre()
{
	ip -n "$1" link add nd type gre local "$(underlay "$1")" remote "$(underlay "$2")"
}

make_vxlan()
{
	ip -n "$1" link add nd type vxlan id 9 dstport 4789 dev "v0$1" \
		local "$(underlay "$1")" remote "$(underlay "$2")"
}

make_vrf()
{
	ip -n "$1" link add red type vrf table 10
	ip -n "$1" link set red up
	ip -n "$1" link add link "v0$1" name nd type macvlan mode bridge
	ip -n "$1" link set nd master red
}

make_linklocal() { ip -n "$1" link add link "v0$1" name nd type macvlan mode bridge; }

make_bond()
{
	local wire

	ip -n "$1" link add nd type bond mode active-backup miimon 20
	for wire in "v1$1" "v2$1"; do
		ip -n "$1" link set "$wire" down
		ip -n "$1" link set "$wire" master nd
	done
}

underlay() { if [ "$1" = a ]; then echo 10.7.0.1; else echo 10.7.0.2; fi; }

# raise NETNS HOST: nd gets its addresses; those of a link-local test are all that it has
raise()
{
	ip -n "$1" link set nd up
	if [ "$kind" = linklocal ]; then
		ip -n "$1" addr add "fe80::$2/64" dev nd nodad
	else
		ip -n "$1" addr add "10.9.0.$2/24" dev nd
		ip -n "$1" addr add "fd00:9::$2/64" dev nd nodad
	fi
}

up_in()
{
	raise a 1
	raise b 2
	dev_add a tern_a tern nd
	dev_add b tern_b tern nd
}

kind_up()
{
	"make_$kind" a b
	"make_$kind" b a
	[ "$kind" != bond ] || wires_of_bond_up
	up_in
	eventually carrier a
	eventually carrier b
}

wires_of_bond_up()
{
	local end

	for end in a b; do
		ip -n $end link set "v1$end" up
		ip -n $end link set "v2$end" up
	done
}

carrier() { ip -n "$1" link show nd | has -v 'NO-CARRIER'; }

kind_down()
{
	local end

	for end in a b; do
		ip -n $end link delete nd 2>/dev/null || true
		ip -n $end link delete red 2>/dev/null || true
	done
	[ ! -f "$TMP/tun" ] || { kill "$(cat "$TMP/tun")" 2>/dev/null; rm -f "$TMP/tun"; } || true
	within 5 eventually no_device tern_a
	within 5 eventually no_device tern_b
}

# ---- traffic -------------------------------------------------------------------

# here NETNS, there NETNS: addresses of nd in this netns, as a client of the other end needs
address()
{
	local host=1

	[ "$1" = a ] || host=2
	case $kind in
	linklocal) echo "fe80::$host%nd" ;;
	*)	echo "10.9.0.$host" ;;
	esac
}

# source of a client in NETNS, as options of rping and of vtraffic: the route to the peer is in
# the VRF, where rdma_cm looks only if it knows the source
source_of() { [ "$kind" != vrf ] || echo "$1 $(address "$2")"; }

# moved_on DEV: FPDUs that it sent and received
moved_on() { echo $(($(counter "$1" tx_fpdu) + $(counter "$1" rx_fpdu))); }

# over SERVER_NETNS CLIENT_NETNS ADDRESS SERVER_OPTIONS CLIENT_OPTIONS: verified traffic
over()
{
	local pid status=0

	port=$((port + 1))
	: >"$TMP/server"
	# shellcheck disable=SC2086 # words
	limit 30 "in_$1" $vtraffic server -p $port $4 >"$TMP/server" 2>&1 &
	pid=$!
	eventually grep -qx 'vtraffic: listening' "$TMP/server" || { cat "$TMP/server"; return 1; }
	# shellcheck disable=SC2086
	limit 30 "in_$2" $vtraffic client -a "$3" -p $port $5 >"$TMP/client" 2>&1 || status=$?
	[ $status = 0 ] && wait $pid || status=1
	cat "$TMP/server" "$TMP/client"
	[ $status = 0 ] || { kill -9 $pid 2>/dev/null || true; }
	return $status
}

# between SERVER_NETNS CLIENT_NETNS: all kinds of messages, and both devices carried them
between()
{
	local before

	before=$(moved_on "tern_$2")
	over "$1" "$2" "$(address "$1")" "-b $(address "$1")" \
		"$(source_of -f "$2") -m mixed -n 15 -x 50000"
	[ "$(moved_on "tern_$2")" -gt "$before" ]
}

pings()
{
	local from=$1 to=$2 status=0 pid words

	port=$((port + 1))
	read -ra words < <(source_of -I "$to"; echo)
	limit 30 "in_$from" rping -s -a "$(address "$from")" -p $port -C 3 -S 3000 -v -V \
		>"$TMP/server" 2>&1 &
	pid=$!
	wait_for_listen $port "$from"
	limit 30 "in_$to" rping -c -a "$(address "$from")" -p $port -C 3 -S 3000 -v -V \
		"${words[@]}" >"$TMP/client" 2>&1 || status=$?
	wait $pid || status=$?
	cat "$TMP/server" "$TMP/client"
	[ $status = 0 ] && [ "$(grep -c 'ping data' "$TMP/client")" = 3 ]
}

both_ways()
{
	between b a
	between a b
	pings b a
}

# the lower half of the GID, and the GUID, also where the netdev has no MAC address
has_identity()
{
	local dev gid guid

	for dev in tern_a tern_b; do
		gid=$(cat /sys/class/infiniband/$dev/ports/1/gids/0)
		guid=$(cat /sys/class/infiniband/$dev/node_guid)
		echo "$dev $gid $guid"
		[ "${gid:20}" != 0000:0000:0000:0000 ] && [ "$guid" != 0000:0000:0000:0000 ]
	done
}

# sizes_fit MTU: TCP's segments fill the MTU, and an FPDU without the extension for long ones
# fills a segment: RFC 5044 5, MULPDU = EMSS - (6 + EMSS mod 4), and 4 of them rounded
sizes_fit()
{
	local mss=$(($1 - 52))

	[ "$kind" != linklocal ] || mss=$((mss - 20))
	in_a tern set tern_a features 7306
	start_traffic
	expect conns_of_a mss=$mss mulpdu=$((mss - 6 - mss % 4))
	expect conns_of_b mss=$mss mulpdu=$((mss - 6 - mss % 4))
}

# start_traffic: a client in a, a server in b, until data moves
start_traffic()
{
	server -b "$(address b)"
	: >"$TMP/client"
	# shellcheck disable=SC2046 # words
	ip netns exec a $vtraffic client -a "$(address b)" -p $port -t 600 -x 50000 \
		$(source_of -f a) >"$TMP/client" 2>&1 &
	client_pid=$!
	eventually grep -q running "$TMP/client" || { cat "$TMP/client"; return 1; }
}

# deleted MTU: both netdevs are deleted under the connection that the sizes were read from
deleted()
{
	sizes_fit "$1"
	within 5 ip -n a link delete nd
	within 5 eventually no_device tern_a
	ends $client_pid
	grep -q . "$TMP/client"
	ip -n b link delete nd 2>/dev/null || true
	within 5 eventually no_device tern_b
	ends $server_pid
	within 5 eventually objects_gone
}

# ---- bond ----------------------------------------------------------------------

slave_is() { ip -n "$1" -d link show nd | has "active_slave $2$1 "; }

# fail_over FROM TO: the wire FROM goes down at b, and both ends use TO
fail_over()
{
	ip -n b link set "$1b" down
	eventually slave_is a "$2"
	eventually slave_is b "$2"
	kill -0 $client_pid
}

packets_of() { in_a cat "/sys/class/net/$1a/statistics/tx_packets"; }

more_packets() { [ "$(packets_of "$1")" -gt $(($2 + 20)) ]; }

# the active slave goes down under load, and comes back before the other one goes down
failover()
{
	local before

	server -b "$(address b)"
	: >"$TMP/client"
	ip netns exec a $vtraffic client -a "$(address b)" -p $port -t $((4 * TERN_TIMEOUT_SCALE / 2)) \
		-x 50000 >"$TMP/client" 2>&1 &
	client_pid=$!
	eventually grep -q running "$TMP/client"
	slave_is a v1
	before=$(packets_of v2)
	fail_over v1 v2
	eventually more_packets v2 "$before"
	ip -n b link set v1b up
	before=$(packets_of v1)
	fail_over v2 v1
	eventually more_packets v1 "$before"
	ip -n b link set v2b up
	wait $client_pid || { cat "$TMP/client" "$TMP/server"; return 1; }
	cat "$TMP/client"
	grep -q ' operations' "$TMP/client"
	kill -9 $server_pid
	ends $server_pid
}

run_kind()
{
	kind=$1
	try "$kind: a device at both ends" kind_up
	try "$kind: GUID and GID are set" has_identity
	try "$kind: verified traffic both ways" both_ways
	[ "$kind" != bond ] || try "bond: every byte arrives while the active slave goes down" failover
	try "$kind: FPDUs fit the MTU, and netdevs are deleted under them" deleted "${mtu[$kind]:-1500}"
	kind_down
}

# ---- VLANs and VRFs --------------------------------------------------------------

server_ends()
{
	kill -9 $server_pid
	ends $server_pid
}

accepted() { counter "$1" cm_accept; }

# reaches DEV SERVER_ADDRESS CLIENT_OPTIONS: a client in a reaches $server in b, through this
# device
reaches()
{
	local before

	before=$(accepted "$1")
	# shellcheck disable=SC2086 # words
	limit 30 in_a $vtraffic client -a "$2" -p $port -n 5 -x 10000 ${3:-}
	[ "$(accepted "$1")" = $((before + 1)) ]
}

# rdma_cm may choose the trunk's device for an address of the VLAN, but not for a request
trunk_and_vlan()
{
	over b a 10.9.0.2 "-b 10.9.0.2" "-n 5 -x 10000"
	over b a 10.7.0.2 "-b 10.7.0.2" "-n 5 -x 10000"
	server -b 0.0.0.0
	reaches tern_b 10.9.0.2
	reaches tern_b0 10.7.0.2
	server_ends
}

# rdma_cm takes a request for the netdev that got its address last
address_twice()
{
	local denied

	dev_add b tern_b1 tern v1b
	server -b 0.0.0.0
	ip -n b addr add 10.7.0.2/32 dev v1b
	denied=$(counter tern_b0 cm_denied)
	not limit 30 in_a $vtraffic client -a 10.7.0.2 -p $port -n 5 -x 10000
	[ "$(counter tern_b0 cm_denied)" = $((denied + 1)) ]
	ip -n b addr del 10.7.0.2/32 dev v1b
	reaches tern_b0 10.7.0.2
	server_ends
	rdma link delete tern_b1
}

vlans()
{
	kind=vlan
	try "vlans: a device on the trunk, too" own_devices
	try "vlans: another VLAN" kind_up
	try "vlans: servers at addresses of trunk and VLAN" trunk_and_vlan
	try "vlans: a request for a device at another netdev, with the same address" address_twice
	trunk_down
	kind_down
}

# devices on v0a and v0b
own_devices()
{
	dev_add a tern_a0 tern v0a
	dev_add b tern_b0 tern v0b
}

trunk_down()
{
	rdma link delete tern_a0
	rdma link delete tern_b0
}

# inside and outside of the VRF, from one wildcard server
wildcard_everywhere()
{
	in_b sysctl -qw net.ipv4.tcp_l3mdev_accept="$1"
	server -b "$2"
	reaches tern_b "$3" "-f $4"
	reaches tern_b0 "$5"
	server_ends
	in_b sysctl -qw net.ipv4.tcp_l3mdev_accept=0
}

# without a device outside
not_from_outside()
{
	rdma link delete tern_b0
	server -b 0.0.0.0
	reaches tern_b 10.9.0.2 "-f 10.9.0.1"
	not in_a bash -c "exec 3<>/dev/tcp/10.7.0.2/$port"
	server_ends
	dev_add b tern_b0 tern v0b
}

own_host() { over b b 10.9.0.2 "-b 10.9.0.2" "-f 10.9.0.2 -n 5 -x 10000"; }

more_of_vrfs()
{
	try "vrfs: a wildcard server of IPv6 is reached inside and outside" \
		wildcard_everywhere 0 :: fd00:9::2 fd00:9::1 fd00:7::2
	try "vrfs: the same with tcp_l3mdev_accept and IPv6" \
		wildcard_everywhere 1 :: fd00:9::2 fd00:9::1 fd00:7::2
	try "vrfs: a server of the VRF alone is not reached from outside" not_from_outside
	try "vrfs: a connection to the same host" own_host
}

# arp_ignore 0|1: By default a host answers ARP for each of its addresses at each netdev. In the
# VRF nd would answer for v0b's address, too. Its answer is the later one, so it may stay, and
# packets for v0b would reach the VRF.
arp_ignore()
{
	local end

	for end in a b; do
		ip netns exec $end sysctl -qw net.ipv4.conf.all.arp_ignore="$1"
	done
}

vrfs()
{
	kind=vrf
	arp_ignore 1
	try "vrfs: devices outside of it" own_devices
	try "vrfs: devices in it" kind_up
	try "vrfs: a wildcard server is reached inside and outside" \
		wildcard_everywhere 0 0.0.0.0 10.9.0.2 10.9.0.1 10.7.0.2
	try "vrfs: the same with tcp_l3mdev_accept" \
		wildcard_everywhere 1 0.0.0.0 10.9.0.2 10.9.0.1 10.7.0.2
	[ -z "$long" ] || more_of_vrfs
	kind_down
	trunk_down
	arp_ignore 0
}

# ---- type of service and mark ------------------------------------------------------

packets() { tcpdump -nr "$TMP/pcap" "tcp port $port and $1" 2>/dev/null; }

# all_sent ADDRESS TOS: each packet from there has it: SYN or SYN-ACK, and data
all_sent()
{
	local tos="ip[1]" syn="tcp[13] & 2 != 0"

	[[ $1 != *:* ]] || { tos="(ip6[0:2] >> 4) & 0xff" syn="ip6[53] & 2 != 0"; }
	if packets "src host $1 and $tos != $2" | grep .; then return 1; fi
	packets "src host $1 and $tos = $2 and $syn" | has .
	packets "src host $1 and $tos = $2 and greater 1000" | has .
}

# tos_on_the_wire A B LISTEN: what the program asked for, less the bits of ECN
tos_on_the_wire()
{
	capture a v0a
	over b a "$2" "-b $3 -T 0x28" "-T 0x4b -n 15 -x 20000"
	capture_all
	capture_end
	all_sent "$1" 0x48
	all_sent "$2" 0x28
}

# a rule that sends what matches over the second wire, at both ends
second_route()
{
	local end

	for end in a b; do
		ip -n $end link set v1$end up
		ip -n $end rule add "$@" table 8
		ip -n $end route replace 10.7.0.0/24 dev v1$end table 8
	done
}

no_second_route()
{
	ip -n a rule del "$@" table 8
	ip -n b rule del "$@" table 8
}

sent() { ip netns exec "$1" cat "/sys/class/net/v1$1/statistics/tx_packets"; }

# uses_second A|B|- COMMAND...: traffic, whose packets from this end alone take that wire
uses_second()
{
	local which=$1 end before now
	declare -A before now

	shift
	for end in a b; do before[$end]=$(sent $end); done
	"$@"
	for end in a b; do
		now[$end]=$(($(sent $end) - before[$end]))
		echo "v1$end: ${now[$end]} packets"
		if [ $end = "$which" ]; then
			[ ${now[$end]} -gt 10 ]
		else
			[ ${now[$end]} -le 5 ] # ARP and IPv6's own
		fi
	done
}

tos_routes()
{
	second_route tos 0x08
	uses_second a over b a $IP_B "-b $IP_B" "-T 8 -n 15 -x 20000"
	uses_second b over b a $IP_B "-b $IP_B -T 8" "-n 15 -x 20000"
	uses_second - over b a $IP_B "-b $IP_B" "-n 15 -x 20000"
	no_second_route tos 0x08
}

tos()
{
	try "tos: devices" own_devices
	try "tos: IPv4, SYN and data of both ends have their own, wildcard server" \
		tos_on_the_wire $IP_A $IP_B 0.0.0.0
	try "tos: IPv6, SYN and data of both ends have their own" \
		tos_on_the_wire $IP6_A $IP6_B $IP6_B
	try "tos: routes are looked up by it" tos_routes
	trunk_down
}

# the responder's sockets take the mark of the SYN, if its netns says so
mark_of_the_syn()
{
	second_route fwmark 8
	in_b nft "add table inet t; add chain inet t c { type filter hook prerouting priority 0; };
		add rule inet t c tcp flags syn ip saddr $IP_A meta mark set 8"
	in_b sysctl -qw net.ipv4.tcp_fwmark_accept=1
	uses_second b over b a $IP_B "-b $IP_B" "-n 15 -x 20000"
	in_b sysctl -qw net.ipv4.tcp_fwmark_accept=0
	uses_second - over b a $IP_B "-b $IP_B" "-n 15 -x 20000"
	in_b nft delete table inet t
	no_second_route fwmark 8
}

mark()
{
	try "mark: devices" own_devices
	try "mark: a responder's packets have that of the SYN, with tcp_fwmark_accept" mark_of_the_syn
	trunk_down
}

# ---- all ---------------------------------------------------------------------------

# the kernel of a lane may lack some types
lacks()
{
	local type=$1 said
	local -A options=([vrf]="table 9" [vxlan]="id 8 dstport 4790" [vlan]="id 9")

	case $1 in
	tos | mark) return 1 ;;
	# it has no alias of the type, and without udev there is no /dev/net/tun to open
	tun)	modprobe -q tun || true ;;
	linklocal) type=macvlan ;;
	vlans | vrfs) type=${1%s} ;;
	esac
	# shellcheck disable=SC2086 # words
	said=$(ip link add probe type "$type" ${options[$type]:-} 2>&1) || true
	ip link delete probe 2>/dev/null || true
	[[ $said == *'Unknown device type'* ]]
}

ktap_header
wires_up
for wire in v1 v2; do
	ip link add ${wire}a netns a type veth peer name ${wire}b netns b
	ip -n a link set ${wire}a up
	ip -n b link set ${wire}b up
done
words=("$@")
if [ $# = 0 ] && [ -n "$long" ]; then
	read -ra words <<<"$groups $kinds"
elif [ $# = 0 ] && [ "${TERN_LANE:-}" = vm ]; then
	words=(vrfs)
elif [ $# = 0 ]; then
	words=(vlans tun tos)
fi
for word in "${words[@]}"; do
	if lacks "$word"; then
		ktap_test_skip "$word" "this kernel has no such netdev"
	elif [[ " $kinds " = *" $word "* ]]; then
		run_kind "$word"
	else
		$word
	fi
done
finish
