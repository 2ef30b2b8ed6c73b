#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What an administrator watches: tern show connections --info, tern monitor --all,
# tern metrics, tern diagnose.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its tool"

# info COMMAND EXPRESSION: it is true for the newest connection c of in_a or in_b
info()
{
	"$1" tern -j show connections -i -a "tern_${1#in_}" | python3 -c '
import datetime, json, sys, time
c = max(json.load(sys.stdin), key=lambda c: c["nr"])
print(c)
def age(key):
    then = datetime.datetime.strptime(c[key], "%Y-%m-%dT%H:%M:%S.%f%z")
    return (datetime.datetime.now(datetime.timezone.utc) - then).total_seconds()
sys.exit(not eval("(" + sys.argv[1] + ")"))' "$2"
}

# agree bytes|messages: what each end sent is what the other end got, and more than 0
agree()
{
	in_a tern -j show connections -i -a tern_a >"$TMP/info-a"
	in_b tern -j show connections -i -a tern_b >"$TMP/info-b"
	jq -s 'map(max_by(.nr))' "$TMP"/info-[ab] | tee "$TMP/info"
	jq -e --arg what "$1" '.[0]["tx_" + $what] > 0 and
		.[0]["tx_" + $what] == .[1]["rx_" + $what] and
		.[1]["tx_" + $what] == .[0]["rx_" + $what]' "$TMP/info"
}

quiet()
{
	kill -9 $client_pid $server_pid 2>/dev/null || true
	ends $client_pid $server_pid
}

while_open()
{
	local t0=$EPOCHREALTIME
	server
	client -c
	info in_a "c['program'] == 'vtraffic' and c['pid'] == $client_pid and
		0 <= age('since') <= time.time() - $t0 and c['until'] is None and
		c['rtt_us'] > 0 and c['cwnd'] > 1 and c['path_error'] is None"
	info in_b "c['program'] == 'vtraffic' and c['pid'] == $server_pid"
	# what one end sent is what the other end got
	soon agree bytes
	soon agree messages
	in_a tern show connections --info tern_a >"$TMP/text"
	cat "$TMP/text"
	grep -Eq '^    since:[0-9T:.+-]+ program:vtraffic pid:[0-9]+ tx-bytes:[0-9]+ tx-messages:[0-9]+ rx-bytes:[0-9]+ .* rtt-us:[1-9]' "$TMP/text"
	in_a tern show connections tern_a | not has since:
	quiet
}

# messages are counted, not their FPDUs, of which the longest here have seven
after_the_end()
{
	local mode
	for mode in send read; do
		pair 30 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
			$vtraffic client -a $IP_B -p @PORT@ -m $mode -n 40 -x 200000
		soon info in_b 'c["ended"]'
		soon info in_a 'c["ended"] and 0 <= age("until") <= age("since") < 60 and
			c["program"] is None and c["pid"] is None and c["rtt_us"] > 0 and
			40 <= c["tx_messages"] < 400 and 40 <= c["rx_messages"] < 400'
		agree messages
	done
}

lost_segments()
{
	traffic -m send -x 20000
	info in_a 'c["retransmits"] == 0'
	drop_once input "tcp dport $port meta length > 1000"
	soon info in_a 'c["retransmits"] >= 1'
	undrop
	kill -STOP $client_pid
	soon agree bytes
	quiet
}

# a link goes while its connections, which are busy, are listed again and again
listed_while_it_goes()
{
	local lister
	traffic -m write
	( while :; do in_a tern show connections -i -a; done ) >"$TMP/list" 2>&1 &
	lister=$!
	eventually grep -q tx-bytes "$TMP/list"
	within 5 rdma link delete tern_a
	kill $lister
	wait $lister || true
	quiet
	dev_add a tern_a tern v0a
}

# the name of a program cannot write on the terminal, nor break JSON
hostile_name()
{
	local name=$'v\e[2J\n\\ "\xff'
	server
	cp $vtraffic "$TMP/$name"
	: >"$TMP/client"
	ip netns exec a "$TMP/$name" client -a $IP_B -p $port -c >"$TMP/client" 2>&1 &
	client_pid=$!
	eventually grep -q connected "$TMP/client"
	info in_a 'c["program"] == "v\\x1b[2J\\x0a\\x5c\\x20\"\\xff"'
	in_a tern show connections --info tern_a | has -F 'program:v\x1b[2J\x0a\x5c\x20"\xff pid:'
	quiet
}

# a caller in another PID namespace sees the connection, and no program
other_pids()
{
	server
	client -c
	ip netns exec a unshare -p -f --mount-proc tern -j show connections -i tern_a |
		tee "$TMP/other" | jq -e '.[0] | .program == null and .pid == null and .tx_bytes > 0'
	cat "$TMP/other"
	# an unprivileged caller of the same namespace sees both
	ip netns exec a setpriv --reuid 65534 --clear-groups tern -j show connections -i tern_a |
		jq -e ".[0].pid == $client_pid"
	quiet
}

# a connection starts and ends at both ends; a listener in b hears of none of a's
monitored()
{
	local text json
	ip netns exec a tern monitor -a >"$TMP/text" 2>&1 &
	text=$!
	ip netns exec a tern -j monitor --all -i -t >"$TMP/news" 2>&1 &
	json=$!
	eventually grep -q '^Event State' "$TMP/text"
	eventually monitors a 2
	server
	client -c
	# the program has to be there when the monitor asks whose QP it is
	eventually grep -q '"event": "start"' "$TMP/news"
	quiet
	eventually grep -q '^end ' "$TMP/text"
	not limit 20 in_a rping -c -a $IP_B -p 9 -C 1
	eventually grep -q '^end .*error:' "$TMP/text"
	eventually grep -qE 'ECONNREFUSED|ECONNRESET' "$TMP/news"
	kill $text $json
	wait $text $json || true
	cat "$TMP/text" "$TMP/news"
	[ "$(awk 'NR > 1 { print $1 }' "$TMP/text" | tr '\n' ' ')" = "start end end " ]
	jq -es 'map(.event) == ["start", "end", "end"] and .[0].nr == .[1].nr and
		.[0].state == "OPEN" and .[0].error == null and .[1].tx_messages > 0 and
		.[0].program == "vtraffic" and .[2].error != null and
		.[0].time <= .[1].time and all(.local == "10.7.0.1" or .tx_messages == 0)' "$TMP/news"
}

# sample NAME FORMAT [OPTION]: a sample of the page of a, which is checked
sample()
{
	in_a tern metrics "${@:3}" >"$TMP/page"
	./metrics.py "$2" <"$TMP/page" | jq --arg name "$1" '.[$name]'
}

# the counters are those of rdma statistic, the connections those of tern show connections
measured()
{
	server
	client -c
	[ "$(sample 'tern_connections{device="tern_a",state="OPEN"}' prometheus)" = 1 ]
	[ "$(sample 'tern_device_info{device="tern_a",netdev="v0a"}' prometheus)" = 1 ]
	[ "$(sample 'tern_loaded{}' openmetrics -o)" = 1 ]
	quiet
	soon idle
	./metrics.py prometheus <"$TMP/page" >"$TMP/samples"
	diff <(jq -r 'to_entries[] | .key + " " + (.value | tostring)' "$TMP/samples" |
			sed -n 's/^tern_\(.*\)_total{device="tern_a"}/\1/p') \
		<(rdma statistic show link tern_a/1 | grep -oE '[a-z_]+ [0-9]+')
	# each has a row of the driver's list
	not grep 'of the driver' "$TMP/page"
}
idle() { [ "$(sample 'tern_connections{device="tern_a",state="OPEN"}' prometheus)" = 0 ]; }

# the service of systemd, without systemd: the file is replaced, and a reader never sees a
# part of it
by_the_timer()
{
	local unit=/usr/local/lib/systemd/system/tern-metrics.service dir=$TMP/collector
	local command reader
	mkdir "$dir"
	command=$(sed -n 's/^ExecStart=//p' "$unit")
	TERN_METRICS=$dir/tern.prom in_a bash -c "$command"
	( while ./metrics.py prometheus <"$dir/tern.prom" >/dev/null; do :; done ) &
	reader=$!
	for _ in {1..20}; do
		TERN_METRICS=$dir/tern.prom in_a bash -c "$command"
	done
	kill $reader
	[ "$(ls "$dir")" = tern.prom ]
	[ "$(stat -c %a "$dir/tern.prom")" = 644 ]
	not in_a tern metrics "$TMP/nowhere/tern.prom"
	not in_a tern metrics "$dir"
	# a device is written to, and stays one
	mknod "$TMP/null" c 1 3
	in_a tern metrics "$TMP/null"
	[ -c "$TMP/null" ]
	# a link to one, which another may have made, is replaced
	ln -s "$TMP/null" "$dir/link.prom"
	in_a tern metrics "$dir/link.prom"
	[ -c "$TMP/null" ]
	[ ! -L "$dir/link.prom" ]
	[ -s "$dir/link.prom" ]
	rm "$dir/link.prom"
	[ "$(ls "$dir")" = tern.prom ]
	grep -qx OnUnitActiveSec=15s "${unit%.service}.timer"
}

without_the_module()
{
	rmmod tern
	[ "$(sample 'tern_loaded{}' prometheus)" = 0 ]
	[ "$(sample 'tern_loaded{}' openmetrics -o)" = 0 ]
	modprobe tern
	dev_add a tern_a tern v0a
	dev_add b tern_b tern v0b
}

# finds STATUS RESULT CHECK REGEX [COMMAND]... -- [WORD]...: tern diagnose WORD... exits with
# STATUS and has this result of CHECK, with a text that matches, and something to do unless
# it is ok; COMMAND comes in front
finds()
{
	local want=$1 result=$2 check=$3 regex=$4 status=0 front=()
	shift 4
	while [ "$1" != -- ]; do front+=("$1"); shift; done
	shift
	in_a "${front[@]}" tern -j diagnose "$@" >"$TMP/found" 2>"$TMP/stderr" || status=$?
	cat "$TMP/found" "$TMP/stderr"
	[ $status = "$want" ] || { echo "status $status"; return 1; }
	jq -e --arg result "$result" --arg check "$check" --arg regex "$regex" '
		map(select(.check == $check and .result == $result and (.text | test($regex)) and
			(.todo == null) == (.result == "ok"))) | length > 0' "$TMP/found"
}

nothing_wrong()
{
	in_a tern diagnose >"$TMP/text"
	cat "$TMP/text"
	finds 0 ok provider 'tern_a: libibverbs opens it' --
	jq -e 'map(.result) | unique | . == ["ok"] or . == ["ok", "warn"]' "$TMP/found"
	# the text says the same
	diff <(awk '$1 != "=>" { print $1, $2 }' "$TMP/text") \
		<(jq -r '.[] | .result + " " + .check' "$TMP/found")
	[ "$(awk '$1 == "=>"' "$TMP/text" | wc -l)" = "$(jq 'map(select(.todo)) | length' "$TMP/found")" ]
}

# rping_server: in b, PID in $server_pid
rping_server()
{
	port=$(new_port)
	ip netns exec b rping -s -a $IP_B -p "$port" >"$TMP/server" 2>&1 &
	server_pid=$!
	wait_for_listen "$port"
}

with_a_peer()
{
	rping_server
	finds 0 ok peer "$IP_B port $port: data moved both ways, by tern_a from $IP_A" -- $IP_B "$port"
	jq -e 'map(select(.check == "crc" or .check == "rtr") | .result) == ["ok", "ok"]' "$TMP/found"
	ends $server_pid
	in_a tern set tern_a crc off
	rping_server
	finds 0 warn crc 'the peer asks for it' -- $IP_B "$port"
	ends $server_pid
	in_a tern set tern_a crc on
	finds 1 fail peer "$IP_B port $port: Connection re(set|fused)" -- $IP_B "$port"
	finds 1 fail peer unreachable -- 203.0.113.1
	finds 1 fail peer nowhere.invalid -- nowhere.invalid
	# a firewall of the peer
	in_a tern set tern_a reply-ms 500
	drop_in_b "tcp dport $port drop"
	finds 1 fail peer 'timed out' -- $IP_B "$port"
	undrop
	in_a tern set tern_a reply-ms 30000
}

wrong_here()
{
	local libs=/usr/lib/x86_64-linux-gnu/libibverbs cover
	# shellcheck disable=SC2016 # expanded inside
	cover='mount -t tmpfs none "$0" && exec "$@"'
	finds 1 fail provider 'tern.driver is missing; installed: libtern-rdmav[0-9]+.so' \
		unshare -m sh -c "$cover" /etc/libibverbs.d --
	finds 1 fail provider 'wants libtern-rdmav[0-9]+.so; no provider' \
		unshare -m sh -c "$cover" $libs --
	finds 1 fail rdma_cm 'No such file' unshare -m sh -c "$cover" /dev/infiniband --
	in_a nft 'add table inet t; add chain inet t c { type filter hook input priority 0; policy drop; }'
	finds 0 warn firewall 'chain c of table inet t drops' --
	in_a nft delete table inet t
	finds 0 warn memlock '^64 KiB' sh -c 'ulimit -l 64; exec setpriv --reuid 65534 --clear-groups "$@"' sh --
	in_a ip link set v0a mtu 1000
	finds 0 warn mtu '1000 bytes' --
	in_a ip link set v0a mtu 1500
	in_a ip addr flush dev v0a
	finds 1 fail address 'no address' --
	in_a ip link set v0a down
	finds 1 fail netdev 'v0a is down' --
	in_a ip link set v0a up
	in_a ip addr add "$IP_A/24" dev v0a
	in_a ip addr add "$IP6_A/64" dev v0a nodad
}

no_link()
{
	rdma link delete tern_a
	rdma link delete tern_b
	finds 1 fail link 'no link' --
	rmmod tern
	finds 1 fail module 'not loaded' -- $IP_B
	modprobe tern
	dev_add a tern_a tern v0a
	dev_add b tern_b tern v0b
}

# root of a container may give its device such a name
obeyed_name()
{
	local name=$'o\e]x'
	rdma dev set "$DEV_A" name "$name"
	in_a tern show >"$TMP/shown"
	rdma dev set "$name" name "$DEV_A"
	has 'o?]x: netdev v0a' <"$TMP/shown"
	not grep -q $'\e' "$TMP/shown"
}

wanted=("$@")

topo_up
proves "show: a name that a terminal would obey is not shown as it is" obeyed_name
proves "--info: times, program, bytes, messages and the path of an open connection" while_open
proves "--info: both ends counted the same messages when it had ended" after_the_end
proves "--info: segments that TCP sends again are counted" lost_segments
proves "--info: a link is deleted while its busy connections are listed" listed_while_it_goes
proves "--info: the name of a program is escaped" hostile_name
proves "--info: no program of another PID namespace" other_pids
proves "monitor --all: the start and the end of each connection, and an attempt that fails" monitored
proves "metrics: counters, devices and connections, in both formats" measured
proves "metrics FILE: replaced at once, as the timer does it" by_the_timer
proves "metrics without the module: a page that says so" without_the_module
proves "diagnose: nothing is wrong, as text and as JSON" nothing_wrong
proves "diagnose PEER: a test connection, its settings, and why there is none" with_a_peer
proves "diagnose: provider, devices, limits, firewall, netdev" wrong_here
proves "diagnose: no link, no module" no_link
finish
