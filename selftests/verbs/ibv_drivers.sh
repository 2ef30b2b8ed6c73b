#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The provider is loaded where it is installed, and through IBV_DRIVERS elsewhere: some
# commands run in a mount namespace that hides the installed one.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

installed=$(echo /usr/lib/*/libibverbs/libtern-rdmav*.so)
copy=$TMP/copy/$(basename "$installed")
# libibverbs adds the dash and what follows
uninstalled=(env "IBV_DRIVERS=${copy%-rdmav*}")
# shellcheck disable=SC2016 # expanded by the bash that is called
hidden=(unshare -m bash -ec '
	for file in /etc/libibverbs.d/tern.driver /usr/lib/*/libibverbs/libtern-rdmav*.so; do
		mount --bind /dev/null "$(realpath "$file")"
	done
	exec "$@"' hidden)

# loads FILE COMMAND...: the command succeeds, and FILE is the provider it loads
loads()
{
	local file
	file=$(realpath "$1")
	shift
	LD_DEBUG=files "$@" >"$TMP/said" 2>"$TMP/loader" || { cat "$TMP/said"; return 1; }
	sed -n 's/.*calling init: \(.*\/libtern.*\)/\1/p' "$TMP/loader" | sort -u >"$TMP/loaded"
	cat "$TMP/loaded"
	[ "$(realpath "$(cat "$TMP/loaded")")" = "$file" ]
}

is_hidden()
{
	ibv_devices | has "$DEV_A"
	"${hidden[@]}" ibv_devices >"$TMP/devices"
	cat "$TMP/devices"
	not grep -q "$DEV_A" "$TMP/devices"
	not "${hidden[@]}" ibv_devinfo -d "$DEV_A"
}

# rping's server fails at once without a device; with one it would run into the timeout
no_server()
{
	local status=0
	limit 10 in_b "${hidden[@]}" rping -s -a "$IP_B" -p 20000 || status=$?
	[ $status != 0 ] && [ $status != 124 ]
}

# rping at both ends, each after the given words
ping()
{
	pair 30 "$@" rping -s -a "$IP_B" -p @PORT@ -C 20 -S 4096 -v -V -- \
		"$@" rping -c -a "$IP_B" -p @PORT@ -C 20 -S 4096 -v -V
	[ "$(grep -c 'ping data' "$TMP/client")" = 20 ]
}

[ "$TERN_TYPE" = tern ] || skip_all "tern only: loads its provider"
topo_up
mkdir "$TMP/copy"
cp -L "$installed" "$copy"
point "the installed provider is loaded" \
	loads "$installed" ibv_devinfo -d "$DEV_A"
point "without a provider there is no device" is_hidden
point "without a provider there is no rping" no_server
point "a provider that is not installed is loaded through IBV_DRIVERS" \
	loads "$copy" "${hidden[@]}" "${uninstalled[@]}" ibv_devinfo -d "$DEV_A"
point "rping through IBV_DRIVERS, both ends" \
	ping "${hidden[@]}" "${uninstalled[@]}"
finish
