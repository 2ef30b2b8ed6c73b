#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Each call of tern that the environment may refuse (memory, sockets, registration with the
# kernel, copies to a program) is refused, one at a time, in each scene that makes it: the
# scene ends in time, and without the refusal it works again at once. The kernel's log and
# kmemleak tell the rest. Arguments are names of scenes.
#
# A point of tern is refused in the first scene that reaches it, at its first call, and the
# scene is run again after it. TERN_SET_NTH=all: in each scene that reaches it, at its first
# and last call and one in the middle. TERN_SET_NTH=short: every sixth point, and
# each scene is run again once, after all refusals. TERN_SET_NTH_SCENES: which.

cd ../net || exit
. ./lib.sh
# shellcheck source=../net/scene.sh
. ./scene.sh

mode=${TERN_SET_NTH:-once}
nth=/sys/kernel/debug/tern_nth
variant=${TERN_VARIANTS:-/mnt/variants}/nth
verbs=../verbs
spared=../nth/spared
# a scene that a refusal stops ends within this many seconds, scaled
most=15

[ "$TERN_TYPE" = tern ] || skip_all "tern only: its calls are refused"
[ -f "$variant/tern.ko" ] || skip_all "the module with points is not here"

# ---- scenes ------------------------------------------------------------------------

# load: the tern with points, after what it needs (load_file would look for tern_nth)
load()
{
	local needs

	needs=$(modinfo -F depends "$variant/tern.ko" | tr ',' '\n' | grep -v tern_nth)
	# shellcheck disable=SC2086 # words
	modprobe -a $needs
	insmod "$variant/tern.ko"
}

# The module, and a device that goes with it
scene_module()
{
	rmmod tern 2>/dev/null || true
	load
	dev_add a "$DEV_A" tern v0a
	rmmod tern
}

scene_device()
{
	dev_add a "$DEV_A" tern v0a
	in_a tern show "$DEV_A"
	rdma link delete "$DEV_A"
}

# talk LISTEN CONNECT: the address of the server, and that to which its client connects
talk()
{
	local server status=0 port

	port=$(new_port)
	ip netns exec b timeout -k 1 $((6 * TERN_TIMEOUT_SCALE)) $vtraffic server -b "$1" -p "$port" &
	server=$!
	until listening "$port"; do
		kill -0 $server 2>/dev/null || return 1
		sleep 0.05
	done
	limit 4 in_a $vtraffic client -a "$2" -p "$port" -n 1 -x 64 || status=$?
	[ $status = 0 ] || kill $server 2>/dev/null || true
	wait $server || status=$((status ? status : $?))
	return $status
}

scene_connect()	{ talk 0.0.0.0 $IP_B; }
scene_ipv6()	{ talk ::0 $IP6_B; }
scene_one()	{ talk $IP_B $IP_B; }

# what the tool reads and what it listens to, while a connection begins and ends
scene_watch()
{
	local monitor status=0
	limit 10 in_a tern monitor --all >"$TMP/events" &
	monitor=$!
	until monitors a 1; do
		kill -0 $monitor 2>/dev/null || break
		sleep 0.05
	done
	talk 0.0.0.0 $IP_B || status=$?
	in_a tern show connections || status=$?
	in_b tern show connections || status=$?
	kill $monitor 2>/dev/null || true
	wait $monitor || true
	return $status
}

# counters of the QPs that begin meanwhile
scene_counter()
{
	local status=0
	everywhere rdma statistic qp set link "$DEV_A/1" auto type on || status=$?
	[ $status != 0 ] || talk 0.0.0.0 $IP_B || status=$?
	everywhere rdma statistic qp set link "$DEV_A/1" auto off || status=$?
	return $status
}

# program NAME TEST...
program()
{
	limit 12 "$verbs/$1" "${@:2}"
}

scene_mr()	{ program verbs_test rereg_mr__translation reg_dmabuf_mr__part; }
scene_mw()	{ program verbs_test alloc_mw__types bind_mw__type1_opens; }
scene_srq()	{ program queue_verbs srq__receives_into; }
scene_cq()	{ program queue_verbs modify_cq__an_event_that_waits; }
scene_data()	{ program verbs_test "Send from and into" "RDMA Write from a list"; }
scene_dv()	{ program dv "query_device: markers" "options are replaced"; }
scene_reads()	{ program verbs_test "64 Reads with"; }

scene_kernel()
{
	local status=0 c
	modprobe tern_kverbs ns_a=3 ns_b=4 addr_a="$IP_A" addr_b="$IP_B" \
		scale="$TERN_TIMEOUT_SCALE" 3</run/netns/a 4</run/netns/b
	for c in reg_mr__page_lists_at_odd_offsets reg_mr__key_rotation; do
		[ $status = 0 ] || break
		echo $c >/sys/kernel/debug/tern_kverbs/run || status=1
	done
	modprobe -r tern_kverbs
	return $status
}

scenes=(module device connect one ipv6 watch counter mr mw srq cq data dv reads kernel)

# After these a scene must succeed all the same: it is only later, or slower. The frame of a
# startup (stream/sock_open.c) is not sent again.
survives="|stream/sock_stream.c tcp_sendmsg_locked|stream/block.c alloc_pages|"

# ---- refusals ----------------------------------------------------------------------

# prepare SCENE: from whatever a refusal left
prepare()
{
	[ "$1" = module ] || [ -d /sys/module/tern ] || load
	case $1 in
	module | device)
		rdma link delete "$DEV_A" 2>/dev/null || true
		rdma link delete "$DEV_B" 2>/dev/null || true
		;;
	*)
		[ -d "/sys/class/infiniband/$DEV_A" ] || dev_add a "$DEV_A" tern v0a
		[ -d "/sys/class/infiniband/$DEV_B" ] || dev_add b "$DEV_B" tern v0b
		;;
	esac
}

# calls: "POINT@CALLS" of each point
calls() { awk '{ print $1 " " $2 "@" $3 }' $nth/points; }

# called: the same, with the calls since $TMP/before, of the points that had any
called()
{
	calls | awk -F@ 'FILENAME != "-" { was[$1] = $2; next }
		$2 > was[$1] + 0 { print $1 "@" $2 - was[$1] }' "$TMP/before" -
}

# refused POINT: how often it was
refused() { awk -v p="$1" '$1 " " $2 == p { print $4 }' $nth/points; }

# excused POINT: it need not be refused; forbidden POINT: it must not be
excused() { grep -qE "^(! )?${1%%:*} ${1#* }:" $spared; }
forbidden() { grep -q "^! ${1%%:*} ${1#* }:" $spared; }

# attempt SCENE: it may fail. (set -e is off inside a command that `||` follows.)
attempt()
{
	( set -e; "scene_$1" ) >"$TMP/attempt" 2>&1 &
	wait $!
}

# refusal SCENE POINT N: refuse the N-th call of it
refusal()
{
	local status=0 was took=0
	was=$(refused "$2")
	prepare "$1"
	echo "$2 $3" >$nth/fail
	timed $most attempt "$1" || status=$?
	echo - >$nth/fail
	cat "$TMP/attempt"
	[ $took -le $((most * 1000 * TERN_TIMEOUT_SCALE)) ]
	if [ "$(refused "$2")" = "$was" ]; then
		echo "# call $3 of $2 did not come"
		return
	fi
	if [[ $survives == *"|${2%%:*} ${2#* }|"* ]]; then
		[ $status = 0 ] || { echo "it must succeed all the same"; return 1; }
	fi
	[ $mode = short ] || again "$1"
}

# again SCENE: without a refusal
again()
{
	prepare "$1"
	echo "# once more, without a refusal"
	timed $most attempt "$1" || { cat "$TMP/attempt"; return 1; }
}

# numbers CALLS: which of them to refuse
numbers()
{
	echo 1
	[ $mode = all ] || return 0
	[ "$1" -lt 3 ] || echo $((($1 + 1) / 2))
	[ "$1" -lt 2 ] || echo "$1"
}

run_scene()
{
	local name count n points=0

	prepare "$1"
	calls >"$TMP/before"
	point "$1: it works" "scene_$1"
	called >"$TMP/called"
	while IFS=@ read -r name count <&7; do
		! forbidden "$name" || continue
		[ $mode = all ] || [ "$(refused "$name")" = 0 ] || continue
		points=$((points + 1))
		[ $mode != short ] || [ $((points % 6)) = 1 ] || continue
		for n in $(numbers "$count"); do
			point "$1: call $n of $count of $name is refused" refusal "$1" "$name" "$n"
		done
	done 7<"$TMP/called"
	[ $mode != short ] || point "$1: it works after them" again "$1"
}

# every_point: each was refused, or has a reason not to be
every_point()
{
	local at what name status=0
	while read -r at what _; do
		name="$at $what"
		[ "$(refused "$name")" = 0 ] || [ -z "$(refused "$name")" ] || continue
		! excused "$name" || continue
		echo "never refused: $name"
		status=1
	done <"$variant/points"
	return $status
}

# hits: of each point its place, its function and what that calls, how often it was reached, and
# how often refused. A run of some scenes has the points that they reach.
hits()
{
	awk -v some="$1" '
		FILENAME ~ /^.sys/ { reached[$1 " " $2] = $3; refused[$1 " " $2] = $4; next }
		{
			name = $1 " " $2
			all++
			met += reached[name] > 0
			hit += refused[name] > 0
			if (!some || reached[name])
				printf "# %s %s %s: reached %d, refused %d\n", $1, $3, $2,
					reached[name], refused[name]
		}
		END { printf "# %d points: %d reached, %d refused\n", all, met, hit }' \
		$nth/points "$variant/points"
}

before_exit()
{
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	rmmod tern tern_nth 2>/dev/null || true
	modprobe tern
}

# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- ${TERN_SET_NTH_SCENES:-}
ktap_header
wires_up
eventually in_a ping -q -c 1 -W 1 $IP_B >/dev/null
eventually in_a ping -q -c 1 -W 1 $IP6_B >/dev/null
modprobe rdma_ucm
rmmod tern
insmod "$variant/tern_nth.ko"
for scene in "${scenes[@]}"; do
	if [ $# = 0 ] || [[ " $* " == *" $scene "* ]]; then
		run_scene "$scene"
	fi
done
hits "$*"
if [ $# = 0 ]; then
	point "each point was refused, or has a reason" every_point
fi
point "no object is left" objects_gone
finish
