#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Links and settings for an administrator: add, rename and delete links, changes of the
# netdev, bad input with its errno, and the tool tern.

. ./lib.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks rdma link and tern set"

# fails_with TEXT COMMAND...: it fails with one line of output that has TEXT
fails_with()
{
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "succeeded: $*"
		return 1
	fi
	echo "$out"
	[ "$(wc -l <<<"$out")" = 1 ] && grep -q "$text" <<<"$out"
}

# tells REGEX COMMAND...: its output matches
tells() { "${@:2}" | has "$1"; }
state_is() { rdma link show "$1/1" | has "state $2 "; }

# settings DEV: all settings, printed as a Python dictionary
settings()
{
	in_a tern --json show "$1" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["settings"])'
}
gone() { ! rdma dev show "$1" 2>/dev/null | has "$1"; }

guid_is_set()
{
	local gid
	gid=$(cat /sys/class/infiniband/tern_a/ports/1/gids/0)
	echo "$gid"
	[ "${gid:20}" != 0000:0000:0000:0000 ]
}

add_and_delete()
{
	in_a rdma link add "$1" type tern netdev "$2"
	rdma link show "$1/1"
	rdma link delete "$1"
}

state_follows()
{
	in_a ip link set v0a down
	eventually state_is tern_a DOWN
	in_a ip link set v0a up
	eventually state_is tern_a ACTIVE
}

address_change()
{
	local gids=/sys/class/infiniband/tern_a/ports/1/gids/0
	in_a ip link set v0a down
	in_a ip link set v0a address 02:00:00:00:12:34
	in_a ip link set v0a up
	eventually grep -q '^0200:0000:1234' "$gids"
}

mtu_change()
{
	in_a ip link set v0a mtu 9000
	in_a ibv_devinfo -d tern_a | has 'active_mtu:.*4096'
	in_a ip link set v0a mtu 1500
}

netdev_rename()
{
	in_a ip link set v0a name vv
	in_a tern show tern_a | has 'netdev vv'
	in_a ip link set vv name v0a
}

rdma_rename()
{
	rdma dev set tern_a name other
	in_a tern show other
	fails_with 'no tern device' in_a tern show tern_a
	rdma dev set other name tern_a
}

netdev_delete()
{
	in_a ip link add v9 type veth peer name v9p
	in_a rdma link add tern_9 type tern netdev v9
	in_a ip link delete v9
	eventually gone tern_9
}

netdev_moves()
{
	in_a ip link add v9 type veth peer name v9p
	in_a rdma link add tern_9 type tern netdev v9
	in_a ip link set v9 netns b
	eventually gone tern_9
	in_b ip link delete v9
}

netns_delete()
{
	ip netns add c
	ip -n c link add v9 type veth peer name v9p
	ip netns exec c rdma link add tern_9 type tern netdev v9
	ip netns delete c
	eventually gone tern_9
}

all_settings()
{
	in_a tern set tern_a mpa-rev 1 crc off markers on p2p off \
		rtr send,write request-ms 11 reply-ms 12 rtr_ms 13 \
		close-ms 14 half-open 15 rnic permissive enhanced off \
		early-octets tolerate keepalive-s 16 extensions assume-7306 features 7306 \
		max-fpdu 8192
	settings tern_a >"$TMP/now"
	diff - "$TMP/now" <<-'EOF'
	{'mpa_rev': 1, 'crc': False, 'markers': True, 'p2p': False, 'rtr': ['send', 'write'], 'request_ms': 11, 'reply_ms': 12, 'rtr_ms': 13, 'close_ms': 14, 'half_open': 15, 'rnic': 'permissive', 'enhanced': False, 'early_octets': 'tolerate', 'keepalive_s': 16, 'extensions': 'assume-7306', 'features': ['7306'], 'max_fpdu': 8192}
	EOF
}

# changing a's settings does not change b's
one_device_only()
{
	settings tern_b | grep "'mpa_rev': 2, 'crc': True, 'markers': False"
	settings tern_b | grep "'extensions': 'negotiate', 'features': \['7306', 'v2', 'long-fpdu'\], 'max_fpdu': 32768"
}

nothing_is_half_done()
{
	fails_with 'crc' in_a tern set tern_a half-open 16 crc maybe
	fails_with 'half-open' in_a tern set tern_a mpa-rev 2 half-open 0
	fails_with 'rnic' in_a tern set tern_a mpa-rev 2 rnic strict
	fails_with 'features' in_a tern set tern_a mpa-rev 2 extensions off features v2
	fails_with 'max-fpdu' in_a tern set tern_a mpa-rev 2 max-fpdu 1023
	settings tern_a | grep "'mpa_rev': 1.*'half_open': 15.*'extensions': 'assume-7306'"
}

# features LIST: it is set, and shown as a list and in a line
features()
{
	in_a tern set tern_a extensions negotiate features "$1"
	in_a tern show tern_a | has "^ *extensions *negotiate$"
	in_a tern show tern_a | has "^ *features *$1$"
	settings tern_a >"$TMP/now"
	grep "'extensions': 'negotiate', 'features': \[$2\]," "$TMP/now"
}

# max_fpdu VALUE: it is set, and shown in a line, and as JSON
max_fpdu()
{
	in_a tern set tern_a max-fpdu "$1"
	in_a tern show tern_a | has "^ *max-fpdu *$1$"
	settings tern_a | grep "'max_fpdu': $2}"
}

# a connection of version 0 has none of them
rdmac_takes_extensions()
{
	in_a tern set tern_a rnic rdmac extensions assume-7306 features 7306,v2
	settings tern_a | grep "'rnic': 'rdmac'.*'extensions': 'assume-7306'"
}

unprivileged()
{
	fails_with 'CAP_NET_ADMIN' in_a setpriv --reuid 65534 --clear-groups \
		tern set tern_a crc on
}

# a program with a context, a CQ and its mapped ring on tern_a; PID in $TMP/pid
holder='
import sys, time
from pyverbs.device import Context
from pyverbs.cq import CQ
ctx = Context(name="tern_a")
cq = CQ(ctx, 100)
open(sys.argv[1], "w").write("x")
time.sleep(1000)
'

hold()
{
	ip netns exec a python3 -c "$holder" "$TMP/held" >&2 &
	echo $! >"$TMP/pid"
	eventually test -s "$TMP/held"
}

rmmod_is_refused()
{
	hold
	fails_with 'in use' rmmod tern
	kill -9 "$(cat "$TMP/pid")"
}

delete_while_stopped()
{
	rm -f "$TMP/held"
	hold
	kill -STOP "$(cat "$TMP/pid")"
	limit 5 rdma link delete tern_a
	fails_with 'in use' rmmod tern
	kill -9 "$(cat "$TMP/pid")"
	dev_add a tern_a tern v0a
}

topo_up
point "the GID's lower half is not zero" guid_is_set
point "a device on loopback" add_and_delete tern_lo lo
point "a second device on a netdev: EEXIST" \
	fails_with 'File exists' in_a rdma link add tern_2 type tern netdev v0a
point "a device name in use: EEXIST" \
	fails_with 'File exists' in_a rdma link add tern_b type tern netdev lo
point "no such netdev: ENODEV" \
	fails_with 'No such device' in_a rdma link add tern_2 type tern netdev nope
point "the port's state follows the netdev's" state_follows
point "a new MAC address makes a new GID" address_change
point "the active MTU follows the netdev's" mtu_change
point "the netdev is renamed" netdev_rename
point "the device is renamed" rdma_rename
point "the netdev is deleted" netdev_delete
point "the netdev moves to another namespace" netdev_moves
point "the namespace is deleted" netns_delete
point "ibv_devinfo shows the limits" tells "max_qp_wr:.*32768" in_a ibv_devinfo -v -d tern_a
point "counters can be read" tells "rx_fpdu [0-9]" rdma statistic show link tern_a/1
point "every setting is set and read" all_settings
point "settings are per device" one_device_only
point "a list of settings with a wrong value changes nothing" nothing_is_half_done
point "an unknown setting is named" \
	fails_with "unknown setting 'colour'" in_a tern set tern_a colour red
point "a list with an RTR type twice is refused" \
	fails_with 'listed twice' in_a tern set tern_a rtr read,read
point "features: RFC 7306 alone" features 7306 "'7306'"
point "features: version 2, too" features 7306,v2 "'7306', 'v2'"
point "features: none" features none ""
point "features: version 2 without RFC 7306 is refused" \
	fails_with 'features: version 2 needs RFC 7306' in_a tern set tern_a features v2
point "features: long FPDUs alone" features long-fpdu "'long-fpdu'"
point "features: all" features 7306,v2,long-fpdu "'7306', 'v2', 'long-fpdu'"
point "features: an unknown one is refused" \
	fails_with "features: '7306,v3' is not none, or a list of 7306, v2 and long-fpdu" \
	in_a tern set tern_a features 7306,v3
point "max-fpdu: mss" max_fpdu mss "'mss'"
point "max-fpdu: the least bytes" max_fpdu 1024 1024
point "max-fpdu: the most bytes" max_fpdu 64750 64750
point "max-fpdu: less is refused" fails_with 'max-fpdu: .*(it takes mss, or 1024 to 64750)' \
	in_a tern set tern_a max-fpdu 1023
point "max-fpdu: more is refused" fails_with 'max-fpdu: .*(it takes mss, or 1024 to 64750)' \
	in_a tern set tern_a max-fpdu 64751
point "max-fpdu: an unknown word is refused" \
	fails_with "max-fpdu: 'long' is not mss, or 1024 to 64750" in_a tern set tern_a max-fpdu long
point "extensions: an unknown word is refused" \
	fails_with "extensions: 'on' is not off" in_a tern set tern_a extensions on
point "extensions: a device of type rdmac takes any setting" rdmac_takes_extensions
point "an unknown device: ENODEV" \
	fails_with 'no tern device of this name' in_a tern show nope
point "rmmod is refused while a program holds a context" rmmod_is_refused
point "a link is deleted while a stopped program holds a context" \
	delete_while_stopped
point "without CAP_NET_ADMIN: EPERM" unprivileged
finish
