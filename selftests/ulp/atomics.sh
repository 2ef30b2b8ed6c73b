#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A program with atomics and immediate data, as Documentation/recipes/atomics.rst prints
# it.

. ../net/lib.sh
RECIPES=$PWD/../../recipes
. ./lib.sh

# on_host NETNS FILE BLOCK [VARIABLE=VALUE...]: where the program is
on_host() { ( cd "$TMP" && follow_in "$@" ); }

compiles()
{
	cd "$TMP"
	recipe atomics program >tickets.c
	follow atomics build
}

client() { on_host a atomics client SERVER="$IP_B" WORDS="$1"; }

# a ticket for each, in turn; the server shows what they wrote
three_texts()
{
	local words n=0
	for words in one "the second" "and a third text"; do
		client "$words" >"$TMP/client"
		grep -x "my ticket is $n" "$TMP/client"
		eventually grep -x "ticket $n, $((${#words} + 1)) bytes: $words" "$TMP/served"
		n=$((n + 1))
	done
}

# the recipe says what the program prints then
without_extensions()
{
	local status=0
	tern set "$DEV_A" extensions off
	client "four" >"$TMP/client" 2>&1 || status=$?
	tern set "$DEV_A" extensions negotiate
	cat "$TMP/client"
	[ $status != 0 ]
	grep -q 'opcode 6: local QP operation error' "$TMP/client"
	client "four" | grep -x 'my ticket is 3'
}

command -v cc >/dev/null || skip_all "no compiler"
topo_up
point "the program compiles as it is printed" compiles
on_host b atomics server SERVER="$IP_B" >"$TMP/served" 2>&1 &
disown
wait_for_listen 7471
point "three clients have three tickets, the server has their texts" three_texts
point "without extensions it fails as the recipe says" without_extensions
finish
