#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Connections that start and end over a network that loses packets: each comes up and
# ends, and nothing is left.

. ./lib.sh
. ./scene.sh
. ./netem.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: both ends are tern"

# rounds N: connections one after the other, each with a little traffic
rounds()
{
	local i
	server -k "$1"
	for ((i = 0; i < $1; i++)); do
		limit 30 in_a $vtraffic client -a $IP_B -p $port -n 3 -x 5000 -s "$i"
	done
	ends $server_pid
	nothing_left
	timed 20 eventually no_tcp a
	timed 20 eventually no_tcp b
}

# lost_once HOOK RULE: a connection comes up although one such packet is lost
lost_once()
{
	server -k 1
	drop_once "$1" "tcp $2"
	client -n 20 -x 2000
	timed 10 eventually ended $client_pid
	ends $server_pid
	dropped_one
	undrop
	grep -q operations "$TMP/client"
	nothing_left
}

# killed MODE PID_VARIABLE: kill a process while packets are lost; nothing is left
killed()
{
	traffic -m "$1"
	kill -9 "${!2}"
	timed 20 eventually ended $client_pid
	timed 20 eventually ended $server_pid
	nothing_left
}

device_goes()
{
	traffic
	timed 10 rdma link delete tern_a
	no_device tern_a
	timed 20 eventually ended $client_pid
	timed 20 eventually ended $server_pid
	dev_add a tern_a tern v0a
	rounds 1
}

topo_up
packets_as_on_a_wire
point "10 connections, 5% lost" under RetransSegs loss 5% -- rounds 10
# an MPA frame begins with "MPA ID Re", after 32 bytes of TCP header; the RTR is a Write
# without data: a ULPDU of 14 bytes that begins with 0xc1 0x40
point "the SYN lost once" lost_once input "flags & (syn|ack) == syn"
point "the SYN's answer lost once" lost_once output "flags & (syn|ack) == syn|ack"
point "the Request lost once" lost_once input "sport > 0 @th,256,64 == 0x4d50412049442052"
point "the Reply lost once" lost_once output "sport > 0 @th,256,64 == 0x4d50412049442052"
point "the RTR lost once" lost_once input "sport > 0 @th,256,32 == 0x000ec140"
# b sends no other such FPDU, and before no other at all
point "the answer to the offer lost once" lost_once output "sport > 0 @th,256,32 == 0x000ec140"
# a RST is sent only once: an end that misses it and sends nothing needs keepalive probes
in_a tern set tern_a keepalive-s 1
in_b tern set tern_b keepalive-s 1
for mode in write read; do
	point "kill -9 of the client, 5% lost, $mode" \
		under RetransSegs loss 5% -- killed $mode client_pid
	point "kill -9 of the server, 5% lost, $mode" \
		under RetransSegs loss 5% -- killed $mode server_pid
done
point "a device is removed, 5% lost" under RetransSegs loss 5% -- device_goes
finish
