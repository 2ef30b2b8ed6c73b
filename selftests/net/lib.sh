# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by the tests of this folder: two hosts on one machine, and KTAP.
#
#	 netns a                                   netns b
#	+-----------------------------+           +-----------------------------+
#	| tern_a (type $TERN_TYPE)    |           |    (type $TERN_TYPE) tern_b |
#	|    |                        |           |                        |    |
#	|   v0a 10.7.0.1/24 ----------+-- veth ---+---------- 10.7.0.2/24 v0b   |
#	|       fd00:7::1/64          | MTU 1500  |          fd00:7::2/64       |
#	+-----------------------------+           +-----------------------------+
#
# A test calls topo_up, then point NAME COMMAND... for each thing it proves,
# then finish. The names of the devices carry their type (siw_a, siw_b).

set -euo pipefail

TERN_TYPE=${TERN_TYPE:-tern}
# TERN_PEER is the type of b's device where the two differ.
TERN_PEER=${TERN_PEER:-$TERN_TYPE}
DEV_A=${TERN_TYPE}_a
DEV_B=${TERN_PEER}_b
IP_A=10.7.0.1
IP_B=10.7.0.2
IP6_A=fd00:7::1
IP6_B=fd00:7::2
# TCG is slow: every time limit is multiplied by this.
TERN_TIMEOUT_SCALE=${TERN_TIMEOUT_SCALE:-1}
TMP=$(mktemp -d)
export TERN_TYPE TERN_PEER DEV_A DEV_B IP_A IP_B IP6_A IP6_B

# ---- KTAP -----------------------------------------------------------------

ktap_n=0 ktap_failed=0 ktap_skipped=0 ktap_done=

ktap_header()
{
	echo "TAP version 13"
}

# ktap_test_pass NAME; ktap_test_fail NAME [WHY]; ktap_test_skip NAME WHY
ktap_test_pass()
{
	ktap_n=$((ktap_n + 1))
	echo "ok $ktap_n $1"
}

ktap_test_fail()
{
	ktap_n=$((ktap_n + 1))
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_n $1${2:+ # $2}"
}

ktap_test_skip()
{
	ktap_n=$((ktap_n + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_n $1 # SKIP $2"
}

# point NAME COMMAND...: one TAP point, which passes when COMMAND succeeds; else its output
# is shown. COMMAND runs in the background, because `set -e` is off inside a command that
# `||` follows.
point()
{
	local name=$1 status=0 heeded='' t0=${EPOCHREALTIME/./}
	shift
	set +e
	trap heeded=1 ERR
	false
	trap - ERR
	set -e
	if [ -z "$heeded" ]; then
		ktap_test_fail "$name" "no error counts inside of a condition, where point is called"
		return
	fi
	( set -e; "$@" ) >"$TMP/out" 2>&1 </dev/null &
	wait $! || status=$?
	if [ "$status" = 0 ]; then
		ktap_test_pass "$name # $(((${EPOCHREALTIME/./} - t0) / 1000)) ms"
	else
		tail -n 40 "$TMP/out" | cut -c1-200 | sed 's/^/#   /'
		ktap_test_fail "$name" "status $status: $*"
	fi
}

# proves NAME FUNCTION [ARG]...: a point, unless $wanted, a test's own arguments, names others
wanted=()
proves()
{
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $2 "* ]] || return 0
	point "$@"
}

# skip_all WHY: skip the whole test.
skip_all()
{
	ktap_done=1
	echo "1..0 # SKIP $1"
	exit 4
}

# finish: print the plan and exit with the status.
finish()
{
	ktap_done=1
	echo "1..$ktap_n"
	[ $ktap_failed = 0 ] || exit 1
	[ $ktap_n -gt $ktap_skipped ] || exit 4
	exit 0
}

# ... | has PATTERN: grep without output. grep -q would exit at the first match, and a
# SIGPIPE of the writer would fail the pipe under pipefail.
has() { grep "$@" >/dev/null; }

# ---- the two hosts --------------------------------------------------------

in_a() { ip netns exec a "$@"; }
in_b() { ip netns exec b "$@"; }

# dev_add NETNS NAME TYPE NETDEV: in the shared RDMA mode every netns sees a device; in
# the exclusive mode a new link starts in init_net and is moved.
dev_add()
{
	ip netns exec "$1" rdma link add "$2" type "$3" netdev "$4" || return
	if [ "$(rdma system show | awk '{ print $2 }')" = exclusive ] &&
	   rdma dev show "$2" >/dev/null 2>&1; then
		rdma dev set "$2" netns "$1"
	fi
}

wires_up()
{
	ip netns add a
	ip netns add b
	ip link add v0a mtu 1500 netns a type veth peer name v0b mtu 1500 netns b
	in_a ip addr add "$IP_A/24" dev v0a
	in_b ip addr add "$IP_B/24" dev v0b
	in_a ip addr add "$IP6_A/64" dev v0a nodad
	in_b ip addr add "$IP6_B/64" dev v0b nodad
	in_a ip link set lo up
	in_b ip link set lo up
	in_a ip link set v0a up
	in_b ip link set v0b up
}

topo_up()
{
	ktap_header
	wires_up
	dev_add a "$DEV_A" "$TERN_TYPE" v0a
	dev_add b "$DEV_B" "$TERN_PEER" v0b
}

topo_down()
{
	local ns
	for ns in a b; do
		ip netns pids "$ns" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
	done
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	for ns in a b; do
		ip netns delete "$ns" 2>/dev/null || true
	done
}

# before_exit, if a test has one, comes first. An error must not keep the rest: with `set -e` a
# handler of EXIT ends at the first command that fails.
on_exit()
{
	local status=$?
	trap - EXIT
	set +e
	! declare -F before_exit >/dev/null || before_exit
	jobs -p | xargs -r kill -9 2>/dev/null || true
	topo_down
	! declare -F at_exit >/dev/null || at_exit
	rm -rf "$TMP"
	if [ -z "$ktap_done" ] && [ "$status" != 0 ]; then
		echo "Bail out! the test itself stopped (status $status)"
	fi
	exit "$status"
}
trap on_exit EXIT

# load_file FILE: insert a module that depmod does not know, after those that it needs
load_file()
{
	local needs

	needs=$(modinfo -F depends "$1")
	# shellcheck disable=SC2086 # words
	[ -z "$needs" ] || modprobe -a ${needs//,/ }
	insmod "$1"
}

# has_siw: siw cannot listen on a wildcard address while it has devices in two
# namespaces; tern must.
has_siw() { [ "$TERN_TYPE" = siw ] || [ "$TERN_PEER" = siw ]; }

# server_address ADDRESS WILDCARD: where a server of b listens.
server_address()
{
	if has_siw; then echo "$1"; else echo "$2"; fi
}

# ---- servers and clients --------------------------------------------------

# attempt COMMAND...: set $status to how it ends. What `||` follows runs without `set -e`, so
# it is a shell of its own.
attempt()
{
	status=0
	( set -e; "$@" ) &
	wait $! || status=$?
}

# limit SECONDS COMMAND...: a time limit, scaled for a slow lab. It works for programs; in
# front of in_a and in_b it limits the program that they run.
limit()
{
	local seconds=$(($1 * TERN_TIMEOUT_SCALE))
	shift
	case $1 in
	in_a) shift; ip netns exec a timeout -k 2 "$seconds" "$@" ;;
	in_b) shift; ip netns exec b timeout -k 2 "$seconds" "$@" ;;
	*)    timeout -k 2 "$seconds" "$@" ;;
	esac
}

# eventually COMMAND...: repeat it until it succeeds, for 10 s (scaled).
eventually()
{
	local tries=$((200 * TERN_TIMEOUT_SCALE))
	until "$@" 2>/dev/null; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { echo "never came: $*"; return 1; }
		sleep 0.05
	done
}

# monitors NETNS N: so many programs or more listen there to news by generic netlink
# shellcheck disable=SC2016 # awk's
monitors()
{
	[ "$(ip netns exec "$1" awk '$2 == 16 && $4 != "00000000"' /proc/net/netlink | wc -l)" -ge "$2" ]
}

# listening PORT [NETNS]: a server accepts connections there. An iWARP listener is a TCP
# one; rdma_cm's own state is LISTEN before that exists.
listening()
{
	if [ "$TERN_PEER" = rxe ]; then
		rdma resource show cm_id | has -E "state LISTEN .*src-addr [^ ]*:$1( |$)"
	else
		ip netns exec "${2:-b}" ss -Hltn "sport = :$1" | has .
	fi
}

wait_for_listen() { eventually listening "$@"; }
wait_for_no_listen() { eventually not listening "$@"; }
not() { ! "$@"; }

# Each server has its own port, so none waits for another's TIME_WAIT.
new_port() { echo $((20000 + RANDOM % 10000)); }

# pair SECONDS SERVER -- CLIENT: run the server command in b (background) and the client
# in a; @PORT@ in either is replaced by a new port. Both must succeed.
pair()
{
	local seconds=$1 server=() client=() server_pid status=0 port
	shift
	port=$(new_port)
	while [ "$1" != -- ]; do server+=("${1//@PORT@/$port}"); shift; done
	shift
	for arg; do client+=("${arg//@PORT@/$port}"); done

	limit "$seconds" in_b "${server[@]}" >"$TMP/server" 2>&1 &
	server_pid=$!
	: >"$TMP/client"
	if ! wait_for_listen "$port"; then
		kill -9 "$server_pid" 2>/dev/null || true
		status=1
	else
		limit "$seconds" in_a "${client[@]}" >"$TMP/client" 2>&1 || status=$?
		wait $server_pid || status=$((status ? status : $?))
	fi
	if [ "$status" != 0 ]; then
		echo "server: ${server[*]}"; tail -n 15 "$TMP/server" | cut -c1-160
		echo "client: ${client[*]}"; tail -n 15 "$TMP/client" | cut -c1-160
	fi
	return $status
}

# perftest_pair: like pair. perftest's server closes its listener and listens again for
# its QPs. Its client tries again if it connects too early, but may crash then; over siw it
# is rdma_connect() that fails. Such a run is repeated and leaves no line in the kernel's
# log: the status shows the crash. A run with a rejection by an MPA frame is not repeated:
# then tern rejected, not TCP for want of a listener.
perftest_pair()
{
	local status=1 try before

	sysctl -qw debug.exception-trace=0 2>/dev/null || true
	for try in 1 2 3; do
		before=$(rejections)
		if pair "$@" >"$TMP/pair"; then status=0; break; fi
		grep -Eq 'RDMA_CM_EVENT_REJECTED|ERRNO: Connection refused' "$TMP/client" || break
		[ "$(rejections)" = "$before" ] || { echo "tern rejected"; break; }
		echo "try $try came too early"
	done
	sysctl -qw debug.exception-trace=1 2>/dev/null || true
	[ $status = 0 ] || cat "$TMP/pair"
	return $status
}

# Replies with R set that tern's devices sent; other devices have no such counter
rejections()
{
	local dev

	for dev in "$DEV_A" "$DEV_B"; do
		rdma statistic show link "$dev/1" 2>/dev/null || true
	done | { grep -o ' cm_reject_tx [0-9]*' || true; } |
		awk '{ n += $2 } END { print n + 0 }'
}
