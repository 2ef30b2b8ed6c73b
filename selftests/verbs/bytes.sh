#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Run bytes over several kinds of wire: each byte arrives where it belongs, and no other
# byte changes. With arguments, only the points whose name holds one of them.
#
#	TERN_SET_BYTES=N	each Nth length of the square of offsets and lengths up to
#				4096 (1: all), not a choice of it
#	TERN_SET_LISTS=N	lists in a run
#	TERN_SET_SEED=N		of the lists, as a failed point prints it
#
# Over a bad network each hundredth of these lengths and lists; without them 24 lists, two
# lengths and some offsets.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh
. ./scene.sh
. ./netem.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: both ends are tern"

words=("$@")
seconds=100
[ -z "${TERN_SET_BYTES:-}${TERN_SET_LISTS:-}" ] || seconds=100000

settings() { in_a tern set tern_a "$@"; in_b tern set tern_b "$@"; }

# bytes NAME WORD...: a point, if it is due: the tests of the program with these words
bytes()
{
	local word
	for word in "${words[@]}"; do
		[[ $1 == *"$word"* ]] || continue
		word=due
		break
	done
	[ ${#words[@]} = 0 ] || [ "$word" = due ] || return 0
	point "$1" "${@:2}"
}

run() { limit "$seconds" ../verbs/bytes "$@"; }

# each WIRE SETTING...: all tests over connections with these settings
each()
{
	settings "${@:2}"
	bytes "places: $1" run places
	bytes "lists: $1" run lists
	bytes "rewritten: $1" run rewritten
}

# fewer COMMAND...: what there is over a bad network
fewer()
{
	local lengths=$((${TERN_SET_BYTES:-40} * 100)) offsets=67
	[ $lengths -le 4000 ] || lengths=4000
	[ -z "${TERN_SET_BYTES:-}" ] || offsets=1
	TERN_SET_LISTS=$((${TERN_SET_LISTS:-2400} / 100)) TERN_SET_OFFSETS=$offsets \
		TERN_SET_BYTES=$lengths "$@"
}

# over_a_bad_network WIRE
over_a_bad_network()
{
	local bad=(delay 1ms 1ms loss 2% reorder 25% duplicate 1% corrupt 1%)

	bytes "places: $1, a bad network" under TCPOFOQueue "${bad[@]}" -- fewer run places
	bytes "lists: $1, a bad network" under TCPOFOQueue "${bad[@]}" -- fewer run lists
	bytes "rewritten: $1, a bad network" under RetransSegs "${bad[@]}" -- run rewritten
}

topo_up
long=7306,v2,long-fpdu mss=7306,v2
each "long FPDUs" features $long
each "long FPDUs, no CRC" crc off
each "long FPDUs, markers" crc on markers on
each "FPDUs of a segment, markers" features $mss
each "FPDUs of a segment, no CRC" markers off crc off
each "FPDUs of a segment" crc on
packets_as_on_a_wire
over_a_bad_network "FPDUs of a segment"
settings features $long
over_a_bad_network "long FPDUs"
finish
