#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Each setting of the tool tern takes effect, in frames or in timing. (observe.sh tests how
# the kernel shows settings.)

. ./lib.sh
. ./scene.sh
. ./netem.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its settings"

set_a() { in_a tern set tern_a "$@"; }
set_b() { in_b tern set tern_b "$@"; }
set_both() { set_a "$@"; set_b "$@"; }

defaults()
{
	set_both mpa-rev 2 crc on markers off p2p on rtr write,read,send \
		request-ms 10000 reply-ms 30000 rtr-ms 10000 close-ms 2000 half-open 256 \
		rnic non-permissive enhanced on early-octets refuse keepalive-s 0 \
		extensions negotiate features 7306,v2,long-fpdu max-fpdu 32768
}

# wire COMMAND...: capture v0a while it runs, and put the MPA frames into $request and
# $reply: flags, revision, private data length, enhanced data, in hex
wire()
{
	local hex
	capture a v0a
	"$@"
	capture_all
	capture_end
	hex=$(od -An -v -tx1 "$TMP/pcap" | tr -d ' \n')
	request=$(after_key 4d504120494420526571204672616d65 "$hex")
	reply=$(after_key 4d504120494420526570204672616d65 "$hex")
	echo "Request $request, Reply $reply"
}

verified()
{
	pair 30 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m "${1:-mixed}" -n 30 -x 20000
}

# after_key KEY HEX: the eight bytes after the first KEY
after_key()
{
	grep -o "$1.\{16\}" <<<"$2" >"$TMP/keys" || { echo "no frame $1" >&2; return 1; }
	head -n 1 "$TMP/keys" | cut -c33-
}

# bits HEX OFFSET MASK: the byte at OFFSET, masked, in decimal
bits() { echo $((16#${1:$(($2 * 2)):2} & $3)); }
is() { [ "$1" = "$2" ] || { echo "is $1, not $2"; return 1; }; }

# RFC 5044 7.1.1, RFC 6581 9: octet 0 M 80 C 40 R 20 S 10, octet 1 revision,
# octets 4 and 5 A 80, B 40, IRD; octets 6 and 7 C 80, D 40, ORD
frame_default()
{
	wire verified
	is "$(bits "$request" 0 0xf0)" $((0x50))
	is "$(bits "$request" 1 0xff)" 2
	is "$(bits "$request" 4 0xc0)" $((0xc0))
	is "$(bits "$request" 6 0xc0)" $((0xc0))
	is "$(bits "$reply" 0 0xf0)" $((0x50))
	is "$(bits "$reply" 1 0xff)" 2
}

frame_crc()
{
	set_both crc off
	wire verified
	is "$(bits "$request" 0 0x40)" 0
	is "$(bits "$reply" 0 0x40)" 0
}

# CRC is on if either end asks for it
frame_crc_of_one()
{
	set_b crc on
	wire verified
	is "$(bits "$request" 0 0x40)" 0
	is "$(bits "$reply" 0 0x40)" $((0x40))
}

frame_markers()
{
	set_both markers on
	wire verified
	is "$(bits "$request" 0 0x80)" $((0x80))
	is "$(bits "$reply" 0 0x80)" $((0x80))
}

# only the end that asked for markers receives them
frame_markers_of_one()
{
	set_a markers on
	wire verified
	is "$(bits "$request" 0 0x80)" $((0x80))
	is "$(bits "$reply" 0 0x80)" 0
}

frame_revision()
{
	set_both mpa-rev 1
	wire verified
	is "$(bits "$request" 0 0x10)" 0
	is "$(bits "$request" 1 0xff)" 1
	is "$(bits "$reply" 1 0xff)" 1
}

# revision 2 without enhanced data (MPA-210)
frame_plain()
{
	set_both enhanced off
	wire verified
	is "$(bits "$request" 0 0x10)" 0
	is "$(bits "$request" 1 0xff)" 2
	is "$(bits "$reply" 0 0x10)" 0
	is "$(bits "$reply" 1 0xff)" 2
}

# MPA-139: an RDMAC type sends revision 0, M=1, C=1, whatever the other settings
frame_rdmac()
{
	set_both rnic rdmac crc off
	wire verified
	is "$(bits "$request" 0 0xf0)" $((0xc0))
	is "$(bits "$request" 1 0xff)" 0
	is "$(bits "$reply" 0 0xf0)" $((0xc0))
	is "$(bits "$reply" 1 0xff)" 0
}

frame_p2p()
{
	set_both p2p off
	wire verified
	is "$(bits "$request" 4 0x80)" 0
	is "$(bits "$request" 1 0xff)" 2
}

# frame_rtr LIST B C D: the RTR types of the Request, and those of the Reply
frame_rtr()
{
	set_both rtr "$1"
	wire verified
	is "$(bits "$request" 4 0x40)" $(($2 * 0x40))
	is "$(bits "$request" 6 0x80)" $(($3 * 0x80))
	is "$(bits "$request" 6 0x40)" $(($4 * 0x40))
}

# traced MODE: traffic of this mode; each FPDU that an end received is a line of $TMP/fpdus
traced()
{
	echo 1 >/sys/kernel/tracing/tracing_on
	# UML's clock stands still for a tick: it does not order the events of two CPUs
	echo counter >/sys/kernel/tracing/trace_clock
	echo >/sys/kernel/tracing/trace
	echo 1 >/sys/kernel/tracing/events/tern/tern_fpdu_rx/enable
	verified "$1"
	echo 0 >/sys/kernel/tracing/events/tern/tern_fpdu_rx/enable
	grep -o 'tern_fpdu_rx: .*' /sys/kernel/tracing/trace >"$TMP/fpdus"
}

# opens_with LIST OPCODE MODE COUNT [SETTING...]: the first FPDU has this RDMAP opcode, as
# have COUNT in all; traffic of this mode has no such FPDU
opens_with()
{
	set_both rtr "$1" "${@:5}"
	traced "$3"
	head -n 4 "$TMP/fpdus"
	grep -q "^tern_fpdu_rx: .*opcode=$2 " <(head -n 1 "$TMP/fpdus")
	is "$(grep -c "opcode=$2 " "$TMP/fpdus")" "$4"
}

# longest MODE OPCODE LEN: the longest ULPDU of this opcode in such traffic
longest()
{
	traced "$1"
	is "$(sed -n "s/.* opcode=$2 .*len=\([0-9]*\) .*/\1/p" "$TMP/fpdus" | sort -n | tail -n 1)" "$3"
}

max_fpdu()
{
	set_a max-fpdu 4096
	longest write 0 4114
}

# the longest FPDUs, Read Responses among them
longest_without_crc()
{
	local mode
	set_both max-fpdu 64750 crc off
	for mode in send write read; do
		pair 30 $vtraffic server -b $IP_B -p @PORT@ -- \
			$vtraffic client -a $IP_B -p @PORT@ -m $mode -n 20 -x 1000000
	done
	traced read
	# the responses alone are long there, whichever their opcode is (version 2 has its own)
	[ "$(sed -n 's/.* ulpdu_len=\([0-9]*\) .*/\1/p' "$TMP/fpdus" | sort -n |
		tail -n 1)" -gt 1442 ]
}

# ---- timers --------------------------------------------------------------------

# closed_after MS: the TCP connection in fd 3, opened after $t0, ends after about MS, at
# least MS / 2
now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

closed_after()
{
	local t1 low=$(($1 / 2)) high=$(($1 * 2 + 2000 * TERN_TIMEOUT_SCALE))
	timeout $((high / 1000 + 1)) cat <&3 >"$TMP/answer" || true
	t1=$(($(now_ms) - t0))
	echo "closed after $t1 ms, set to $1"
	[ $t1 -ge $low ] && [ $t1 -le $high ]
}

request_timer()
{
	local before
	set_b request-ms 600
	server
	before=$(counter tern_b cm_timeout)
	in_a bash -c "
		$(declare -f now_ms closed_after)
		TMP=$TMP t0=\$(now_ms)
		exec 3<>/dev/tcp/$IP_B/$port
		printf 'MPA ID Req' >&3
		closed_after 600"
	[ "$(counter tern_b cm_timeout)" -gt "$before" ]
	kill -9 $server_pid
	ends $server_pid
}

reply_timer()
{
	local t0 t1
	set_a reply-ms 700
	silent_listener
	t0=$(now_ms)
	not in_a timeout $((20 * TERN_TIMEOUT_SCALE)) $vtraffic client -a $IP_B -p $port
	t1=$(($(now_ms) - t0))
	echo "$t1 ms"
	[ $t1 -ge 600 ] && [ $t1 -le $((2700 * TERN_TIMEOUT_SCALE)) ]
	ip netns pids b | xargs -r kill -9
}

# Send a peer-to-peer Request with private data that vtraffic accepts, and nothing else:
# 4 bytes of enhanced data (A, B, C and D set), 12 bytes of struct hello.
rtr_timer()
{
	set_b rtr-ms 600
	server
	in_a bash -c "
		$(declare -f now_ms closed_after)
		TMP=$TMP t0=\$(now_ms)
		exec 3<>/dev/tcp/$IP_B/$port
		printf 'MPA ID Req Frame\x50\x02\x00\x10\xc0\x04\xc0\x04' >&3
		printf '\x01\x00\x00\x00\x00\x10\x00\x00\x04\x00\x00\x00' >&3
		closed_after 600"
	grep -q 'MPA ID Rep Frame' "$TMP/answer"
	kill -9 $server_pid 2>/dev/null || true
	ends $server_pid
}

# b receives nothing any more: a gives up closing after close-ms
close_timer()
{
	local before
	set_a close-ms 500
	server
	client -c
	before=$(counter tern_a cm_timeout)
	in_b nft "add table inet t; add chain inet t c { type filter hook input priority 0; };
		add rule inet t c tcp dport $port drop"
	kill -9 $client_pid
	ends $client_pid
	timed 2 eventually timed_out "$before"
	timed 2 eventually no_tcp a
	in_b nft delete table inet t
	kill -9 $server_pid
	ends $server_pid
}
timed_out() { [ "$(counter tern_a cm_timeout)" -gt "$1" ]; }

half_open()
{
	local before
	set_b half-open 2
	server
	before=$(counter tern_b cm_half_open)
	in_a bash -c "
		exec 3<>/dev/tcp/$IP_B/$port
		exec 4<>/dev/tcp/$IP_B/$port
		sleep 0.3
		exec 5<>/dev/tcp/$IP_B/$port
		timeout $((5 * TERN_TIMEOUT_SCALE)) cat <&3 >/dev/null
		[ \$? != 124 ]"
	[ "$(counter tern_b cm_half_open)" -gt "$before" ]
	# connections that ended make room
	eventually no_startups
	client -n 10 -x 1000
	timed 10 eventually ended $client_pid
	grep -q operations "$TMP/client"
	kill -9 $server_pid
	ends $server_pid
}

no_startups() { ! in_b tern show connections tern_b | has '^REQUEST_WAIT'; }

# TCP does not probe while data is in flight: that is sent again, for minutes. The startup
# of a connection ends with the agreement on extensions.
nothing_in_flight()
{
	expect conns_of_a 'extensions=["7306", "v2", "long-fpdu"]' &&
		expect conns_of_b 'extensions=["7306", "v2", "long-fpdu"]' &&
		! sockets | has unacked:
}
sockets() { in_a ss -Htin "dport = :$port" && in_b ss -Htin "sport = :$port"; }

# drop all packets until the end of the point, which leaves neither server nor client
silence()
{
	sockets | has cwnd:
	soon nothing_in_flight
	bad_network loss 100%
	trap 'good_network; kill -9 $server_pid $client_pid 2>/dev/null || true' EXIT
}

# probed A B: keepalive-s of a and b, one of them 0; all packets are dropped. The end that
# probes fails with ETIMEDOUT after about four seconds, the other notices nothing.
probed()
{
	local t0 t1
	set_a keepalive-s "$1"
	set_b keepalive-s "$2"
	server -k 1
	client -c
	silence
	t0=$(now_ms)
	if [ "$1" != 0 ]; then
		timed 10 eventually ended $client_pid
		grep 'RDMA_CM_EVENT_DISCONNECTED\|async event' "$TMP/client"
		expect conns_of_a ended=true error=ETIMEDOUT
		expect conns_of_b ended=false state=OPEN
		kill -0 $server_pid
	else
		timed 10 eventually ended $server_pid
		expect conns_of_b ended=true error=ETIMEDOUT
		expect conns_of_a ended=false state=OPEN
		kill -0 $client_pid
	fi
	t1=$(($(now_ms) - t0))
	echo "$t1 ms"
	[ $t1 -ge 2500 ]
	kill -9 $server_pid $client_pid 2>/dev/null || true
	ends $server_pid $client_pid
}

# without probes, six seconds without packets end no connection
not_probed()
{
	set_both keepalive-s 0
	server
	client -c
	silence
	sleep 6
	kill -0 $server_pid $client_pid
	expect conns_of_a ended=false state=OPEN
	expect conns_of_b ended=false state=OPEN
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
}

probes_sent() { [ "$(both_counters TCPKeepAlive)" -ge "$1" ]; }

# A peer that answers probes may send nothing for ever: three unanswered probes would end
# the connection, and of eight probes one end has sent more than three.
answers_probes()
{
	local before
	set_both keepalive-s 1
	server
	client -c
	before=$(both_counters TCPKeepAlive)
	eventually probes_sent $((before + 8))
	kill -0 $server_pid $client_pid
	expect conns_of_a ended=false state=OPEN
	kill -9 $server_pid $client_pid
	ends $server_pid $client_pid
}

topo_up
point "the Request's and Reply's default flags" frame_default
point "crc off: C is clear in both frames" frame_crc
point "crc on at one end only" frame_crc_of_one
defaults
point "markers on: M is set in both frames" frame_markers
defaults
point "markers on at one end only" frame_markers_of_one
defaults
point "mpa-rev 1: plain frames" frame_revision
defaults
point "enhanced off: S is clear in both frames" frame_plain
defaults
point "rnic rdmac: revision 0, M and C are set" frame_rdmac
defaults
point "p2p off: A is clear" frame_p2p
defaults
point "rtr send: only B is offered" frame_rtr send 1 0 0
point "rtr write: only C is offered" frame_rtr write 0 1 0
point "rtr read: only D is offered" frame_rtr read 0 0 1
point "rtr read,send: C is not offered" frame_rtr read,send 1 0 1
defaults
# RDMAP opcodes: 0 Write, 1 Read Request, 3 Send without solicited event
point "rtr write,read,send: the RTR is a Write" opens_with write,read,send 0 send 1 extensions off
point "extensions negotiate: the RTR is an offer, an answer and a go follow it" \
	opens_with write,read,send 0 send 3 extensions negotiate
point "extensions negotiate features 7306: no go follows" \
	opens_with write,read,send 0 send 2 extensions negotiate features 7306
point "extensions negotiate features none: no answer follows" \
	opens_with write,read,send 0 send 1 extensions negotiate features none
point "rtr read,write: the RTR is a Read" opens_with read,write 1 send 1
point "rtr send: the RTR is a Send" opens_with send 3 read 1
defaults
point "max-fpdu: FPDUs have the length that is set" max_fpdu
defaults
point "max-fpdu 64750 without CRC: Sends, Writes and Reads of up to 1 MB arrive" longest_without_crc
defaults
point "request-ms ends a silent client" request_timer
defaults
point "reply-ms ends the wait for a silent server" reply_timer
defaults
point "rtr-ms ends the wait for the RTR" rtr_timer
defaults
point "close-ms ends the wait for the FIN's acknowledgement" close_timer
defaults
point "half-open bounds the startups: the oldest is closed" half_open
defaults
point "MPA-118: keepalive-s of an initiator ends a connection that its peer lost" probed 1 0
defaults
point "MPA-118: keepalive-s of a responder ends a connection that its peer lost" probed 0 1
defaults
point "without keepalive-s an idle connection stays" not_probed
point "keepalive-s keeps a connection whose peer answers" answers_probes
finish
