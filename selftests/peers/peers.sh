#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Hostile peers, each made from a seed (peer.c), against a program of b (victim.c). After each
# batch of them no connection is left, the kernel's log has no report, and a good client is
# served. They have to come deep: how many reach Full Operation, and which Terminates they
# get, is counted. kmemleak and the removal of the module come at the end.
#
#	 netns a                       netns b
#	+-------------------------+   +--------------------------------+
#	| peer 10.7.0.66,         |   |  victim, vtraffic              |
#	|   fd00:7::66 (packets)  |   |     |                          |
#	|     v0a 10.7.0.1 -------+---+-- v0b 10.7.0.2  tern_b         |
#	| tern_a: the good client |   |                                |
#	+-------------------------+   +--------------------------------+
#
# The kernel of a does not have the peer's addresses, so it answers nothing; b knows its
# link-layer address by static entries. Every second batch goes over IPv6; floods do not.
#
# Arguments are words: seed=N runs that seed alone, with verbose to see what it does, count=M
# those after it too, manner=K with these settings of the victim and family=4|6, which a batch
# names when it fails; floods these points alone; bystander and cost those of bystander.sh and
# cost.sh, which are in no other run.
# TERN_SET_PEERS_SECONDS (300): how long; TERN_SET_SEED (1): the first seed.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh
# shellcheck source=../net/scene.sh
. ./scene.sh
cd ../peers || exit
# shellcheck source=bystander.sh
. ./bystander.sh
# shellcheck source=cost.sh
. ./cost.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: it counts tern's counters"

seconds=${TERN_SET_PEERS_SECONDS:-300}
seed=${TERN_SET_SEED:-1}
alone='' only=() count=1 verbose='' manner='' wanted_manner='' family='' wanted_family=''
per_batch=50
flood=10000
OWN=10.7.0.66
OWN6=fd00:7::66
PORT=7474
control=$TMP/control
# what the victim sets differently from batch to batch
manners=("crc on markers off" "crc off markers off" "crc on markers on" "crc off markers on")

for word; do
	case $word in
	seed=*)		seed=${word#*=} alone=1 ;;
	count=*)	count=${word#*=} ;;
	manner=*)	wanted_manner=${word#*=} ;;
	family=*)	wanted_family=${word#*=} ;;
	verbose)	verbose=verbose ;;
	floods|bystander|cost) only+=("$word") ;;
	*)		skip_all "unknown word $word" ;;
	esac
done

# ---- the places ------------------------------------------------------------------------

mac_of() { ip netns exec "$1" cat "/sys/class/net/$2/address"; }

victim_up()
{
	ip netns exec b ./victim $PORT "$control" "$IP_B" "$IP6_B" >"$TMP/victim" 2>&1 &
	victim_pid=$!
	eventually grep -qx 'victim: ready' "$TMP/victim" || { cat "$TMP/victim"; return 1; }
}

places_up()
{
	topo_up
	# the peer's segments have up to 1460 bytes, also over IPv6
	ip -n a link set v0a mtu 1520
	ip -n b link set v0b mtu 1520
	in_a sysctl -qw net.ipv4.ip_forward=0
	in_b ip neigh add $OWN lladdr "$(mac_of a v0a)" dev v0b nud permanent
	in_b ip neigh add $OWN6 lladdr "$(mac_of a v0a)" dev v0b nud permanent
	# a SYN whose sender is silent from then on is forgotten after 3 s
	in_b sysctl -qw net.ipv4.tcp_synack_retries=1
	in_b tern set tern_b request-ms 1000 reply-ms 1000 rtr-ms 500 close-ms 200
	victim_up
	server
}

# ---- a batch ----------------------------------------------------------------------------

victim_lives() { kill -0 $victim_pid 2>/dev/null || { cat "$TMP/victim"; return 1; }; }
peer_sockets() { in_b ss -Htan "dst $OWN or dst [$OWN6]" | grep -v TIME-WAIT; }
no_sockets() { ! peer_sockets | has .; }
no_connections() { [ "$(in_b tern --json show connections tern_b | jq length)" = 0 ]; }
no_qps() { ! everywhere rdma resource show | has -E 'tern_b:.* qp [1-9]'; }
no_report() { [ ! -s "$TMP/reports" ] || { cat "$TMP/reports"; return 1; }; }
left()
{
	peer_sockets || true
	in_b tern show connections tern_b
	everywhere rdma resource show
	return 1
}

# nothing is left, within the timers of tern and of the victim
all_gone()
{
	took eventually no_connections || left
	took eventually no_qps || left
	took eventually no_sockets || left
}

good_client()
{
	limit 30 in_a $vtraffic client -a $IP_B -p $port -n 20 -x 20000 >"$TMP/client" 2>&1 ||
		{ cat "$TMP/client" "$TMP/server"; return 1; }
}

# batch FIRST COUNT
batch()
{
	local nth=$((($1 - 1) / per_batch)) words own=$OWN victim=$IP_B

	manner=${wanted_manner:-$((nth % ${#manners[@]}))}
	# each manner with each in turn
	family=${wanted_family:-$(((nth + nth / ${#manners[@]}) % 2 ? 6 : 4))}
	[ "$family" = 4 ] || own=$OWN6 victim=$IP6_B
	read -ra words <<<"${manners[manner]}"
	in_b tern set tern_b "${words[@]}"
	took limit 300 in_a ./peer seed="$1" count="$2" netdev=v0a own=$own victim=$victim \
		mac="$(mac_of b v0b)" port=$PORT control="$control" $verbose \
		>"$TMP/peer" 2>&1 || {
		grep -v '^# [a-zA-Z]*.*: [0-9]*$' "$TMP/peer"
		victim_lives || true
		echo "to run it again: --args 'seed=$1 count=$2 manner=$manner family=$family'"
		return 1
	}
	[ -z "$verbose" ] || cat "$TMP/peer" "$TMP/victim"
	grep '^# [a-zA-Z].*: [0-9]*$' "$TMP/peer" >>"$TMP/counts"
	victim_lives
	all_gone
	took good_client
	no_report
	victim_lives
}

# ---- how deep they came -----------------------------------------------------------------

# total NAME: of all batches
total() { awk -F': ' -v name="# $1" '$1 == name { n += $2 } END { print n + 0 }' "$TMP/counts"; }
totals() { awk -F': ' '{ n[$1] += $2 } END { for (i in n) print i ": " n[i] }' "$TMP/counts" | sort; }
# what tern_b has counted
statistic()
{
	everywhere rdma statistic show link tern_b/1 | sort -u |
		grep -oE '[a-z_]+ [1-9][0-9]*' | sed 's/^/# tern_b /'
}

# deep SEEDS: half of the peers reach Full Operation, a third are answered there; in a long
# run they meet most of the errors that end a connection
deep()
{
	local of=$1 terms

	terms=$(totals | grep -c '^# Terminate [0-9]') || true
	echo "$of seeds, $(total 'reached Full Operation') in Full Operation, $(total 'reached FPDUs in it') answered, $terms Terminates"
	[ "$(total 'reached Full Operation')" -ge $((of / 2)) ]
	[ "$(total 'reached FPDUs in it')" -ge $((of / 3)) ]
	[ "$terms" -ge "$([ "$of" -ge 500 ] && echo 12 || echo 3)" ]
	[ "$(total 'reached markers')" -ge $((of / 10)) ]
	[ "$(total 'reached version 2')" -ge 1 ]
	[ "$(total 'reached one to compare')" -ge $((of / 20)) ]
}

# ---- many at once --------------------------------------------------------------------------

MOST_WAITING=512	# of connections without a QP: half-open's default, of two kinds
MOST_SOCKETS=1024	# with those that TCP has in its backlog, and without the victim's
MOST_BUFFERS=16384	# KiB of TCP
MOST_SLAB=32768		# KiB, more than before
MOST_OF_ONE=24		# KiB of slab of a connection that the victim has accepted
# the checked kernel keeps what was freed in KASAN's quarantine
[ "${TERN_LANE:-}" != uml-debug ] || MOST_SLAB=$((MOST_SLAB * 3))

# shellcheck disable=SC2016 # awk's
buffers() { in_b awk '/^TCP:/ { print $NF * 4 }' /proc/net/sockstat; }
# tern's connections without a QP, and those of the victim, to their end: state and QP are columns
waiting() { in_b tern show connections tern_b | awk '/^(REQUEST_WAIT|LINGER) / && $4 == "-"' | wc -l; }
accepted() { in_b tern show connections tern_b | awk '/^(RTR_WAIT|OPEN|CLOSING|LINGER) / && $4 != "-"' | wc -l; }
slab() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }

flooded() { [ "$(peer_sockets | wc -l)" -ge 20 ]; }

# wait for that, until the attack is over
wait_for_many()
{
	until flooded; do
		kill -0 $attacker || { cat "$TMP/flood"; return 1; }
		sleep 0.1
	done
}

# attack SECONDS WORD...: many connections at once, in the background, PID in $attacker
attack()
{
	ip netns exec a ./peer flood="$1" "${@:2}" netdev=v0a own=$OWN victim=$IP_B \
		mac="$(mac_of b v0b)" control="$control" >"$TMP/flood" 2>&1 &
	attacker=$!
}

# in_budget SLAB: what b has for the peer; slab was SLAB before
in_budget()
{
	local sockets kib more tern open

	# the victim accepts more while this counts
	sockets=$(peer_sockets | wc -l) kib=$(buffers) tern=$(waiting) more=$(($(slab) - $1))
	open=$(accepted)
	echo "$sockets sockets, $tern connections of tern without a QP, $open were accepted, buffers of $kib KiB, slab $more KiB more"
	[ "$sockets" -le $((MOST_SOCKETS + open)) ]
	[ "$kib" -le $MOST_BUFFERS ]
	[ "$tern" -le $MOST_WAITING ]
	[ "$more" -le $((MOST_SLAB + open * MOST_OF_ONE)) ]
}

# came NAME LEAST: so many at least of what the flood counts as NAME
came()
{
	[[ $(<"$TMP/flood") =~ ,\ ([0-9]+)\ $1 ]]
	[ "${BASH_REMATCH[1]}" -ge "$2" ]
}

# flood NAME LEAST WORD...: while there are many a good client is served, and LEAST at least
# of what the flood counts as NAME came
flood()
{
	local before

	in_b tern set tern_b crc on markers off
	before=$(slab)
	attack $((3 * TERN_TIMEOUT_SCALE)) port=$PORT "${@:3}"
	wait_for_many
	in_budget "$before"
	took good_client
	kill -0 $attacker
	in_budget "$before"
	wait $attacker
	cat "$TMP/flood"
	came "$1" "$2"
	victim_lives
	all_gone
	no_report
}

# slow_flood WORD...: tern waits long enough for a Request
slow_flood()
{
	in_b tern set tern_b request-ms $((5000 * TERN_TIMEOUT_SCALE))
	flood "of slow Requests" 20 "$@"
	came Terminates 10
}

# beside WHAT COMMAND...: a point, and what it says; if it fails, the attack ends with it
beside()
{
	point "a good client is served beside $1" "${@:2}"
	pkill -x peer || true
	in_b tern set tern_b request-ms 1000
	sed 's/^/# /' "$TMP/out"
}

floods()
{
	# the checked kernel's victim accepts what it can
	local least=$((TERN_TIMEOUT_SCALE > 1 ? 100 : 500))

	beside "$flood half-open connections" flood answers 100 as=SYNs count=$flood
	beside "as many silent ones" flood answers 100 as=silent count=$flood
	beside "3000 that send a byte a second" slow_flood as=slow count=3000
	beside "1000 startups" flood Replies $least as=startups count=1000 rate=200
	beside "1000 storms of Terminates" flood Replies $least as=Terminates count=1000 rate=200
}

unload()
{
	# the guards are looked at each 100 ms
	sleep 0.3
	victim_lives
	kill $victim_pid
	kill $server_pid
	wait $victim_pid $server_pid 2>/dev/null || true
	rdma link delete tern_a
	rdma link delete tern_b
	timeout $((10 * TERN_TIMEOUT_SCALE)) rmmod tern
}

places_up
dmesg -W 2>/dev/null | grep --line-buffered -E "$TERN_BAD_LOG" >"$TMP/reports" 2>/dev/null &
: >"$TMP/counts"
if [ ${#only[@]} -gt 0 ]; then
	for word in "${only[@]}"; do $word; done
elif [ -n "$alone" ]; then
	point "peers of seeds $seed to $((seed + count - 1)) leave nothing" batch "$seed" "$count"
	[ -z "$verbose" ] || sed 's/^/# /' "$TMP/out"
else
	end=$((SECONDS + seconds)) first=$seed
	while [ $SECONDS -lt $end ]; do
		point "peers of seeds $seed to $((seed + per_batch - 1)) leave nothing" \
			batch "$seed" $per_batch
		: >"$TMP/reports"
		seed=$((seed + per_batch))
	done
	# not in the short form
	if [ "$seconds" -ge 60 ]; then
		floods
	fi
	point "they come deep" deep $((seed - first))
	sed 's/^/# /' "$TMP/out"
	totals
	statistic
fi
point "the module can be removed" unload
modprobe tern 2>/dev/null || true
finish
