#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# IPsec below a connection: ESP in transport mode between the two hosts, whose SAs are
# replaced and deleted under load. An IKE phase 2 delete must not end the stream (RFC 5040
# 8.2.2, RFC 5041 8.4.2). Every byte of the payload is verified.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: both ends are tern"
modprobe -qan xfrm_user esp4 2>/dev/null || skip_all "this kernel lacks xfrm_user or esp4"

# ---- the work of IKE ------------------------------------------------------------

# each generation of SAs has its own SPIs and keys
spi_ab() { printf '0x%x' $((0x1000 + $1)); }
spi_ba() { printf '0x%x' $((0x2000 + $1)); }
key() { printf "'rfc4106(gcm(aes))' 0x%040x 128" $(($1 * 0x1234567)); }

# on_both: run the ip commands of stdin on both hosts
on_both()
{
	tee "$TMP/batch" | ip -n a -batch -
	ip -n b -batch "$TMP/batch"
}

add_sas()
{
	on_both <<-EOF
	xfrm state add src $IP_A dst $IP_B proto esp spi $(spi_ab "$1") reqid 1 mode transport aead $(key "$(spi_ab "$1")")
	xfrm state add src $IP_B dst $IP_A proto esp spi $(spi_ba "$1") reqid 1 mode transport aead $(key "$(spi_ba "$1")")
	EOF
}

delete_sas()
{
	on_both <<-EOF
	xfrm state delete src $IP_A dst $IP_B proto esp spi $(spi_ab "$1")
	xfrm state delete src $IP_B dst $IP_A proto esp spi $(spi_ba "$1")
	EOF
}

# policies HOST OWN PEER: allow only packets in ESP
policies()
{
	ip -n "$1" xfrm policy add src "$2" dst "$3" dir out \
		tmpl src "$2" dst "$3" proto esp reqid 1 mode transport
	ip -n "$1" xfrm policy add src "$3" dst "$2" dir in \
		tmpl src "$3" dst "$2" proto esp reqid 1 mode transport
}

# bytes that b received in ESP from a, by the newest SAs
carried()
{
	ip -n b -s xfrm state get src $IP_A dst $IP_B proto esp spi "$(spi_ab "$1")" |
		sed -n '/lifetime current/{n;s/^[[:space:]]*\([0-9]*\)(bytes).*/\1/p}'
}
carries() { [ "$(carried "$1")" -gt 10000 ]; }

# packets that either host dropped for want of an SA
outages()
{
	awk '/XfrmOutNoStates/ { n += $2 } END { print n }' \
		<(in_a cat /proc/net/xfrm_stat) <(in_b cat /proc/net/xfrm_stat)
}
missed() { [ "$(outages)" -gt "$1" ]; }

# ---- traffic ----------------------------------------------------------------------

# fresh GENERATION: new SAs that no earlier point used
fresh()
{
	on_both <<<'xfrm state flush'
	generation=$1
	add_sas "$generation"
}

# during_traffic COMMAND...: run it under load, which continues after it and then ends well
during_traffic()
{
	server -k 1
	# ended by SIGUSR1; the limit is for a point that fails before
	client -m mixed -t $((5 * TERN_TIMEOUT_SCALE)) -x 200000
	"$@"
	# the load is still running, and the newest SAs carry it
	kill -0 $client_pid
	timed 10 eventually carries "$generation"
	kill -USR1 $client_pid
	timed 20 eventually ended $client_pid
	cat "$TMP/client"
	grep -q ' operations' "$TMP/client"
	ends $server_pid
	grep -q ' served' "$TMP/server"
	soon expect conns_of_a ended=true error=null term_sent=null term_received=null
	soon expect conns_of_b ended=true error=null term_sent=null term_received=null
}

under_load() { fresh "$1"; during_traffic "${@:2}"; }

# all of the stream is in ESP: no TCP packet is captured, and the SA carried at least as
# many bytes as tern sent
all_in_esp()
{
	local sent before
	fresh 10
	before=$(counter tern_a tx_bytes)
	capture a v0a
	during_traffic sleep 1
	capture_end
	sent=$(($(counter tern_a tx_bytes) - before))
	echo "tern sent $sent bytes, ESP carried $(carried "$generation")"
	[ "$(carried "$generation")" -gt "$sent" ]
	[ "$(tcpdump -nr "$TMP/pcap" 2>/dev/null | wc -l)" = 0 ]
}

# add new SAs, and delete the old ones once the new ones are in use
rekeys()
{
	for _ in 1 2 3; do
		generation=$((generation + 1))
		add_sas "$generation"
		delete_sas $((generation - 1))
		timed 10 eventually carries "$generation"
	done
}

# the SAs are deleted before new ones are added
outage()
{
	local before
	before=$(outages)
	delete_sas "$generation"
	sleep "$1"
	eventually missed "$before"
	generation=$((generation + 1))
	add_sas "$generation"
	echo "$before packets without an SA, then $(outages)"
}

topo_up
policies a $IP_A $IP_B
policies b $IP_B $IP_A
point "MPA-133: a stream inside ESP, verified" all_in_esp
point "MPA-135, DDP-126, RDMAP-159: SAs are replaced three times under load" \
	under_load 20 rekeys
point "MPA-135, DDP-126, RDMAP-159: no SAs for half a second under load" \
	under_load 30 outage 0.5
point "no SAs for a second under load" under_load 40 outage 1
finish
