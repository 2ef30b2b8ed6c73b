#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What the kernel shows: counters, the driver's details of each object, tracepoints,
# settings. Short, since all of it depends on the kernel's version.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its counters, details and tracepoints"

verified()
{
	pair 30 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m mixed -n 30 -x 20000
}

is() { [ "$1" = "$2" ] || { echo "is $1, not $2"; return 1; }; }

counters()
{
	local name dev bad=0
	rdma statistic show link tern_a/1 >"$TMP/before-a"
	rdma statistic show link tern_b/1 >"$TMP/before-b"
	verified
	rdma statistic show link tern_a/1 >"$TMP/after-a"
	rdma statistic show link tern_b/1 >"$TMP/after-b"
	for name in tx_fpdu tx_bytes tx_burst rx_fpdu rx_bytes doorbell cm_established; do
		for dev in a b; do
			[ "$(value after-$dev $name)" -gt "$(value before-$dev $name)" ] ||
				{ echo "$dev: $name did not move"; bad=1; }
		done
	done
	[ "$(value after-a cm_connect)" = $(($(value before-a cm_connect) + 1)) ]
	[ "$(value after-b cm_accept)" = $(($(value before-b cm_accept) + 1)) ]
	for name in rx_crc_err rx_marker_err rx_ddp_err rx_rdmap_err sq_bad_entry rq_bad_entry cq_overflow; do
		for dev in a b; do
			[ "$(value after-$dev $name)" = 0 ] || { echo "$dev: $name is not 0"; bad=1; }
		done
	done
	# each end received as much as the other sent
	is $(($(value after-a tx_fpdu) - $(value before-a tx_fpdu))) \
		$(($(value after-b rx_fpdu) - $(value before-b rx_fpdu)))
	is $(($(value after-b tx_bytes) - $(value before-b tx_bytes))) \
		$(($(value after-a rx_bytes) - $(value before-a rx_bytes)))
	return $bad
}
value() { grep -o " $2 [0-9]*" "$TMP/$1" | awk '{ print $2 }'; }

# bound: the one counter of a QP that the core has
bound()
{
	rdma statistic qp show link tern_a/1 | tee "$TMP/qp"
	is "$(grep -c LQPN "$TMP/qp")" 1
}
bound_counts() { bound && [ "$(value qp tx_fpdu)" -gt 0 ] && [ "$(value qp doorbell)" -gt 0 ]; }
total() { cat "/sys/class/infiniband/tern_$1/ports/1/hw_counters/$2"; }

# per QP, of each program and by hand; the device's counters are the sum, with those that ended
qp_counters()
{
	local sent got qpn

	rdma statistic qp set link tern_a/1 auto type on
	sent=$(total a tx_fpdu) got=$(total b rx_fpdu)
	verified
	is $(($(total a tx_fpdu) - sent)) $(($(total b rx_fpdu) - got))
	[ "$(total a tx_fpdu)" -gt "$sent" ]
	is "$(total a tx_fpdu)" "$(cat /sys/class/infiniband/tern_a/ports/1/counters/port_xmit_packets)"
	traffic
	eventually bound_counts
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
	eventually not bound
	rdma statistic qp set link tern_a/1 auto off

	server -S
	client -c
	qpn=$(rdma resource show qp link tern_a | grep "pid $client_pid" | grep -o 'lqpn [0-9]*')
	not bound
	# shellcheck disable=SC2086 # words
	rdma statistic qp bind link tern_a/1 $qpn
	bound
	grep "LQPN: <${qpn#* }>" "$TMP/qp"
	is "$(value qp tx_fpdu)" 0
	# shellcheck disable=SC2086
	rdma statistic qp unbind link tern_a/1 cntn "$(grep -o 'cntn [0-9]*' "$TMP/qp" | cut -c6-)" $qpn
	not bound
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
}

# settings are stored and shown, and take effect
settings_hold()
{
	in_a tern set tern_a crc off markers on close-ms 1500
	in_b tern set tern_b crc off
	in_a tern show tern_a | tee "$TMP/shown"
	in_a tern --json show tern_a | python3 -c '
import json, sys
s = json.load(sys.stdin)[0]["settings"]
print(s)
sys.exit(s["crc"] or not s["markers"] or s["close_ms"] != 1500)'
	grep -qE 'crc +off' "$TMP/shown"
	details off
	in_a tern set tern_a crc on markers off close-ms 2000
	in_b tern set tern_b crc on
	details on
}

# details CRC: the details of each object, for a connection with CRC on or off
details()
{
	local kind field
	server -S
	client -c
	rdma -d resource show qp link tern_a -dd | tee "$TMP/qp"
	for field in stream sq_size sq_open rq_size mpa_crc tx_markers ord ird; do
		grep -q "drv_$field " "$TMP/qp"
	done
	grep -q 'drv_stream RTS' "$TMP/qp"
	grep -q "drv_mpa_crc $1" "$TMP/qp"
	grep -q "pid $client_pid" "$TMP/qp"
	for kind in cq mr pd cm_id ctx; do
		rdma resource show $kind >"$TMP/res"
		grep -E "(dev|link) tern_a" "$TMP/res" | grep "pid $client_pid" ||
			{ echo "no $kind"; cat "$TMP/res"; return 1; }
	done
	rdma resource show srq | grep "tern_b.*pid $server_pid"
	rdma resource show cm_id | grep "tern_a.*dst-addr $IP_B:$port"
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
}

# the files that programs read of any RDMA port: in units of 4 bytes, and of FPDUs
port_counters()
{
	local dir=/sys/class/infiniband/tern_a/ports/1 name
	verified
	is "$(($(cat $dir/hw_counters/tx_bytes) / 4))" "$(cat $dir/counters/port_xmit_data)"
	is "$(($(cat $dir/hw_counters/rx_bytes) / 4))" "$(cat $dir/counters/port_rcv_data)"
	is "$(cat $dir/hw_counters/tx_fpdu)" "$(cat $dir/counters/port_xmit_packets)"
	is "$(cat $dir/hw_counters/rx_fpdu)" "$(cat $dir/counters/port_rcv_packets)"
	for name in port_rcv_errors symbol_error link_downed port_xmit_wait VL15_dropped; do
		is "$(cat $dir/counters/$name)" 0
	done
	[ "$(cat $dir/counters/port_rcv_data)" -gt 0 ]
	# iWARP has no multicast; and no management agent, so no umad, came with them
	not test -e $dir/counters/multicast_rcv_packets
	not grep -l tern /sys/class/infiniband_mad/umad*/ibdev
}

tracepoints()
{
	local event missing=0
	echo 1 >/sys/kernel/tracing/tracing_on
	echo >/sys/kernel/tracing/trace
	echo 1 >/sys/kernel/tracing/events/tern/enable
	verified
	echo 0 >/sys/kernel/tracing/events/tern/enable
	for event in fpdu_tx fpdu_rx place cqe qp_state cm_state; do
		if ! grep -m1 "tern_$event: " /sys/kernel/tracing/trace; then
			echo "no tern_$event"
			missing=1
		fi
	done
	return $missing
}

# calls REGEX: the module's file has the name of each kernel function that it calls
calls() { grep -qE "$1" "$(modinfo -n tern)"; }
no_firmware()
{
	calls ib_register_device
	not calls 'request_firmware|firmware_request'
	[ -z "$(modinfo -F firmware tern)" ]
}

topo_up
point "DDP-114, RDMAP-149: nothing loads a firmware" no_firmware
point "counters count, and agree with the peer's" counters
point "sysfs has the counters of any RDMA port" port_counters
point "QPs bound to a counter count there, and the sum is the device's" qp_counters
point "rdma resource show has the driver's details" details on
point "the six tracepoints fire" tracepoints
point "settings are kept, shown and followed" settings_hold
finish
