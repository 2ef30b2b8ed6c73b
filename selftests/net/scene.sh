# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2120 # read by the tests that source this
# Sourced after lib.sh by tests that run traffic in the background and check processes,
# objects, counters, times and packets.

vtraffic=../verbs/vtraffic
port=21000
# ms, for timers that must not expire: the largest value that tern accepts
NEVER=600000

# everywhere COMMAND...: run it in the first namespace, in a and in b: in the exclusive
# RDMA mode each sees only its own devices
everywhere()
{
	local ns
	"$@" 2>/dev/null || true
	for ns in a b; do
		[ ! -e /run/netns/$ns ] || ip netns exec $ns "$@" 2>/dev/null || true
	done
}

# took COMMAND...: set $took to its time in ms; it may fail.
took()
{
	local t0=${EPOCHREALTIME/./} status=0
	"$@" || status=$?
	took=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "$took ms: $*"
	return $status
}

# timed SECONDS COMMAND...: it may fail, but not take longer (scaled); for commands that
# have work to do or wait for a timer of a protocol.
timed()
{
	local most=$(($1 * 1000 * TERN_TIMEOUT_SCALE)) status=0
	took "${@:2}" || status=$?
	[ $took -le $most ] || { echo "more than $most ms"; return 1; }
	return $status
}

# The checked kernel is slow by design. A machine that takes 40 ms to start a program, like
# TCG with ten busy processes per core, proves nothing about tern.
slow_machine()
{
	[ "${TERN_LANE:-}" != uml-debug ] || return 0
	took eval 'for _ in {1..10}; do /bin/true; done'
	[ $took -gt 400 ]
}

# within SECONDS COMMAND...: for teardown: real seconds, even under TCG. Only on a slow
# machine the limit is scaled.
within()
{
	local status=0 ms
	took "${@:2}" || status=$?
	ms=$took
	if [ $ms -gt $(($1 * 1000)) ]; then
		echo "more than $1 s"
		[ $ms -le $(($1 * 1000 * TERN_TIMEOUT_SCALE)) ] && slow_machine || return 1
	fi
	return $status
}

# ends PID...: they end without being killed, within 5 s.
ended() { ! kill -0 "$1" 2>/dev/null; }
ends()
{
	local pid
	for pid; do
		within 5 eventually ended "$pid"
	done
}

# server [OPTION]...: start a vtraffic server in b, PID in $server_pid.
server()
{
	port=$((port + 1))
	: >"$TMP/server"
	ip netns exec b $vtraffic server -b "$(server_address $IP_B 0.0.0.0)" \
		-p $port -k 0 "$@" >"$TMP/server" 2>&1 &
	server_pid=$!
	eventually grep -qx 'vtraffic: listening' "$TMP/server" || { cat "$TMP/server"; return 1; }
}

# client [OPTION]...: start a vtraffic client in a, PID in $client_pid, wait for its
# connection.
client()
{
	: >"$TMP/client"
	ip netns exec a $vtraffic client -a $IP_B -p $port "$@" >"$TMP/client" 2>&1 &
	client_pid=$!
	eventually grep -Eq 'running|connected' "$TMP/client" || { cat "$TMP/client"; return 1; }
}

# silent_listener [PORT]: a peer that accepts the connection and sends nothing; its PID in
# $listener_pid
silent_listener()
{
	port=${1:-$((port + 1))}
	sleep 1000 | ip netns exec b busybox nc -l -p "$port" >/dev/null &
	listener_pid=$!
	wait_for_listen "$port"
}

# traffic: start both and wait until data moves.
traffic()
{
	server
	client -t 600 -x 200000 "$@"
}

# hold: start a process in a with a context and one object of each kind, PID in
# $holder_pid.
hold()
{
	: >"$TMP/holder"
	ip netns exec a $vtraffic hold "$DEV_A" >"$TMP/holder" 2>&1 &
	holder_pid=$!
	eventually grep -q holding "$TMP/holder"
}

# nothing_left: no program has an object on any device.
counts() { everywhere rdma resource show | grep -E "(${DEV_A}|${DEV_B}):"; }
# no kernel user is loaded, so no PD and CQ of one is counted
objects_gone() { ! counts | has -E '(qp|cm_id|mr|ctx|srq|cq|pd) [1-9]'; }
nothing_left()
{
	within 5 eventually objects_gone || { counts; return 1; }
}

# no_tcp NETNS [PORT]: TCP has no connection there to our port, or to the given one ('' for
# all)
tcp_left() { ip netns exec "$1" ss -Htan 2>/dev/null | grep -v TIME-WAIT | has ":${2-$port}"; }
no_tcp() { ! tcp_left "$@"; }

no_device() { ! everywhere rdma link show | has "^link $1/"; }
counter()
{
	everywhere rdma statistic show link "$1/1" >"$TMP/statistic"
	grep -m1 -o " $2 [0-9]*" "$TMP/statistic" | awk '{ print $2 }'
}

# tcp_counter NETNS NAME: a counter of /proc/net/netstat or snmp
tcp_counter()
{
	ip netns exec "$1" cat /proc/net/netstat /proc/net/snmp | awk -v name="$2" '
		$1 != prefix { prefix = $1; split($0, names); next }
		{ for (i = 2; i <= NF; i++) if (names[i] == name && $1 ~ /^Tcp/) sum += $i
		  prefix = "" }
		END { print sum + 0 }'
}

# all connections, including ended ones, for expect
conns_of_a() { in_a tern --json show connections --all tern_a; }
conns_of_b() { in_b tern --json show connections --all tern_b; }

# expect COMMAND KEY=VALUE...: the newest connection that COMMAND shows has these values:
# a word, or JSON's null, true and false
expect()
{
	local show=$1
	shift
	"$show" | python3 -c '
import json, sys, textwrap
conns = json.load(sys.stdin)
conn = max(conns, key=lambda c: c["nr"])
print(textwrap.fill(str(conn), 180))
bad = 0
for pair in sys.argv[1:]:
    key, want = pair.split("=")
    is_ = conn[key]
    word = is_ if isinstance(is_, str) else json.dumps(is_)
    if word != want:
        print(f"{key} is {word}, not {want}")
        bad = 1
sys.exit(bad)' "$@"
}

# soon COMMAND...: try it every 0.2 s until it succeeds, 50 times (scaled); on failure show
# its last output
soon()
{
	local tries=$((50 * TERN_TIMEOUT_SCALE))
	until "$@" >"$TMP/soon" 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { cat "$TMP/soon"; return 1; }
		sleep 0.2
	done
}

# drop_in_b RULE: drop matching packets at b, until undrop
drop_in_b()
{
	in_b nft "destroy table inet t; add table inet t;
		add chain inet t c { type filter hook input priority 0; };
		add rule inet t c $1"
}

undrop() { in_b nft delete table inet t; }

# drop_once HOOK RULE: drop the first packet of each sender that matches RULE at b
drop_once()
{
	in_b nft "destroy table inet t; add table inet t; add set inet t seen { type ipv4_addr; };
		add chain inet t c { type filter hook $1 priority 0; };
		add rule inet t c $2 ip saddr != @seen add @seen { ip saddr } counter drop"
}

dropped_one() { in_b nft list table inet t | grep 'packets 1 '; }

# capture NETNS DEV: tcpdump into $TMP/pcap until capture_end.
capture()
{
	rm -f "$TMP/pcap"
	: >"$TMP/tcpdump"
	ip netns exec "$1" tcpdump -i "$2" --immediate-mode -U -s 0 -B 8192 -w "$TMP/pcap" tcp >"$TMP/tcpdump" 2>&1 &
	tcpdump=$!
	eventually grep -q listening "$TMP/tcpdump"
}

# capture_all: wait until tcpdump has written a later packet, and so all before it
capture_all()
{
	in_a bash -c "exec 3<>/dev/tcp/$IP_B/9" 2>/dev/null || true
	eventually last_is_written
}
last_is_written() { tcpdump -nr "$TMP/pcap" 'tcp dst port 9' 2>/dev/null | has .; }

capture_end()
{
	sleep 0.3
	kill -INT $tcpdump
	wait $tcpdump || true
}
