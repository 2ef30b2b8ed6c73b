#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A file goes to a server and comes back over rsockets, again and again, and is
# compared, while stress-ng loads the machine. An argument is a glob of classes
# (stress_lib.sh).

cd "$(dirname "$0")" || exit 1
. ./stress_hosts.sh

pick=${1:-*}
files=$PWD/../ulp/rsockets_file
size=1048576

up()
{
	mkdir "$TMP/b"
	head -c $size /dev/urandom >"$TMP/sent"
	follow rsockets settings
}

there_and_back()
{
	client get kept >"$TMP/got"
	cmp "$TMP/sent" "$TMP/got"
	[ "$(client put stored <"$TMP/sent")" = $size ]
	cmp "$TMP/sent" "$TMP/b/stored"
}

exchange()
{
	local end=$((SECONDS + $1)) times=0

	while [ $SECONDS -lt $end ]; do
		there_and_back
		times=$((times + 1))
	done
	echo "times: $times"
}

start_data()
{
	cp "$TMP/sent" "$TMP/b/kept"
	start_load exchange "$1"
}

data_is_right()
{
	load_ends
	over_tern $((2 * size)) there_and_back
}

spoil_data() { printf x | dd of="$TMP/b/kept" conv=notrunc status=none; }

gone()
{
	ip netns pids b | xargs kill
	nothing_left
}

topo_up
up
serve serve rsockets preload
all_classes rsockets ""
point "rsockets: no object is left" gone
finish
