# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # peers.sh sets them
# Sourced by peers.sh: what a hostile packet takes of the CPU that it arrives at. The same packets
# go to a plain TCP server and to the victim, as in bystander.sh, and nothing runs beside them. In
# the VM whose clock moves by a nanosecond with each instruction, times are instructions; in
# another kernel they are times, and depend on what else the machine does.

most_instructions=80000	# of all there is, for a packet
most_softirq=100000	# of one softirq
cost_seconds=6
softirqs=(HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU)
irq_events=/sys/kernel/tracing/events/irq

# the CPU's time since boot that was not idle, in 10 ms
busy()
{
	local up idle

	read -r up idle </proc/uptime
	echo $((10#${up/./} - 10#${idle/./}))
}

begins="hist:keys=vec:began=common_timestamp"
ends="hist:keys=vec:lasts=common_timestamp-\$began:onmax(\$lasts).save(vec)"

# note how long each softirq lasts
time_softirqs()
{
	echo "$begins" >$irq_events/softirq_entry/trigger
	echo "$ends" >$irq_events/softirq_exit/trigger
}

stop_timing()
{
	echo "!$ends" >$irq_events/softirq_exit/trigger
	echo "!$begins" >$irq_events/softirq_entry/trigger
}

# longest NAME: of each softirq, and of all in $TMP/longest.NAME
longest()
{
	local vec ns most=0

	awk '/^{ vec:/ { vec = $3 } { for (i = 1; i < NF; i++) if ($i == "max:") print vec, $(i + 1) }' \
		$irq_events/softirq_exit/hist >"$TMP/softirqs"
	while read -r vec ns; do
		echo "longest ${softirqs[vec]} beside the $1: $ns"
		[ "$ns" -le $most ] || most=$ns
	done <"$TMP/softirqs"
	echo "$most" >"$TMP/longest.$1"
}

# all_to NAME PORT KIND WHAT: the packets, to their end; reached() says what WHAT is
all_to()
{
	attack $cost_seconds port="$2" as="$3" count=4000 rate=$packets
	wait $attacker
	echo "$1: $(cat "$TMP/flood")"
	reached "$4"
	all_gone
}

# taken NAME PORT KIND WHAT: the instructions of a packet, with those of who sends it
taken()
{
	local before

	before=$(busy)
	all_to "$@"
	echo $((($(busy) - before) * 10000000 / (packets * cost_seconds))) >"$TMP/taken.$1"
}

# in_one_softirq NAME PORT KIND WHAT: another run, since the looking costs something
in_one_softirq()
{
	time_softirqs
	all_to "$@"
	longest "$1"
	stop_timing
}

# in_range LEAST FILE MOST
in_range() { [ "$(<"$TMP/$2")" -ge "$1" ] && [ "$(<"$TMP/$2")" -le "$3" ]; }

# is_cheap KIND
is_cheap()
{
	local what

	sink_up
	in_b tern set tern_b crc on markers off
	for what in taken in_one_softirq; do
		$what server $SINK_PORT "$1" answers
		$what victim "$PORT" "$1" Terminates
	done
	sink_down
	victim_lives
	no_report
	echo "a packet: $(<"$TMP/taken.server") instructions to a TCP server, $(<"$TMP/taken.victim") to the victim"
	in_range 1 taken.server $most_instructions
	in_range 1 taken.victim $most_instructions
	in_range 1 longest.server $most_softirq
	in_range 1 longest.victim $most_softirq
}

cost()
{
	local kind

	# /proc/uptime has the idle time of all CPUs
	if [ "$(nproc)" != 1 ]; then
		ktap_test_skip "a packet of an attack takes a bounded part of a CPU" "more than one CPU"
		return
	fi
	for kind in script tiny hole; do
		point "a packet of the attack $kind takes a bounded part of a CPU" is_cheap $kind
		sed '/ ms: /d; s/^/# /' "$TMP/out"
	done
}
