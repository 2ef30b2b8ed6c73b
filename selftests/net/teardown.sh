#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs, devices, links, namespaces and the module end in any order within 5 s, and
# leave nothing. The runner checks the kernel log.

. ./lib.sh
. ./scene.sh

module=$TERN_TYPE

# ---- processes that are killed ----------------------------------------------

# learned FILE: the output of a survivor shows that it got the event
learned()
{
	cat "$1"
	grep -Eqi 'disconnected|flushed|async event' "$1"
}

# kill_one client|server: the other process gets the event and ends
kill_one()
{
	if [ "$1" = client ]; then
		kill -9 $client_pid
		ends $client_pid $server_pid
		learned "$TMP/server"
	else
		kill -9 $server_pid
		ends $server_pid $client_pid
		learned "$TMP/client"
	fi
	nothing_left
}

# kill_during MODE WHO: the same under load
kill_during()
{
	traffic -m "$1"
	kill_one "$2"
}

kill_ipv6()
{
	server -b "$(server_address $IP6_B ::)"
	client -a $IP6_B -t 600 -x 200000
	in_a sh -c "ss -6Htn dport = :$port | grep ESTAB"
	kill_one "$1"
	within 5 eventually no_tcp a
	within 5 eventually no_tcp b
}

kill_both()
{
	traffic
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
	nothing_left
}

kill_idle()
{
	server
	client -c
	kill -9 $client_pid
	ends $client_pid $server_pid
	nothing_left
}

connecting_client() # [OPTION]...
{
	: >"$TMP/client"
	ip netns exec a $vtraffic client -a $IP_B -p $port "$@" >"$TMP/client" 2>&1 &
	client_pid=$!
	eventually sh -c "rdma resource show qp link $DEV_A | grep ."
}

kill_connecting()
{
	silent_listener
	connecting_client
	eventually in_a sh -c "ss -Htn dport = :$port | grep ESTAB"
	kill -9 $client_pid
	ends $client_pid
	nothing_left
	ip netns pids b | xargs -r kill -9
}

# a process is killed while a thread of it destroys an id that is connecting
kill_destroying()
{
	silent_listener
	connecting_client -D
	eventually in_a sh -c "ss -Htn dport = :$port | grep ESTAB"
	eventually grep -qx 'vtraffic: destroying' "$TMP/client"
	kill -9 $client_pid
	ends $client_pid
	not grep destroyed "$TMP/client"
	nothing_left
	ip netns pids b | xargs -r kill -9
}

kill_syn_sent()
{
	drop_in_b "tcp flags syn counter drop"
	port=$((port + 1))
	connecting_client
	eventually in_b sh -c "nft list table inet t | grep 'packets [1-9]'"
	kill -9 $client_pid
	ends $client_pid
	nothing_left
	undrop
}

# the server is killed while a TCP client has not sent its Request
kill_half_open()
{
	server
	sleep 1000 | ip netns exec a busybox nc $IP_B $port >/dev/null &
	eventually in_a sh -c "ss -Htn dport = :$port | grep ESTAB"
	kill -9 $server_pid
	ends $server_pid
	nothing_left
	within 5 eventually no_tcp b
	ip netns pids a | xargs -r kill -9
}

# the server is killed before it answers its CONNECT_REQUEST
kill_asked() # LISTEN-AT CONNECT-TO
{
	server -A -b "$(server_address "$2" "$1")"
	connecting_client -a "$2"
	eventually grep -qx 'vtraffic: asked' "$TMP/server"
	kill -9 $server_pid
	ends $server_pid
	# the client gets the event, and does not wait for its own timer
	ends $client_pid
	cat "$TMP/client"
	grep -q 'RDMA_CM_EVENT_\(REJECTED\|DISCONNECTED\|CONNECT_ERROR\|UNREACHABLE\)' "$TMP/client"
	nothing_left
	within 5 eventually no_tcp a
	within 5 eventually no_tcp b
}

# The server is killed after it accepted, before the RTR and ESTABLISHED. The RTR timer is
# longer than the time that this may take.
kill_before_rtr()
{
	server
	in_a ./mpa_peer.py to_withheld_rtr $IP_B $port >"$TMP/peer" &
	eventually grep -q answered "$TMP/peer"
	expect conns_of_b ended=false state=RTR_WAIT rtr=null
	kill -0 $server_pid
	kill -9 $server_pid
	ends $server_pid
	nothing_left
	within 5 eventually no_tcp b
	within 5 eventually grep 'closed' "$TMP/peer"
}

# MPA-123: the peer disappears without sending a packet: TCP gives up
peer_falls_silent()
{
	in_a sysctl -qw net.ipv4.tcp_retries2=3
	traffic -m write
	drop_in_b drop
	# four retransmission timeouts of TCP, each twice as long as the one before
	timed 10 eventually ended $client_pid
	learned "$TMP/client"
	kill -9 $server_pid
	ends $server_pid
	undrop
	in_a sysctl -qw net.ipv4.tcp_retries2=15
	nothing_left
}

# ---- removal of devices --------------------------------------------------------

traffic_ends()
{
	ends $client_pid $server_pid
	objects_gone
}

link_delete_traffic()
{
	traffic
	within 5 rdma link delete "$1"
	no_device "$1"
	traffic_ends
	if [ "$1" = "$DEV_A" ]; then
		dev_add a "$DEV_A" "$TERN_TYPE" v0a
	else
		dev_add b "$DEV_B" "$TERN_PEER" v0b
	fi
}

# query everything in a loop until killed, while the device exists and after
dump_all()
{
	set +e
	while :; do
		rdma -d resource show qp
		rdma -d resource show cq
		rdma -d resource show mr
		rdma -d resource show cm_id
		rdma statistic show
		ip netns exec a "$TERN_TYPE" show connections --all "$DEV_A"
	done >/dev/null 2>&1
}

link_delete_dumped()
{
	local pids=() status=0

	for _ in 1 2; do
		dump_all &
		pids+=($!)
	done
	for _ in 1 2 3; do
		link_delete_traffic "$DEV_A" || status=1
	done
	# check that the loops still run
	kill "${pids[@]}" || status=1
	wait "${pids[@]}" 2>/dev/null || true
	return "$status"
}

link_delete_connecting()
{
	silent_listener
	connecting_client
	within 5 rdma link delete "$DEV_A"
	ends $client_pid
	ip netns pids b | xargs -r kill -9
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
}

new_wires()
{
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	topo_down
	wires_up
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

netdev_delete_traffic()
{
	traffic
	within 5 ip -n a link delete v0a
	within 5 eventually no_device "$DEV_A"
	within 5 eventually no_device "$DEV_B"
	traffic_ends
}

# a device is removed while a stopped process, which cannot react, has a context
stopped()
{
	hold
	kill -STOP $holder_pid
	within 5 "$@"
	within 5 eventually no_device "$DEV_A"
	kill -CONT $holder_pid
	kill -9 $holder_pid
	ends $holder_pid
}

stopped_link_delete()
{
	stopped rdma link delete "$DEV_A"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
}

stopped_netdev_delete()
{
	stopped ip -n a link delete v0a
}

# a device is removed while both processes are stopped under load
stopped_traffic()
{
	traffic
	kill -STOP $client_pid $server_pid
	within 5 rdma link delete "$DEV_A"
	within 5 rdma link delete "$DEV_B"
	kill -CONT $client_pid $server_pid
	traffic_ends
}

# ---- the module -------------------------------------------------------------------

# refused_rmmod [MODULE]
refused_rmmod()
{
	! rmmod "${1:-$module}" 2>"$TMP/err" || return 1
	cat "$TMP/err"
	grep -qi 'in use' "$TMP/err"
}

rmmod_while_held()
{
	hold
	refused_rmmod
	rdma link show "$DEV_A/1"
	kill -STOP $holder_pid
	refused_rmmod
	kill -9 $holder_pid
	ends $holder_pid
	nothing_left
}

rmmod_during_traffic()
{
	traffic
	refused_rmmod
	kill -9 $client_pid $server_pid
	ends $client_pid $server_pid
}

# an endpoint calls iw_cm for as long as it has an id, which may be after rdma_cm was unloaded
iw_cm_stays()
{
	rmmod rdma_ucm rdma_cm
	refused_rmmod iw_cm
	modprobe rdma_ucm
}

# the module is unloaded while it has devices but no user
rmmod_removes_devices()
{
	rdma link show "$DEV_A/1"
	within 5 rmmod "$module"
	no_device "$DEV_A"
	no_device "$DEV_B"
	modprobe "$module"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

# the module is unloaded while a server listens: a listener of rdma_cm holds no context
rmmod_listening()
{
	server
	within 5 rmmod "$module"
	modprobe "$module"
	kill -9 $server_pid
	ends $server_pid
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

# ---- clients of the RDMA core that are loaded later --------------------------------

# clients_late MODULE...: load them after the links, in this order, so that the core removes
# them from a device in reverse order, all before tern's own client
clients_late()
{
	local m
	rdma link delete "$DEV_A"
	rdma link delete "$DEV_B"
	rmmod "$module"
	rmmod rdma_ucm rdma_cm iw_cm ib_cm ib_uverbs
	modprobe "$module"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
	for m; do
		modprobe "$m"
	done
}

clients_first()
{
	rmmod "$module"
	modprobe -a ib_uverbs rdma_ucm "$module"
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

# The client gets no answer for longer than this may take. It is stopped, so that its exit
# cannot end the startup: rdma_cm waits for its id.
link_delete_connecting_stopped()
{
	silent_listener
	connecting_client
	eventually in_a sh -c "ss -Htn dport = :$port | grep ESTAB"
	kill -STOP $client_pid
	within 5 rdma link delete "$DEV_A"
	no_device "$DEV_A"
	kill -CONT $client_pid
	ends $client_pid
	ip netns pids b | xargs -r kill -9
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
}

# the same for a server that waits for the RTR after it accepted
link_delete_before_rtr_stopped()
{
	server
	: >"$TMP/peer"
	in_a ./mpa_peer.py to_withheld_rtr $IP_B $port >"$TMP/peer" &
	eventually grep -q answered "$TMP/peer"
	expect conns_of_b ended=false state=RTR_WAIT
	kill -STOP $server_pid
	within 5 rdma link delete "$DEV_B"
	no_device "$DEV_B"
	kill -CONT $server_pid
	ends $server_pid
	within 5 eventually grep 'closed' "$TMP/peer"
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

# the device is removed while the server has not answered its CONNECT_REQUEST
link_delete_asked()
{
	server -A
	connecting_client
	eventually grep -qx 'vtraffic: asked' "$TMP/server"
	within 5 rdma link delete "$DEV_B"
	no_device "$DEV_B"
	ends $client_pid
	kill -9 $server_pid
	ends $server_pid
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

late() # WHO MODULE...
{
	point "$1: links first" clients_late "${@:2}"
	point "$1: link delete during traffic, the server's" link_delete_traffic "$DEV_B"
	point "$1: link delete while a stopped client connects" link_delete_connecting_stopped
	point "$1: link delete while a server that was asked has not answered" link_delete_asked
	point "$1: link delete while a stopped server awaits the RTR" \
		link_delete_before_rtr_stopped
	point "$1: rmmod with a server that listens" rmmod_listening
}

# tern uses uverbs here, so uverbs was loaded before tern
needs_uverbs() { grep -q '^ib_uverbs .*tern' /proc/modules; }

# ---- packets that are lost once -----------------------------------------------------

lost_fin()
{
	server -k 1
	drop_once "$1" "tcp flags & fin == fin"
	client -n 20 -x 2000
	ends $client_pid $server_pid
	dropped_one
	grep -q operations "$TMP/client"
	grep -q served "$TMP/server"
	nothing_left
	within 5 eventually no_tcp a
	undrop
}

# the FIN is lost after the process exited: only the kernel can retransmit it
lost_fin_of_dead()
{
	server
	client -c
	drop_once input "tcp flags & fin == fin"
	kill -9 $client_pid
	ends $client_pid $server_pid
	dropped_one
	nothing_left
	undrop
}

# lose a Terminate: after 32 bytes of TCP header, octets 2 and 3 of the FPDU are DDP's
# (untagged, last: & 0xc3 is 0x41) and RDMAP's (opcode 7, of version 1 or 2)
lost_terminate() # HOOK COMMAND...
{
	drop_once "$1" "@th,272,8 & 0xc3 == 0x41 @th,280,8 & 0x1f == 0x07"
	"${@:2}" ../verbs/verbs_test "a deregistered remote key"
	dropped_one
	nothing_left
	within 5 eventually no_tcp a ''
	within 5 eventually no_tcp b ''
	undrop
}

# swapped COMMAND...: run it with a and b exchanged, so that a's key is the wrong one
swapped()
{
	# shellcheck disable=SC2016 # for the inner one
	limit 30 env IP_A="$IP_B" IP_B="$IP_A" unshare -m bash -ec '
		touch "$0"
		mount --bind /run/netns/a "$0"
		mount --bind /run/netns/b /run/netns/a
		mount --bind "$0" /run/netns/b
		"$@"' "$TMP/swap" "$@"
}

if ! grep -q "^$module " /proc/modules; then
	modprobe "$module"
fi
topo_up
for mode in send write read; do
	point "kill -9 of the client during $mode" kill_during $mode client
	point "kill -9 of the server during $mode" kill_during $mode server
done
point "kill -9 of the client during send, IPv6" kill_ipv6 client
point "kill -9 of the server during send, IPv6" kill_ipv6 server
point "kill -9 of both during traffic" kill_both
point "kill -9 of an idle connection's client" kill_idle
point "kill -9 while the peer's answer is awaited" kill_connecting
point "kill -9 while an id that connects is destroyed" kill_destroying
point "kill -9 while TCP sends SYNs without an answer" kill_syn_sent
point "kill -9 of a server with a half-open startup" kill_half_open
point "kill -9 of a server that was asked and has not answered" kill_asked 0.0.0.0 $IP_B
point "kill -9 of a server that was asked and has not answered, IPv6" kill_asked :: $IP6_B
# siw has no setting for this timer
[ "$TERN_PEER" != tern ] ||
	point "kill -9 of a server that accepted and awaits the RTR" kill_before_rtr
point "a peer that falls silent" peer_falls_silent
point "link delete during traffic, the client's" link_delete_traffic "$DEV_A"
point "link delete during traffic, the server's" link_delete_traffic "$DEV_B"
point "link delete while all its objects are dumped" link_delete_dumped
point "link delete while connecting" link_delete_connecting
point "netdev removed during traffic" netdev_delete_traffic
new_wires
point "link delete while a stopped process holds a context" stopped_link_delete
point "netdev removed while a stopped process holds a context" stopped_netdev_delete
new_wires
point "links deleted while both ends of traffic are stopped" stopped_traffic
new_wires
point "rmmod is refused while a process holds a context" rmmod_while_held
point "rmmod is refused during traffic" rmmod_during_traffic
# siw does not keep it
[ "$TERN_TYPE" != tern ] || point "iw_cm is not unloaded before tern" iw_cm_stays
point "rmmod removes devices" rmmod_removes_devices
point "rmmod with a server that listens" rmmod_listening
if [ "$TERN_TYPE-$TERN_PEER" = tern-tern ]; then
	late "rdma_cm after the links" ib_uverbs rdma_cm rdma_ucm
	needs_uverbs || late "rdma_cm and uverbs after the links, uverbs goes first" \
		rdma_cm ib_uverbs rdma_ucm
	point "clients removed before links again" clients_first
fi
point "a FIN to the server lost once" lost_fin input
point "a FIN to the client lost once" lost_fin output
point "the FIN of a killed process lost once" lost_fin_of_dead
point "a Terminate to the client lost once" lost_terminate output limit 30
point "a Terminate to the server lost once" lost_terminate input swapped
finish
