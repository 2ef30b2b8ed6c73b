# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # of lib.sh and of the test that sources this
# Sourced after scene.sh by tests in which siw is the peer. Debian's siw sometimes crashes
# its kernel or stops answering, with or without tern. When a point fails, check siw: if it
# does not answer a siw in the same guest either, or the kernel has crashed, the test ends,
# and lab/siw-guests decides.
#
#	TERN_SET_SIW_FROM=N	begin with the Nth point
#	TERN_SET_SIW_ALONE=N	run only the Nth point, five times, with siw in tern's place

siw_nr=0
siw_from=${TERN_SET_SIW_FROM:-1}
siw_alone=${TERN_SET_SIW_ALONE:-}
siw_picked=()	# globs for names with _ for each space; none means all points
siw_seconds=10 siw_tries=3	# limits of siw_answers
# taint bits of an oops, a warning, a lockup
siw_taint=$((1 << 7 | 1 << 9 | 1 << 14))
read -r siw_tainted </proc/sys/kernel/tainted

# siw_point NAME COMMAND...: like point, but a failure counts only if siw works
siw_point()
{
	local name="$1 (if siw lives)" times=1
	shift
	siw_nr=$((siw_nr + 1))
	siw_due "$name" || return 0
	echo "# point $siw_nr: $name"
	[ -z "$siw_alone" ] || times=5
	while [ $times -gt 0 ]; do
		siw_one "$name" "$@"
		times=$((times - 1))
	done
	[ -z "$siw_alone" ] || finish
}

# siw_due NAME: is this point one of those to run?
siw_due()
{
	local glob

	[ $siw_nr -ge "$siw_from" ] || return 1
	[ $siw_nr = "${siw_alone:-$siw_nr}" ] || return 1
	[ ${#siw_picked[@]} -gt 0 ] || return 0
	for glob in "${siw_picked[@]}"; do
		# shellcheck disable=SC2053 # a glob is meant
		[[ ${1// /_} != $glob ]] || return 0
	done
	return 1
}

siw_one()
{
	local name=$1 failed=$ktap_failed ill=''

	point "$@" >"$TMP/point"
	if kernel_crashed; then
		ill="the kernel crashed"
	elif [ $ktap_failed != "$failed" ] && ! siw_answers >"$TMP/siw" 2>&1; then
		ill="siw does not answer siw"
	fi
	if [ -z "$ill" ]; then
		cat "$TMP/point"
		return
	fi
	sed 's/^\(not \)\?ok /# &/' "$TMP/point"
	[ ! -s "$TMP/siw" ] || sed 's/^/#   siw to siw: /' "$TMP/siw"
	echo "Bail out! $ill, at point $siw_nr: $name"
	ktap_done=1
	if kernel_crashed; then
		# the end of a namespace may never come then: leave all to the guest's end
		trap - EXIT
		jobs -p | xargs -r kill -9 2>/dev/null || true
	fi
	exit 1
}

kernel_crashed()
{
	local now

	read -r now </proc/sys/kernel/tainted
	[ $((now & siw_taint)) != $((siw_tainted & siw_taint)) ]
}

# siw_answers: rping between two siw devices works, over a veth of its own
siw_answers()
{
	local try=0 answer=1

	ip link add s0a mtu 1500 netns a type veth peer name s0b mtu 1500 netns b || return
	in_a ip addr add 10.9.0.1/24 dev s0a
	in_b ip addr add 10.9.0.2/24 dev s0b
	in_a ip link set s0a up
	in_b ip link set s0b up
	dev_add a siw_sa siw s0a
	dev_add b siw_sb siw s0b
	while [ $try -lt $siw_tries ]; do
		if pair "$siw_seconds" rping -s -a 10.9.0.2 -p @PORT@ -C 3 -S 64 -v -V -- \
			rping -c -a 10.9.0.2 -I 10.9.0.1 -p @PORT@ -C 3 -S 64 -v -V; then
			answer=0
			break
		fi
		try=$((try + 1))
		echo "no answer (try $try of $siw_tries)"
	done
	rdma link delete siw_sa
	rdma link delete siw_sb
	in_a ip link delete s0a
	return $answer
}

# but_for_deaf COMMAND...: repeat a try in which siw sent no FPDU. siw_accept() sends its
# Reply before it listens for FPDUs: those that arrive between stay in its socket until
# more arrive. If they are tern's RTR and first Request, both ends wait for ever.
but_for_deaf()
{
	local before try

	[ -z "$siw_alone" ] || { "$@"; return; }
	for try in 1 2 3; do
		before=$(counter "$our_dev" rx_fpdu)
		! "$@" || return 0
		[ "$our_end" = a ] && [ "$(counter "$our_dev" rx_fpdu)" = "$before" ] || return 1
		echo "siw said nothing (try $try of 3)"
	done
	return 1
}
