#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Containers of podman, by the commands of Documentation/recipes/containers.rst. c1 and c2
# have a link each, in a namespace of their own; the host has one on the bridge.
#
#	c1: c1 on eth0 10.9.0.11	c2: c2 on eth0 10.9.0.12
#	      |  veth, or macvlan of wire0         |
#	host: br0 10.9.0.1, link tern_h		host: wire0, a dummy
#
# lab/containers-selftest brings podman and the image's base.

. ../net/lib.sh
# shellcheck disable=SC2034 # ulp/lib.sh uses it
RECIPES=$PWD/../../recipes
. ./lib.sh

HOST=10.9.0.1
C1=10.9.0.11
C2=10.9.0.12
brought=/mnt/containers
user=tern
# where the user's files are, and podman's sockets
home=/home/$user

command -v podman >/dev/null || skip_all "no podman: lab/containers-selftest brings it"

# podman takes long to start a container.
TERN_TIMEOUT_SCALE=$((TERN_TIMEOUT_SCALE * 3))
# What systemd does where it runs.
export XDG_RUNTIME_DIR=/run
mkdir -p /etc/containers
printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n' \
	>/etc/containers/containers.conf

address_of() { if [ "$1" = c1 ]; then echo $C1; else echo $C2; fi; }

# ---- the image ------------------------------------------------------------------------

imports()
{
	cd $brought || return
	follow containers import
	podman image exists localhost/debian-rdma
}

builds()
{
	recipe containers containerfile >$brought/Containerfile
	cd $brought || return
	follow containers build
	podman run --rm --network none tern-rdma cat /etc/libibverbs.d/tern.driver
}

# the same image, of sid
builds_sid()
{
	cd $brought || return
	podman import sid.tar debian-sid
	sed -i 's/debian-rdma/debian-sid/' Containerfile
	podman build --network host -t tern-sid .
}

# ---- namespaces -----------------------------------------------------------------------

on_veth() { follow containers veth NAME="$1" BRIDGE=br0; }
on_macvlan() { follow containers macvlan NAME="$1" NETDEV=wire0; }

# namespace NAME KIND
namespace()
{
	"on_$2" "$1"
	follow containers link NAME="$1" ADDRESS="$(address_of "$1")/24"
}

both()
{
	namespace c1 "$1"
	namespace c2 "$1"
}

both_moved()
{
	local name

	both "$1"
	for name in c1 c2; do
		follow containers move NAME=$name
		ip netns exec $name rdma dev show $name
	done
}

no_links() { ! rdma link show | has '^link c[12]/'; }

both_away()
{
	ip netns delete c1
	ip netns delete c2
	eventually no_links
}

# ---- containers -----------------------------------------------------------------------

# container NAME COMMAND
container()
{
	recipe containers run >"$TMP/run"
	limit 30 env NAME="$1" IMAGE="${IMAGE:-tern-rdma}" MEMLOCK="${MEMLOCK:--1:-1}" \
		COMMAND="$2" bash -eux "$TMP/run"
}

# serve NAME: rping's server in that container, until its client has gone
serve()
{
	container "$1" "rping -s -C 20 -v" >"$TMP/served" 2>&1 &
	server_pid=$!
	wait_for_listen 7174 "$1"
}

# serve_here PINGS: the same on the host
serve_here()
{
	rping -s -a $HOST -C "$1" >"$TMP/served" 2>&1 &
	server_pid=$!
	eventually is_here
}

is_here() { ss -Hltn 'sport = :7174' | has .; }

# pinged FILE: 20 pings, each of which came back as it was
pinged() { [ "$(grep -c 'ping data' "$1")" = 20 ] || { cat "$1"; return 1; }; }

between_containers()
{
	serve c1
	container c2 "rping -c -a $C1 -C 20 -v -V" >"$TMP/client"
	wait $server_pid
	pinged "$TMP/client"
	pinged <(sed 's/^server ping/ping/' "$TMP/served")
}

to_the_host()
{
	serve_here 20
	container c1 "rping -c -a $HOST -C 20 -v -V" >"$TMP/client"
	wait $server_pid
	pinged "$TMP/client"
}

# its libibverbs has another interface to providers, and takes the file of that name
between_releases()
{
	IMAGE=tern-sid container c2 "env LD_DEBUG=files ibv_devices" >"$TMP/devices" 2>&1 ||
		{ tail -n 20 "$TMP/devices"; return 1; }
	grep 'init:.*/libtern-rdmav65.so' "$TMP/devices"
	awk '$1 == "c2"' "$TMP/devices" | has .
	serve c1
	IMAGE=tern-sid container c2 "rping -c -a $C1 -C 20 -v -V" >"$TMP/client"
	wait $server_pid
	pinged "$TMP/client"
}

# c1 has the uverbs of c1 alone
sees() { container c1 ibv_devices | awk 'NR > 2 { print $1 }' | sort | xargs; }
sees_its_own() { [ "$(sees)" = c1 ]; }

# ---- what is missing ------------------------------------------------------------------

# fails MESSAGE COMMAND...: it ends with this in its output
fails()
{
	local message=$1
	shift
	if "$@" >"$TMP/failed" 2>&1; then
		cat "$TMP/failed"
		return 1
	fi
	cat "$TMP/failed"
	grep -q "$message" "$TMP/failed"
}

run_bare() { podman run --rm --network ns:/run/netns/c1 "$@"; }
with_rdma_cm=(--device /dev/infiniband/rdma_cm)

no_devices()
{
	fails 'No such file\|No RDMA devices\|No such device' \
		run_bare tern-rdma rping -c -a $C2 -C 1
	fails 'No such device\|No RDMA devices\|No such file' \
		run_bare "${with_rdma_cm[@]}" tern-rdma rping -c -a $C2 -C 1
}

no_provider()
{
	run_bare --device /dev/infiniband/uverbs0 --device /dev/infiniband/uverbs1 \
		--device /dev/infiniband/uverbs2 debian-rdma ibv_devices | tee "$TMP/devices"
	[ "$(awk 'NR > 2' "$TMP/devices" | wc -l)" = 0 ]
}

little_memlock()
{
	serve_here 1
	MEMLOCK=16384:16384 fails 'Cannot allocate memory\|ibv_reg_mr\|reg_mr' \
		container c1 "rping -c -a $HOST -C 1 -S 65000"
	kill $server_pid
	wait $server_pid || true
}

# ---- a user ---------------------------------------------------------------------------

as_user()
{
	(cd $home && setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=$home \
		XDG_RUNTIME_DIR=/run/user/1000 "$@")
}

user_has_the_image()
{
	useradd -m -u 1000 $user
	grep $user /etc/subuid || usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $user
	install -d -o 1000 -g 1000 /run/user/1000
	chmod 755 /dev/infiniband
	podman save -o $home/image.tar tern-rdma
	chown 1000 $home/image.tar
	as_user podman load -i $home/image.tar
}

rootless()
{
	local uverbs

	uverbs=$(basename "$(dirname "$(grep -lx tern_h /sys/class/infiniband_verbs/*/ibdev)")")
	serve c1
	recipe containers rootless >$home/commands
	as_user env UVERBS="$uverbs" COMMAND="timeout 90 rping -c -a $C1 -C 20 -v -V" \
		bash -eux commands >"$TMP/client"
	wait $server_pid
	pinged "$TMP/client"
}

rootless_link()
{
	fails 'Operation not permitted' as_user unshare --map-root-user --net \
		sh -c 'ip link add d0 type dummy && rdma link add mine type tern netdev d0'
}

ktap_header
modprobe -a tern rdma_ucm overlay
ip link add br0 type bridge
ip address add $HOST/24 dev br0
ip link set br0 up
ip link add wire0 type dummy
ip link set wire0 up
rdma link add tern_h type tern netdev br0
point "podman imports the base" imports
point "podman builds the image with the provider" builds
point "podman builds the same of sid" builds_sid
point "shared: namespaces with a link on a veth each" both veth
point "shared: rping between two containers" between_containers
point "shared: rping from a container to the host" to_the_host
point "shared: sid's rdma-core takes its file of the provider" between_releases
point "shared: a container without the devices has none" no_devices
point "shared: an image without the provider sees none" no_provider
point "shared: memory above memlock is refused" little_memlock
point "a user loads the image" user_has_the_image
point "without root: rping on the host's network" rootless
point "without root: no link in a namespace of one's own" rootless_link
point "links go with their namespaces" both_away
point "shared: namespaces with a link on a macvlan each" both macvlan
point "shared, macvlan: rping between two containers" between_containers
both_away
rdma link delete tern_h
point "the mode becomes exclusive" eventually follow containers exclusive
point "exclusive: namespaces with a link on a veth each" both_moved veth
point "exclusive: a container sees its own device only" sees_its_own
point "exclusive: rping between two containers" between_containers
both_away
finish
