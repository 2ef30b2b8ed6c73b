#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Unusual segmentation: FPDUs in the smallest segments, byte by byte, split anywhere, and
# many in one segment; every byte of the payload is verified.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: both ends are tern"

settings() { in_a tern set tern_a "$@"; in_b tern set tern_b "$@"; }

# verified MODE [OPTION]...: verified traffic between a and b
verified()
{
	pair 60 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m "$1" "${@:2}"
	grep -q ' operations' "$TMP/client"
}

# ---- small segments -------------------------------------------------------------

# advmss A B: the MSS that a and b advertise
advmss()
{
	ip -n a route change 10.7.0.0/24 dev v0a src $IP_A advmss "$1"
	ip -n b route change 10.7.0.0/24 dev v0b src $IP_B advmss "$2"
}

# mss_is CONNS LOW HIGH: the MSS of the connections is in this range
mss_is()
{
	"$1" | python3 -c '
import json, sys
mss = max(json.load(sys.stdin), key=lambda c: c["nr"])["mss"]
print("mss", mss)
sys.exit(not int(sys.argv[1]) <= mss <= int(sys.argv[2]))' "$2" "$3"
}

# TCP options take 12 bytes of the 88, or of the 1460
small_segments()
{
	advmss 88 88
	verified "$1" -n 40 -x 20000
	mss_is conns_of_a 48 88
	mss_is conns_of_b 48 88
}

small_segments_one_way()
{
	advmss 1460 88
	verified mixed -n 40 -x 20000
	mss_is conns_of_a 48 88
	mss_is conns_of_b 1400 1460
}

# ---- a middlebox that splits segments ----------------------------------------------

# through TO_SERVER TO_CLIENT OPTION...: traffic through cutter.py, which also runs in b
through()
{
	local cutter between

	server -k 1
	between=$(new_port)
	ip netns exec b ./cutter.py $IP_B "$between" $port "$1" "$2" >"$TMP/cut" 2>&1 &
	cutter=$!
	wait_for_listen "$between" || { cat "$TMP/cut"; return 1; }
	limit 60 in_a $vtraffic client -a $IP_B -p "$between" "${@:3}" >"$TMP/client" 2>&1 ||
		{ cat "$TMP/client" "$TMP/server" "$TMP/cut"; return 1; }
	ends $server_pid
	eventually test -s "$TMP/cut"
	kill $cutter
	cat "$TMP/cut"
}

segments_in() { tcp_counter "$1" InSegs; }

# keep TCP from merging bytes that are sent one by one: large initial window, no autocork
send_each_octet()
{
	ip -n b route change 10.7.0.0/24 dev v0b src $IP_B initcwnd 10000
	ip -n b route change local $IP_B dev lo table local scope host src $IP_B initcwnd 10000
	in_b sysctl -qw net.ipv4.tcp_autocorking=0
}

# byte_by_byte OPTION...: both hosts receive nearly as many segments as bytes
byte_by_byte()
{
	local before_a before_b to_server to_client

	before_a=$(segments_in a)
	before_b=$(segments_in b)
	through bytes bytes "$@"
	read -r to_server to_client <"$TMP/cut"
	echo "a: $(($(segments_in a) - before_a)) segments, b: $(($(segments_in b) - before_b))"
	[ $(($(segments_in a) - before_a)) -ge $((to_client * 9 / 10)) ]
	[ $(($(segments_in b) - before_b)) -ge $((to_server * 9 / 10)) ]
}

# ---- GRO ---------------------------------------------------------------------------

# packets are sent one by one, a delay makes them arrive together, and GRO merges them
joined()
{
	local joined

	in_a ethtool -K v0a tso off gso off
	in_b ethtool -K v0b tso off gso off gro on
	in_a ethtool -K v0a gro on
	in_a tc qdisc add dev v0a root netem delay 3ms
	in_b tc qdisc add dev v0b root netem delay 3ms
	capture b v0b
	verified "$@"
	capture_end
	in_a tc qdisc del dev v0a root
	in_b tc qdisc del dev v0b root
	joined=$(tcpdump -nr "$TMP/pcap" "greater 2000 and dst $IP_B" 2>/dev/null | wc -l)
	echo "$joined packets were joined"
	[ "$joined" -gt 0 ]
}

# ---- FPDUs longer than segments ------------------------------------------------------

# long COMMAND...: traffic whose ends agree on long FPDUs
mulpdu=32786
long()
{
	"$@"
	soon expect conns_of_a mulpdu=$mulpdu
}

# at_mss MSS OPTION...: MSS 536 is that of MTU 576, 8960 that of 9000
at_mss()
{
	advmss "$1" "$1"
	long verified "${@:2}"
	mss_is conns_of_a $(($1 - 12)) "$1"
	advmss 1460 1460
}

jumbo_frames()
{
	ip -n a link set v0a mtu 9000
	ip -n b link set v0b mtu 9000
	at_mss 8960 "$@"
	ip -n a link set v0a mtu 1500
	ip -n b link set v0b mtu 1500
}

# times that a waited for an ACK of b's, until one of their timers came
rests()
{
	echo $(($(tcp_counter b DelayedACKs) + $(tcp_counter a TCPLossProbes) +
		$(tcp_counter a TCPTimeouts)))
}

# Four segments are in flight at most, fewer than an FPDU, and the receive buffer is small.
# The part of an FPDU that waits in it takes from the window; TCP must not delay its ACKs
# because of that. The segments arrive one by one, as GRO would count them as one.
no_rest_inside()
{
	local before

	in_a ethtool -K v0a tso off gso off
	in_b ethtool -K v0b gro off
	in_b sysctl -qw net.ipv4.tcp_rmem="4096 131072 131072"
	ip -n a route change 10.7.0.0/24 dev v0a src $IP_A cwnd lock 4
	before=$(rests)
	long verified write -n 60 -x 300000
	advmss 1460 1460
	in_b sysctl -qw net.ipv4.tcp_rmem="4096 131072 6291456"
	echo "$(($(rests) - before)) rests"
	[ $(($(rests) - before)) -le 60 ]
}

# ---- windows of one byte --------------------------------------------------------------

# Both hosts are told six times that the other has room for one byte: Linux then sends one at
# a time, every 200 ms. Scaled, a window would be 256 bytes or none.
pinch()
{
	local host

	sleep 0.1
	for _ in 1 2 3 4 5 6; do
		for host in a b; do
			ip netns exec $host nft 'add table inet t
				add chain inet t c { type filter hook output priority 0; }
				add rule inet t c tcp window set 1'
		done
		sleep 1.2
		in_a nft delete table inet t
		in_b nft delete table inet t
		sleep 0.3
	done
}

# count packets of one byte: 52 are the headers of IP and TCP, with timestamps
count_lone_bytes()
{
	ip netns exec "$1" nft 'add table inet n
		add chain inet n c { type filter hook output priority 1; }
		add rule inet n c ip length 53 counter'
}

lone_bytes()
{
	{ in_a nft list table inet n; in_b nft list table inet n; } |
		sed -n 's/.* packets \([0-9]*\) .*/\1/p' | awk '{ n += $1 } END { print n }'
}

one_byte_windows()
{
	local pinching lone status

	in_a sysctl -qw net.ipv4.tcp_window_scaling=0
	in_b sysctl -qw net.ipv4.tcp_window_scaling=0
	count_lone_bytes a
	count_lone_bytes b
	pinch &
	pinching=$!
	attempt verified "$@"
	kill $pinching 2>/dev/null || true
	wait $pinching || true
	lone=$(lone_bytes)
	in_a nft 'destroy table inet t; destroy table inet n'
	in_b nft 'destroy table inet t; destroy table inet n'
	in_a sysctl -qw net.ipv4.tcp_window_scaling=1
	in_b sysctl -qw net.ipv4.tcp_window_scaling=1
	echo "$(grep operations "$TMP/client"); $lone packets of one byte"
	[ "$lone" -ge 5 ]
	return "$status"
}

topo_up
settings features 7306,v2
for mode in send write read; do
	point "MSS 88, $mode" small_segments $mode
done
point "MSS 88 one way" small_segments_one_way
settings markers on
point "MSS 88, markers" small_segments mixed
settings markers off
advmss 1460 1460
for mode in send write read; do
	point "cut anywhere, $mode" through random random -m $mode -n 40 -x 30000
	point "in lumps, $mode" through lumps lumps -m $mode -n 60 -x 300000 -d 16
done
settings markers on
point "cut anywhere, markers" through random random -m mixed -n 40 -x 30000
settings markers off
point "joined by GRO" joined mixed -n 60 -x 300000 -d 16
point "windows of one byte" one_byte_windows mixed -n 9000 -x 30000 -d 16
settings features 7306,v2,long-fpdu
for mode in send write read; do
	point "long FPDUs: MSS 536, $mode" at_mss 536 $mode -n 30 -x 300000 -d 16
done
point "long FPDUs: MTU 9000" jumbo_frames mixed -n 60 -x 300000 -d 16
point "long FPDUs: cut anywhere" long through random random -m mixed -n 20 -x 200000
point "long FPDUs: in lumps" long through lumps lumps -m mixed -n 60 -x 300000 -d 16
point "long FPDUs: joined by GRO" long joined mixed -n 60 -x 300000 -d 16
point "long FPDUs: no rest for an ACK inside one" no_rest_inside
point "long FPDUs: windows of one byte" one_byte_windows mixed -n 3000 -x 100000 -d 16
settings markers on
point "long FPDUs: cut anywhere, markers" \
	long through random random -m mixed -n 20 -x 200000
settings markers off max-fpdu 64750
mulpdu=64768
point "FPDUs of 64768 octets: MSS 536" at_mss 536 mixed -n 30 -x 300000 -d 16
point "FPDUs of 64768 octets: MTU 9000" jumbo_frames mixed -n 60 -x 300000 -d 16
point "FPDUs of 64768 octets: cut anywhere" long through random random -m mixed -n 20 -x 200000
point "FPDUs of 64768 octets: no rest for an ACK inside one" no_rest_inside
settings markers on
point "FPDUs of 64768 octets: in lumps, markers" \
	long through lumps lumps -m mixed -n 60 -x 300000 -d 16
settings markers off max-fpdu 32768
mulpdu=32786
settings features 7306,v2
send_each_octet
for mode in send write read; do
	point "byte by byte, $mode" byte_by_byte -m $mode -n 8 -x 400
done
settings markers on
point "byte by byte, markers" byte_by_byte -m mixed -n 8 -x 1500
settings markers off
settings features 7306,v2,long-fpdu
point "byte by byte, long FPDUs" long byte_by_byte -m mixed -n 6 -x 2500
finish
