#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The matrix of teardowns: a connection is brought to each state, and each event that may end
# it happens there. Then all is gone within 5 s: the process ends, or can be killed; no
# object, TCP connection, endpoint or reference to the module is left; the kernel's log has
# no report; and the next connection works. A cell is a point. One that makes no sense is
# skipped, with the reason.
#
#	 netns a, the near end                     netns b, the far end
#	+-----------------------------+           +-----------------------------+
#	| near: a program with verbs, |           | far: a peer over plain TCP, |
#	| or a kernel user, tern_near |           | which keeps or breaks the   |
#	| tern_a (type tern)          |           | rules as a cell asks for    |
#	|    |                        |           |                             |
#	|   v0a 10.7.0.1 -------------+-- veth ---+-- v0b 10.7.0.2              |
#	+-----------------------------+           +-----------------------------+
#
# Arguments are words: cells with one of them in their name run, or STATE:EVENT.
# TERN_SET_MATRIX=short: some cells, with each state and each event.

cd ../net || exit
. ./lib.sh
. ./scene.sh
cd ../matrix || exit

[ "$TERN_TYPE" = tern ] || skip_all "tern only: reads its connections"

mode=${TERN_SET_MATRIX:-all}
# nobody has the last one: what is sent there is lost
MAC_A=02:00:00:00:00:0a MAC_B=02:00:00:00:00:0b MAC_NOBODY=02:00:00:00:00:99
IP_NOBODY=10.7.0.9
debugfs=/sys/kernel/debug/tern_near
# seconds in which all is gone
most=5

states=(connecting request-sent reply-pending rtr-awaited idle heavy-send heavy-read atomics
	draining srq cq-full mr-reg window-shut)
# in this order the short form has fast cells
events=(kill close-mr close-qp close-cq close-pd close-context close-id link-delete down
	unregister rename mtu address netns-exit silent rmmod rst fin-inside close-srq
	close-channel)

users=(user kernel)

# pointless USER STATE EVENT: why this cell makes no sense, or nothing
pointless()
{
	case $1/$2/$3 in
	*/connecting/fin-inside) echo "no stream that a FIN could end" ;;
	*/connecting/silent)	echo "the peer is silent in this state" ;;
	kernel/*/close-context)	echo "a kernel user has no context" ;;
	kernel/*/close-id)	echo "a kernel user has to destroy its QP before the id" ;;
	kernel/*/close-channel)	echo "a kernel user has no channels" ;;
	kernel/*/close-[cp]? | kernel/*/close-srq)
		echo "a kernel user has to destroy the QP first, else the core warns"
		;;
	esac
}

# ---- waiting without a process ------------------------------------------------------

exec {tick}<> <(:)
nap() { read -rt 0.01 -u "$tick" || true; }

# soon_is SECONDS COMMAND...: it succeeds within real seconds; only on a slow machine, or in
# the checked kernel, the limit is scaled. A guest that stood still was not waited for, so
# the command also has its number of tries.
soon_is()
{
	local start=${EPOCHREALTIME/./} us tries=0
	local span=$(($1 * 1000000))
	shift
	until "$@"; do
		us=$((${EPOCHREALTIME/./} - start)) tries=$((tries + 1))
		if [ $tries -gt 100 ] && { [ $us -gt $((span * TERN_TIMEOUT_SCALE)) ] ||
		   { [ $us -gt $span ] && ! slow_machine; }; }; then
			echo "never came, in $tries tries and $((us / 1000)) ms: $*"
			return 1
		fi
		nap
	done
}

says() { mapfile -t said <"$1" && [[ " ${said[*]} " == *" $2 "* ]]; }
# a kernel user's words are there until the next one enters
says_now() { says "$1" "$2" && [[ " ${said[*]} " != *" "@(ended|failed)" "* ]]; }
said_now()
{
	soon_is 10 says_now "$@" || { cat "$1"; return 1; }
}

# ---- the two hosts ------------------------------------------------------------------

# like in_a, without a /sys of its own, which takes longer than most programs
at_a() { nsenter --net=/run/netns/a "$@"; }

# idempotent: whatever an event did to a's side of the wire
configure_a()
{
	ip -n a -batch - <<-END
	link set lo up
	link set v0a mtu 1500 up
	addr replace $IP_A/24 dev v0a
	neigh replace $IP_B lladdr $MAC_B nud permanent dev v0a
	neigh replace $IP_NOBODY lladdr $MAC_NOBODY nud permanent dev v0a
	END
}

configure_b()
{
	ip -n b -batch - <<-END
	link set lo up
	link set v0b up
	addr replace $IP_B/24 dev v0b
	neigh replace $IP_A lladdr $MAC_A nud permanent dev v0b
	END
}

wire()
{
	ip link add v0a address $MAC_A mtu 1500 netns a type veth \
		peer name v0b address $MAC_B mtu 1500 netns b
	configure_a
	configure_b
}

# keep NETNS: a process whose /proc/PID/net is that of the namespace; its PID in $kept
keep()
{
	nsenter --net="/run/netns/$1" sleep 100000 &
	kept=$!
	echo $kept >"$TMP/keeper_$1"
}

device()
{
	at_a rdma link add "$DEV_A" type tern netdev v0a
}

hosts_up()
{
	ip netns add a
	ip netns add b
	wire
	keep a
	keep b
	device
	: >"$TMP/server"
	nsenter --net=/run/netns/b ./far $IP_B serve >"$TMP/server" 2>&1 &
	soon_is 10 has_port "$TMP/server"
	refs=$(</sys/module/tern/refcnt)
}

no_process() { [ -z "$(ip netns pids a 2>/dev/null; ip netns pids b 2>/dev/null)" ]; }

hosts_down()
{
	local ns
	for ns in a b; do
		ip netns pids $ns 2>/dev/null | xargs -r kill -9 2>/dev/null || true
	done
	soon_is $most no_process || true
	timeout 10 rdma link delete "$DEV_A" 2>/dev/null || true
	ip -n a link delete v0a 2>/dev/null || true
	for ns in a b; do
		ip netns delete $ns 2>/dev/null || true
	done
}

# has_port FILE: a far end listens, at $port
has_port()
{
	mapfile -t said <"$1"
	[[ ${said[*]} == *port\ * ]] || return 1
	port=${said[*]#port }
	port=${port%% *}
}

# ---- into a state -------------------------------------------------------------------

# far_end HOW...: its PID in $far
far_end()
{
	: >"$TMP/far"
	nsenter --net=/run/netns/b ./far $IP_B "$@" >"$TMP/far" 2>&1 &
	far=$!
}

# near_end STATE ADDRESS PORT FIRST: its PID in $near, its words in the file $words
near_end()
{
	: >"$TMP/near"
	if [ "$who" = user ]; then
		words=$TMP/near
		nsenter --net=/run/netns/a ./near "$@" >"$TMP/near" 2>&1 &
	else
		words=$debugfs/said
		# shellcheck disable=SC2016 # for the inner one
		nsenter --net=/run/netns/a sh -c 'echo "$@" >"$0"' $debugfs/enter "$@" \
			>"$TMP/near" 2>&1 &
	fi
	near=$!
}

how_far()
{
	case $1 in
	request-sent)		echo deaf ;;
	draining | window-shut)	echo stuck ;;
	srq | cq-full)		echo echo ;;
	*)			echo serve ;;
	esac
}

# bring STATE FIRST: both ends, until each says that it is ready
bring()
{
	case $1 in
	connecting)
		far=
		near_end "$1" $IP_NOBODY 9 "$2"
		;;
	reply-pending | rtr-awaited)
		near_end "$1" $IP_A 4711 "$2"
		said_now "$words" listening
		far_end knock $IP_A 4711
		said_now "$TMP/far" ready
		;;
	*)
		far_end "$(how_far "$1")"
		soon_is 10 has_port "$TMP/far"
		near_end "$1" $IP_B "$port" "$2"
		said_now "$TMP/far" ready
		;;
	esac
	said_now "$words" ready
}

# stands STATE: so tern says, too
stands()
{
	local name
	case $1 in
	connecting)	name=CONNECTING ;;
	request-sent)	name=REPLY_WAIT ;;
	reply-pending)	name=ULP_WAIT ;;
	rtr-awaited)	name=RTR_WAIT ;;
	draining)	name=CLOSING ;;
	*)		name=OPEN ;;
	esac
	[[ $(at_a tern --json show connections "$DEV_A") =~ \"state\":\ ?\"$name\" ]]
}

# ---- the events ---------------------------------------------------------------------

device_gone() { [ ! -e "/sys/class/infiniband/$DEV_A" ]; }

# deaf_wire: no frame arrives any more, at either end
deaf_wire()
{
	ip -n a neigh replace $IP_B lladdr $MAC_NOBODY nud permanent dev v0a
	ip -n b neigh replace $IP_A lladdr $MAC_NOBODY nud permanent dev v0b
}

# answered_by_rst: somebody has the address, and nobody listens there: the next SYN gets it
answered_by_rst()
{
	ip -n b addr add $IP_NOBODY/32 dev v0b
	ip -n a neigh replace $IP_NOBODY lladdr $MAC_B nud permanent dev v0a
}

# unload: a context holds the module, a kernel user has to go
unload()
{
	if [ "$who" = kernel ]; then
		within $most rmmod tern
	else
		! rmmod tern 2>"$TMP/err" || return 1
		grep -q 'in use' "$TMP/err"
	fi
}

happen() # STATE EVENT
{
	case $2 in
	kill)		kill -9 $near ;;
	# a kernel user closes at any signal
	close-*)	if [ $who = user ]; then kill -USR1 $near; else kill -9 $near; fi ;;
	link-delete)	within $most rdma link delete "$DEV_A" ;;
	down)		ip -n a link set v0a down ;;
	unregister)	within $most ip -n a link delete v0a ;;
	rename)		ip -n a link set v0a name v0x ;;
	mtu)		ip -n a link set v0a mtu 600 ;;
	address)	ip -n a addr del $IP_A/24 dev v0a ;;
	netns-exit)	ip netns delete a; kill -9 $near "$(<"$TMP/keeper_a")" ;;
	rmmod)		unload ;;
	rst)		if [ "$1" = connecting ]; then answered_by_rst; else kill -USR1 $far; fi ;;
	fin-inside)	kill -USR2 $far ;;
	silent)		deaf_wire ;;
	esac
}

# goes STATE EVENT: the near end ends by itself
goes()
{
	case $1/$2/$who in
	*/rmmod/kernel) return 0 ;;
	esac
	case $1/$2 in
	# iw_cm tells a program that has not answered of nothing
	reply-pending/rst | reply-pending/fin-inside) return 1 ;;
	# iw_cm closes an id when its startup is decided, after at most reply-ms or rtr-ms
	connecting/close-id | request-sent/close-id | rtr-awaited/close-id) return 1 ;;
	*/kill | */close-* | */link-delete | */unregister | */netns-exit | */rst | */fin-inside) ;;
	*) return 1 ;;
	esac
}

# Not by kill -0, for which a zombie lives: nap() starts no process, and bash may not wait for a
# child before it starts another one. A zombie whose threads still run is not gone.
near_gone()
{
	local stat tasks

	{ read -r stat <"/proc/$near/stat"; } 2>/dev/null || return 0
	tasks=("/proc/$near/task"/*)
	[[ ${stat##*) } == [ZX]* ]] && [ ${#tasks[@]} -le 1 ]
}

# settle STATE EVENT: the near end goes, or is killed
settle()
{
	local status=0
	if ! goes "$@"; then
		for _ in 1 2 3 4 5; do nap; done
		near_gone && { cat "$words"; echo "it ended by itself"; return 1; }
		kill -9 $near
	fi
	soon_is $most near_gone || { cat "/proc/$near"/{stat,stack} "$words" || true; return 1; }
	wait $near 2>/dev/null || status=$?
	# 137: it was killed
	[ $status = 0 ] || [ $status = 137 ] || { cat "$TMP/near" "$words"; return 1; }
	[ "$who" = user ] || says "$words" ended || { cat "$words"; return 1; }
	[ -z "$far" ] || kill -9 $far 2>/dev/null || true
}

# restore EVENT: the host as it was
restore()
{
	case $1 in
	link-delete)	device ;;
	rename)		ip -n a link set v0x name v0a ;;
	unregister)	soon_is $most device_gone; wire; device ;;
	netns-exit)
		soon_is $most device_gone
		ip netns add a
		wire
		keep a
		device
		;;
	rmmod)
		[ "$who" = kernel ] || within $most rmmod tern
		modprobe tern
		device
		;;
	down | mtu | address | silent)
		configure_a
		configure_b
		;;
	rst)
		ip -n b addr del $IP_NOBODY/32 dev v0b 2>/dev/null || return 0
		configure_a
		;;
	esac
}

# ---- all is gone --------------------------------------------------------------------

# tcp_left NETNS: TCP has a connection or listener there (06: TIME-WAIT)
tcp_is_left()
{
	local keeper line
	keeper=$(<"$TMP/keeper_$1")
	mapfile -t lines <"/proc/$keeper/net/tcp"
	for line in "${lines[@]:1}"; do
		read -r _ _ _ line _ <<<"$line"
		[ "$line" = 06 ] || return 0
	done
	return 1
}

objects_left() { [[ $(rdma resource show) =~ (qp|cm_id|mr|ctx|srq|cq|pd)\ [1-9] ]]; }
endpoints_left() { [[ $(at_a tern --json show connections "$DEV_A") == *'"nr"'* ]]; }

all_gone()
{
	! tcp_is_left a && ! objects_left && ! endpoints_left &&
		[ "$(</sys/module/tern/refcnt)" = "$refs" ]
}

what_is_left()
{
	rdma resource show
	at_a ss -tan
	at_a tern show connections "$DEV_A"
	echo "references: $(</sys/module/tern/refcnt), not $refs"
}

nothing_is_left() { soon_is $most all_gone || { what_is_left; return 1; }; }

works()
{
	has_port "$TMP/server"
	at_a timeout $((10 * TERN_TIMEOUT_SCALE)) ./near once $IP_B "$port"
}

no_report() { [ ! -s "$TMP/reports" ] || { cat "$TMP/reports"; return 1; }; }

# ---- the matrix ---------------------------------------------------------------------

cell() # USER STATE EVENT
{
	local who=$1
	shift
	bring "$1" "${2#close-}"
	soon_is $most stands "$1" || { at_a tern --json show connections "$DEV_A"; return 1; }
	happen "$@"
	settle "$@"
	case $2 in
	# these need the silence, or what is left would be sent
	silent) nothing_is_left ;;
	esac
	restore "$2"
	nothing_is_left
	works
	no_report
}

load_near() { modprobe rdma_cm && modprobe tern_near; }

# afresh: after a cell that failed
afresh()
{
	hosts_down
	timeout 20 rmmod tern || true
	modprobe tern
	hosts_up
	: >"$TMP/reports"
}

run_cell() # USER STATE EVENT
{
	# shellcheck disable=SC2154 # lib.sh's
	local name="$1, $2: $3" why before=$ktap_failed
	why=$(pointless "$@")
	if [ -n "$why" ]; then
		ktap_test_skip "$name" "$why"
		return
	fi
	point "$name" cell "$@"
	[ $ktap_failed = "$before" ] || afresh
}

# picked NAME WORD...: a word is in the name, or there is none
picked()
{
	local word
	[ $# -gt 1 ] || return 0
	for word in "${@:2}"; do
		[[ " $1 " != *" $word "* ]] || return 0
	done
	return 1
}

# due USER ROW COLUMN: the short form has each event on a diagonal of states, and on another one
# those that a kernel user's thread does not begin
due()
{
	local n=${#states[@]}
	[ $mode = short ] || return 0
	if [ "$1" = user ]; then
		[ $((($3 - $2) % n)) = 0 ]
	else
		[[ ${events[$3]} == @(netns-exit|silent|rmmod|rst|fin-inside) ]] &&
			[ $((($3 + 5) % n)) = "$2" ]
	fi
}

ktap_header
load_near
hosts_up
# shellcheck disable=SC2153 # guest-run's
dmesg -W 2>/dev/null | grep --line-buffered -E "$TERN_BAD_LOG" >"$TMP/reports" 2>/dev/null &
for user in "${users[@]}"; do
	for s in "${!states[@]}"; do
		for e in "${!events[@]}"; do
			cell=("$user" "${states[s]}" "${events[e]}")
			if due "$user" "$s" "$e" && picked "${cell[*]} ${cell[1]}:${cell[2]}" "$@"; then
				run_cell "${cell[@]}"
			fi
		done
	done
done
point "the kernel user is removed" modprobe -r tern_near
point "no report of the kernel" no_report
finish
