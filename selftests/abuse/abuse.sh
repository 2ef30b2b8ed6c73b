#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Hostile programs, each made from a seed (abuse.c), by a user without rights and by root of
# a user namespace with a network namespace of its own. Each is dead within its bound;
# then no object and no reference to the module is left, and the kernel's log has no report.
# kmemleak and the removal of the module come at the end.
#
#	 netns a                  the user namespace's own
#	+---------------------+  +---------------------+
#	| tern_a  10.7.0.1    |  | tern_u  10.7.9.1    |  a program's ends are both of one
#	|   v0a --- (netns b) |  |   v0u --- v0w       |  device, and meet there
#	+---------------------+  +---------------------+
#
# Arguments are words: seed=N runs that program alone, with steps=M, only=LIST, who=nobody or
# who=root and verbose; minimise with seed=N drops steps while it still fails.
# TERN_SET_ABUSE_SECONDS (300): how long. The programs of the file `corpus` come first, then those
# of seeds from 1; with TERN_SET_SEED=N only those from N. TERN_SET_ABUSE_COVERAGE=1: with the
# module that counts blocks; programs that reach new ones are named, and listed as `corpus` has
# them.

cd ../net || exit
. ./lib.sh
. ./scene.sh
cd ../abuse || exit

[ "$TERN_TYPE" = tern ] || skip_all "tern only: it knows its ABI"
[ "${TERN_LANE#uml}" != "$TERN_LANE" ] || skip_all "iw_cm of this kernel would crash: security.rst"

seconds=${TERN_SET_ABUSE_SECONDS:-300}
seed=${TERN_SET_SEED:-1}
steps=80 only='' who='' alone='' minimise='' verbose=''
per_point=5
# new blocks that chance decides on, by when threads run: programs with no more are not in the list
few=2
variant=${TERN_VARIANTS:-/mnt/variants}/cov
covered=/sys/kernel/debug/tern_cov/covered
counted=/sys/kernel/debug/tern_cov/count

for word; do
	case $word in
	seed=*)		seed=${word#*=} alone=1 ;;
	steps=*)	steps=${word#*=} ;;
	only=*)		only=$word ;;
	who=*)		who=${word#*=} ;;
	minimise)	minimise=1 ;;
	verbose)	verbose=verbose ;;
	*)		skip_all "unknown word $word" ;;
	esac
done

# ---- two places ------------------------------------------------------------------------

load()
{
	[ "${TERN_SET_ABUSE_COVERAGE:-}" = 1 ] && [ -f "$variant/tern.ko" ] || return 0
	rmmod tern
	insmod "$variant/tern_cov.ko"
	insmod "$variant/tern.ko"
}

in_u() { nsenter --net="/proc/$holder/ns/net" "$@"; }

own_namespace() { [ "$(readlink "/proc/$holder/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

places_up()
{
	wires_up
	dev_add a tern_a tern v0a
	# a namespace's creator maps itself to root of it
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn sleep 100000 &
	holder=$!
	eventually own_namespace
	ip link add v0u netns $holder type veth peer name v0w netns $holder
	in_u ip addr add 10.7.9.1/24 dev v0u
	in_u ip link set lo up
	in_u ip link set v0u up
	in_u ip link set v0w up
	in_u rdma link add tern_u type tern netdev v0u
	chmod 0666 /dev/infiniband/uverbs* /dev/infiniband/rdma_cm /dev/udmabuf
	look_before
}

# uverbs DEVICE: its file
uverbs()
{
	local dir
	for dir in /sys/class/infiniband_verbs/uverbs*; do
		[ "$(<"$dir/ibdev")" != "$1" ] || echo "/dev/infiniband/${dir##*/}"
	done
}

# as WHO COMMAND...
as()
{
	case $1 in
	nobody)	ip netns exec a prlimit --memlock=4194304 \
			setpriv --reuid 65534 --regid 65534 --clear-groups "${@:2}" ;;
	root)	nsenter --user --net --target $holder prlimit --memlock=4194304 "${@:2}" ;;
	esac
}

# ---- a program -------------------------------------------------------------------------

look_before() { refs=$(</sys/module/tern/refcnt) objects=$(rdma resource show); }
all_gone()
{
	[ "$(</sys/module/tern/refcnt)" = "$refs" ] && [ "$(rdma resource show)" = "$objects" ]
}
no_report() { [ ! -s "$TMP/reports" ] || { cat "$TMP/reports"; return 1; }; }

# program WHO SEED [OPTION...]: run it, and look at what it leaves
program()
{
	local dev=tern_a address=$IP_A
	[ "$1" = nobody ] || dev=tern_u address=10.7.9.1
	as "$1" ./abuse seed="$2" steps="$steps" uverbs="$(uverbs $dev)" device=$dev \
		address=$address "${@:3}" || { echo "seed $2: status $?"; return 1; }
	eventually all_gone || {
		rdma resource show
		echo "seed $2: references $(</sys/module/tern/refcnt), not $refs"
		return 1
	}
	no_report
}

# programs "SEED WHO"...
programs()
{
	local line i user
	for line; do
		read -r i user <<<"$line"
		program "$user" "$i" count=1 >"$TMP/program" 2>&1 || {
			grep -v '^# ' "$TMP/program"
			echo "to run it again: --args 'who=$user seed=$i steps=$steps'"
			return 1
		}
		cat "$TMP/program" >>"$TMP/counts"
		echo "$line" >>"$TMP/ran"
		note_new "$line"
	done
}

# choose: the programs of the next point in `chosen`, and its name in `what`
choose()
{
	if [ ${#known[@]} -gt 0 ]; then
		chosen=("${known[@]:0:per_point}") known=("${known[@]:per_point}")
		what="corpus: programs $((ran + 1)) to $((ran += ${#chosen[@]}))"
		return
	fi
	if [ ${#users[@]} = 0 ]; then
		read -ra users <<<"${who:-nobody root}"
		seed=$((seed + per_point))
	fi
	mapfile -t chosen < <(seq -f "%.0f ${users[0]}" "$seed" $((seed + per_point - 1)))
	what="${users[0]}: programs of seeds $seed to $((seed + per_point - 1))"
	users=("${users[@]:1}")
}

# ---- fewer steps -------------------------------------------------------------------------

# fails LIST: the program of these steps fails. What those before it left does not count.
fails()
{
	: >"$TMP/reports"
	look_before
	! program "${who:-nobody}" "$seed" only="$1" >"$TMP/program" 2>&1
}

# join NUMBER...: a list of them
join() { local IFS=,; echo "$*"; }

# smaller: drop halves, quarters and so on of the steps while the program still fails. A
# report of the kernel that comes once (lockdep's) needs a guest for each try: only=LIST.
smaller()
{
	local kept=() size at fewer
	mapfile -t kept < <(seq 0 $((steps + 60)))
	fails "$(join "${kept[@]}")" || { echo "seed $seed does not fail here"; return 1; }
	for ((size = ${#kept[@]} / 2; size; size /= 2)); do
		for ((at = 0; at < ${#kept[@]};)); do
			fewer=("${kept[@]:0:at}" "${kept[@]:at + size}")
			if fails "$(join "${fewer[@]}")"; then
				kept=("${fewer[@]}")
			else
				at=$((at + size))
			fi
		done
	done
	echo "# it fails with: who=${who:-nobody} seed=$seed steps=$steps only=$(join "${kept[@]}")" \
		>"$TMP/smallest"
}

# ---- coverage ------------------------------------------------------------------------------

# note_new LINE: the program of it has reached blocks that no earlier one had
note_new()
{
	local before now
	[ -e $counted ] || return 0
	before=$(<"$TMP/blocks") now=$(<$counted)
	[ "$now" = "$before" ] || echo "$((now - before)) $1" >>"$TMP/new"
	echo "$now" >"$TMP/blocks"
}

# tell_new: what was noted since it was last told
tell_new()
{
	local n seed user
	while read -r n seed user; do
		echo "# seed $seed ($user): $n new blocks"
	done < <(tail -n +$((told + 1)) "$TMP/new")
	told=$(wc -l <"$TMP/new")
}

# coverage: blocks of each file that were run, and functions that none was run of
coverage()
{
	sort "$covered" | uniq -c | awk -v blocks="$variant/blocks" '
		{ hit[$2] = $1 }
		END {
			while ((getline <blocks) > 0) {
				n = $3; h = hit[$2] < n ? hit[$2] + 0 : n
				of[$1] += n; got[$1] += h; all += n; sum += h
				if (!h) never[$1] = never[$1] " " $2
			}
			for (f in of)
				printf "# %5d of %5d %s%s\n", got[f], of[f], f,
					never[f] ? ", never:" never[f] : "" | "sort -k5"
			close("sort -k5")
			printf "# blocks of tern covered: %d of %d\n", sum, all
		}'
}

# done_of OP: how often it was done by all programs
done_of()
{
	awk -v op="$1" '$2 == op && NF == 4 { n += $3 } END { print n + 0 }' "$TMP/counts"
}

# Programs that are refused at the door find nothing: a half of them has to have done each.
come_far()
{
	local op n programs

	programs=$(wc -l <"$TMP/ran")
	for op in MAP_RING CM_ACCEPT POST; do
		n=$(done_of $op)
		if [ $((2 * n)) -lt "$programs" ]; then
			echo "$op was done $n times by $programs programs"
			return 1
		fi
	done
}

# calls: of each op, how many were done and refused
calls()
{
	awk '/^# / { n = NF; name = $2; for (i = 3; i < n - 1; i++) name = name " " $i
			done[name] += $(n - 1); refused[name] += $n }
		END { for (name in done) print "# " done[name] " done, " refused[name] " refused: " name }' \
		"$TMP/counts" | sort -k6
}

before_exit()
{
	[ -z "${holder:-}" ] || kill "$holder" 2>/dev/null || true
	rdma link delete tern_u 2>/dev/null || true
	rdma link delete tern_a 2>/dev/null || true
	if [ -d /sys/module/tern_cov ]; then
		rmmod tern tern_cov && modprobe tern
	fi
}

unload() { rdma link delete tern_a; rdma link delete tern_u; timeout $((10 * TERN_TIMEOUT_SCALE)) rmmod tern; }

ktap_header
modprobe rdma_ucm
load
places_up
dmesg -W 2>/dev/null | grep --line-buffered -E "$TERN_BAD_LOG" >"$TMP/reports" 2>/dev/null &
if [ -n "$minimise" ]; then
	point "seed $seed, with as few steps as fail" smaller
	cat "$TMP/smallest"
elif [ -n "$alone" ]; then
	point "the program of seed $seed leaves nothing" \
		program "${who:-nobody}" "$seed" ${only:+"$only"} count=1 $verbose
	cat "$TMP/out"
else
	known=() users=() ran=0 told=0 end=$((SECONDS + seconds))
	[ -n "${TERN_SET_SEED:-}" ] || mapfile -t known < <(grep -E "^[0-9]+ ${who:-.*}$" corpus)
	[ ! -e $counted ] || cat $counted >"$TMP/blocks"
	: >"$TMP/new"; : >"$TMP/ran"; : >"$TMP/counts"
	seed=$((seed - per_point))
	while [ $SECONDS -lt $end ]; do
		choose
		point "$what leave nothing" programs "${chosen[@]}"
		: >"$TMP/reports"
		tell_new
	done
	sort -k1,1nr -s "$TMP/new" | awk -v few=$few '$1 > few { print "# corpus: " $2 " " $3 }'
	echo "# $(wc -l <"$TMP/ran") programs, $(awk '/^# / { n += $(NF - 1) + $NF } END { print n }' "$TMP/counts") calls"
	point "programs map rings, connect and post" come_far
	[ -z "$verbose" ] || calls
fi
[ ! -e $covered ] || coverage
point "the module can be removed" unload
modprobe tern 2>/dev/null || true
finish
