#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern talks to an older tern, which has no extensions, in both roles, while it asks for
# them. The older one is the module of commit f1ff537bb41d, built under the name ternold
# (lab/build-module), so that one kernel can have both. Today's provider serves it; at last the
# older provider serves today's module.

. ./lib.sh
. ./scene.sh
. ./tshark.sh

variant=${TERN_VARIANTS:-/mnt/variants}/ternold

[ "$TERN_TYPE" = tern ] || skip_all "tern only: one end is tern, the other an older tern"
[ -f "$variant/ternold.ko" ] ||
	skip_all "no older tern: $(cat "$variant/why" 2>/dev/null || echo "it was not built")"

# ms that the new end waits for an answer to its offer
wait_ms=1500

provider=$(echo /usr/lib/*/libibverbs/libtern-rdmav*.so)
older_provider=${provider/libtern-/libternold-}
older_driver=/etc/libibverbs.d/ternold.driver

# The ABI is still the same, so today's provider serves the older module, under its driver
# number: see lab/build-module.
older_up()
{
	LC_ALL=C sed 's/nret/0ret/g' "$provider" >"$older_provider"
	not cmp -s "$provider" "$older_provider"
	echo 'driver ternold' >$older_driver
	load_file "$variant/ternold.ko"
}

older_down()
{
	rdma link delete "$DEV_A"
	rdma link delete "$DEV_B"
	rmmod ternold
	not has '^ternold ' </proc/modules
}

# the older provider, in the place of today's, until it is unmounted
older_serves()
{
	not cmp -s "$variant/libtern.so" "$provider"
	mount --bind "$variant/libtern.so" "$provider"
	in_a ibv_devinfo -d tern_a | has PORT_ACTIVE
}
newer_serves() { umount "$provider"; }

before_exit()
{
	umount "$provider" 2>/dev/null || true
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	rmmod ternold 2>/dev/null || true
	rm -f "$older_provider" $older_driver
}

# hosts A_TYPE B_TYPE: create devices of these types
hosts()
{
	rdma link delete "$DEV_A" 2>/dev/null || true
	rdma link delete "$DEV_B" 2>/dev/null || true
	DEV_A=$1_a DEV_B=$2_b
	dev_add a "$DEV_A" "$1" v0a
	dev_add b "$DEV_B" "$2" v0b
	our_end=a our_dev=tern_a our_ip=$IP_A
	[ "$1" = tern ] || our_end=b our_dev=tern_b our_ip=$IP_B
}

# settings [SETTING...]: the new end asks for the extensions, and has these settings
settings()
{
	ip netns exec $our_end tern set $our_dev mpa-rev 2 crc on markers off p2p on \
		rtr write,read,send enhanced on rtr-ms $wait_ms \
		extensions negotiate features 7306,v2,long-fpdu
	[ $# = 0 ] || ip netns exec $our_end tern set $our_dev "$@"
}

our_conns() { ip netns exec $our_end tern --json show connections --all $our_dev; }
our_text() { ip netns exec $our_end tern show connections --all $our_dev; }

ping()
{
	settings
	pair 30 rping -s -a $IP_B -p @PORT@ -C 20 -S 4096 -v -V -- \
		rping -c -a $IP_B -I $IP_A -p @PORT@ -C 20 -S 4096 -v -V
	[ "$(grep -c 'ping data' "$TMP/client")" = 20 ]
}

verified()
{
	# shellcheck disable=SC2154 # scene.sh's
	pair 30 $vtraffic server -b $IP_B -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m "$1" -n 50 -x 60000
}

# none_with [SETTING...]: traffic, and the connection has no extensions
none_with()
{
	settings "$@"
	verified mixed
	soon expect our_conns ended=true error=null extensions=[]
	our_text | has ' extensions:none '
}

# each mode by itself, too
each_mode()
{
	local mode
	settings
	for mode in send write read; do
		verified $mode
		soon expect our_conns ended=true error=null extensions=[]
	done
}

# offers each|none [SETTING...]: what is on the wire
offers()
{
	settings "${@:2}"
	captured crc small_traffic
	only_offers "$1" $our_ip
}

# the points of verbs/older.c
verbs()
{
	settings "$@"
	OLDER_NEW=$our_end OLDER_MS=$wait_ms limit 60 ../verbs/older >"$TMP/older" || {
		cat "$TMP/older"
		return 1
	}
	grep -q '^ok .*refused__after_the_wait' "$TMP/older"
	not grep -q '^not ok \|# SKIP' "$TMP/older"
}

# plain NAME: traffic as the devices are without settings
plain()
{
	point "$1: rping, verified" ping
	point "$1: Sends, Writes and Reads, verified" each_mode
	point "$1: no extensions, revision 1" none_with mpa-rev 1
	point "$1: no extensions, without CRC, with markers" none_with crc off markers on
	point "$1: extended requests fail, and the older end serves on" verbs
}

to_older="tern to older tern"
from_older="older tern to tern"

ktap_header
wires_up
segments_as_sent
point "the older module loads beside tern" older_up
hosts tern ternold
plain "$to_older"
point "$to_older: no extensions, a Send as RTR" none_with rtr send
point "$to_older: no extensions, RFC 7306 alone is asked for" none_with features 7306
point "$to_older: no extensions, the client-server model" none_with p2p off
point "$to_older: tshark finds no more than the offer" offers each
point "$to_older: tshark finds no more than the offer, the client-server model" \
	offers each p2p off
point "$to_older: tshark finds no offer with a Read as RTR" offers none rtr read
point "$to_older: extended requests fail, the client-server model" verbs p2p off
hosts ternold tern
plain "$from_older"
point "$from_older: tshark finds no offer" offers none
point "the older module is unloaded" older_down
hosts tern tern
both="the older provider on today's module"
point "$both: it opens the device" older_serves
point "$both: rping, verified" ping
point "$both: Sends, Writes and Reads, verified" verified mixed
point "today's provider is back" newer_serves
finish
