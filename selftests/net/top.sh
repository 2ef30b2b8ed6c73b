#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern top: its figures, what it makes of devices and connections that come and go, and
# what a person sees, on a terminal of tmux.

. ./lib.sh
. ./scene.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its tool"

# top_of_a [OPTION]...: tern -j top, its PID in $top_pid, when it has printed its first report
top_of_a()
{
	# what an earlier one wrote is not this one's
	: >"$TMP/top"
	ip netns exec a tern -j top "$@" >"$TMP/top" 2>"$TMP/stderr" &
	top_pid=$!
	eventually grep -q tern_a "$TMP/top"
}

# reported EXPRESSION: it is true for the array of reports so far
reported() { jq -es "$1" "$TMP/top"; }

quiet()
{
	# shellcheck disable=SC2154 # scene.sh's
	kill -9 $client_pid $server_pid 2>/dev/null || true
	ends $client_pid $server_pid
}

all_ended() { in_a tern -j show connections -a tern_a | jq -e 'all(.ended)'; }

# end_shown NR: it is in a report as ended
end_shown() { reported "any(.[].connections[]; .nr == $1 and .ended)"; }

# the rates of all reports add up to the totals, of each connection and of the device
whole_connection()
{
	local nrs nr
	top_of_a -d 0.5 tern_a
	# shellcheck disable=SC2154 # scene.sh's
	pair 30 $vtraffic server -b 0.0.0.0 -p @PORT@ -- \
		$vtraffic client -a $IP_B -p @PORT@ -m send -n 40 -x 200000
	soon all_ended
	in_a tern -j show connections -i -a tern_a >"$TMP/info"
	nrs=$(jq '.[].nr' "$TMP/info")
	for nr in $nrs; do
		soon end_shown "$nr"
	done
	kill $top_pid
	wait $top_pid || true
	cat "$TMP/top" "$TMP/info"
	for nr in $nrs device; do
		for what in tx_bytes rx_bytes tx_messages rx_messages; do
			moved $nr $what
		done
	done
}

# moved NR|device WHAT: the reports agree with what the connections say of themselves
moved()
{
	# shellcheck disable=SC2016 # jq's
	jq -es --arg nr "$1" --arg what "$2" '
		def mine: select($nr == "device" or (.nr | tostring) == $nr);
		def rates: if $nr == "device" then .devices[] else .connections[] | mine end;
		(.[:-1] | map(.seconds as $s | [rates | .[$what + "_per_s"]] | (add // 0) * $s) | add) as $is |
		(.[-1] | map(mine | .[$what]) | add) as $want | [$is, $want] | debug |
		$want > 0 and ($is - $want | fabs) < $want / 50 + 1' "$TMP/top" "$TMP/info"
}

# the rate of what is still busy is between what was moved before and after
busy()
{
	traffic -m write
	in_a tern -j show connections -i tern_a >"$TMP/before"
	in_a tern -j top -n 1 -d 1 tern_a >"$TMP/top"
	in_a tern -j show connections -i tern_a >"$TMP/after"
	cat "$TMP/before" "$TMP/top" "$TMP/after"
	jq -es ".[1].seconds as \$s | .[1].connections[0] | .program == \"vtraffic\" and
		.pid == $client_pid and .rtt_us > 0 and .state == \"OPEN\" and .tx_bytes_per_s > 0" \
		"$TMP/before" "$TMP/top" "$TMP/after"
	jq -es '(.[1].connections[0].tx_bytes_per_s * .[1].seconds) as $moved |
		$moved <= .[2][0].tx_bytes - .[0][0].tx_bytes and
		$moved > (.[2][0].tx_bytes - .[0][0].tx_bytes) / 10' \
		"$TMP/before" "$TMP/top" "$TMP/after"
	quiet
}

# an ended connection is in one report; one that begins is in those after that
come_and_go()
{
	traffic -m write
	top_of_a -d 0.5
	soon reported 'any(.connections[0].state == "OPEN")'
	quiet
	soon reported 'any(.connections[0].ended) and (.[-1].connections == [])'
	traffic -m write
	soon reported '.[-1].connections[0].tx_bytes_per_s > 0'
	quiet
	kill $top_pid
	wait $top_pid || true
	jq -c '[.connections[] | [.nr, .state, .ended, .tx_bytes_per_s]]' "$TMP/top"
	reported '[.[].connections[] | select(.ended) | .nr] |
		length >= 1 and (unique | length) == length'
}

# connections with much, little and no traffic
sorted()
{
	local busy_server busy_client
	traffic -m write
	busy_server=$server_pid busy_client=$client_pid
	server
	client -c
	in_order '.tx_bytes_per_s + .rx_bytes_per_s | -.'
	in_order '.tx_messages_per_s + .rx_messages_per_s | -.' --sort messages
	in_order '-.rtt_us' -s rtt
	in_order .nr -s nr
	not in_order '-.nr' -s nr
	quiet
	client_pid=$busy_client server_pid=$busy_server
	quiet
}

# in_order KEY [OPTION]...: by this key, the least first
in_order()
{
	in_a tern -j top -n 1 -d 0.5 "${@:2}" tern_a >"$TMP/top"
	jq -c "[.connections[] | $1]" "$TMP/top"
	jq -e "[.connections[] | $1] | length > 1 and . == sort" "$TMP/top"
}

# the device goes, with its connection, and comes back: of the same name it is another one
device_goes()
{
	local text
	traffic -m write
	top_of_a -d 0.3 tern_a
	ip netns exec a tern top -b -d 0.3 dev tern_a >"$TMP/text" &
	text=$!
	soon reported '.[-1].connections[0].tx_bytes_per_s > 0'
	# a tern top that begins without the device ends
	soon grep -q '^tern_a ' "$TMP/text"
	rdma link delete tern_a
	soon reported '.[-1] | .devices == [] and .connections == []'
	soon grep -qx 'tern_a is gone' "$TMP/text"
	quiet
	dev_add a tern_a tern v0a
	soon reported '.[-1].devices[0].name == "tern_a"'
	kill $top_pid $text
	wait $top_pid $text || true
	reported 'all(.seconds > 0.2)'
	not has . <"$TMP/stderr"
}

# other devices of the namespace are left out; a device of another one is not there
one_device()
{
	in_a tern -j top -n 1 -d 0.1 tern_a | jq -e '[.devices[].name] == ["tern_a"]'
	in_a tern -j top -n 1 -d 0.1 | jq -e '[.devices[].name] | index("tern_a") != null'
	not in_a tern top -n 1 nope
}

module_goes()
{
	local status=0
	top_of_a -d 0.2
	# a dump holds the module while it lasts
	soon rmmod tern
	wait $top_pid || status=$?
	cat "$TMP/stderr"
	grep -x 'tern: the module was unloaded' "$TMP/stderr"
	modprobe tern
	dev_add a tern_a tern v0a
	dev_add b tern_b tern v0b
	[ $status = 1 ]
}

# no sequences for a terminal, and a reader that goes ends it
piped()
{
	local status=0
	{ limit 20 in_a tern top -d 0.1 || status=$?; echo $status >"$TMP/status"; } | head -n 5 >"$TMP/text"
	cat "$TMP/text"
	[ "$(wc -l <"$TMP/text")" = 5 ]
	# SIGPIPE
	[ "$(cat "$TMP/status")" = 141 ]
	not has $'\033' <"$TMP/text"
	grep -q '^Device  *Netdev' "$TMP/text"
	in_a tern top -n 2 -d 0.1 >"$TMP/text"
	[ "$(grep -c '^tern top: ' "$TMP/text")" = 2 ]
	in_a tern top -n 2 -d 0.1 >/dev/full 2>"$TMP/stderr" || status=$?
	cat "$TMP/stderr"
	[ $status = 1 ]
}

# ---- on a terminal ----------------------------------------------------------------

mux() { tmux -L tern -f /dev/null "$@"; }
screen() { mux capture-pane -p -t top >"$TMP/screen"; }
# shows REGEX: a line of the screen matches
shows() { screen && { grep -E "$1" "$TMP/screen" || { cat "$TMP/screen"; false; }; }; }

# an interactive shell in a, on a terminal of so many columns and rows
terminal()
{
	mux new-session -d -s top -x "$1" -y "$2" ip netns exec a \
		env PS1='shell> ' TERM=screen sh -i
	mux set-option -g remain-on-exit off
	soon shows '^shell>'
}

type_() { mux send-keys -t top "$@"; }

seen()
{
	traffic -m write
	terminal 100 24
	type_ 'echo before' Enter
	soon shows '^before'
	type_ 'tern top -d 0.2' Enter
	soon shows '^tern_a +[0-9]+ +[0-9.]+[kMG] .* vtraffic '
	screen
	cat "$TMP/screen"
	sed -n 1p "$TMP/screen" | has '^tern top: .* connections by bytes$'
	not has '^before' <"$TMP/screen"
	type_ m
	soon shows 'connections by messages$'
	type_ x
	soon shows 'connections by messages$'
}

# what does not fit is cut off, and nothing of the larger page is left; at once, not with the
# next report
resized()
{
	type_ q
	soon shows '^before'
	type_ 'clear' Enter
	type_ 'tern top -d 1000' Enter
	soon shows '^tern_a +[0-9]+ +- +- .* vtraffic '
	mux resize-window -t top -x 60 -y 7
	soon narrow
	mux resize-window -t top -x 120 -y 30
	soon shows 'vtraffic +10\.7\.0\.2:'
	shows '^Keys: '
	[ "$(grep -c '^tern top: ' "$TMP/screen")" = 1 ]
}
narrow()
{
	screen
	cat "$TMP/screen"
	[ "$(wc -l <"$TMP/screen")" = 7 ]
	sed -n 1p "$TMP/screen" | has '^tern top: '
	# the third and the seventh line of the page are the heads of its tables
	sed -n 3p "$TMP/screen" | has '^Device +Netdev '
	not has 'Remote:Port|^Keys|10\.7\.0\.2' -E <"$TMP/screen"
}

# the shell's screen and its settings are back
stopped()
{
	type_ C-z
	soon shows '^shell>'
	type_ 'stty -a | grep -o " -*icanon\| -*echo "' Enter
	soon shows '^ icanon'
	shows '^ echo'
	type_ 'fg' Enter
	soon shows '^tern top: '
	soon shows 'vtraffic'
}

ended_by()
{
	type_ 'clear' Enter
	type_ 'tern top -d 0.2; echo status $?' Enter
	soon shows 'vtraffic'
	"$@"
	soon shows 'status 0$'
	type_ 'stty -a | grep -o " -*icanon\| -*echo "' Enter
	soon shows '^ icanon'
	shows '^ echo'
}

left()
{
	type_ q
	soon shows '^shell>'
	ended_by type_ q
	ended_by type_ C-c
	ended_by pkill -x tern
	type_ 'tern top -d 0.1 -n 3; echo over $?' Enter
	soon shows 'over 0$'
	pkill -9 -x vtraffic
	soon not pgrep -x vtraffic
}

# the terminal goes
hung_up()
{
	type_ 'tern top' Enter
	soon shows '^tern top: '
	mux kill-server
	soon not pgrep -x tern
}

wanted=("$@")

topo_up
proves "a whole connection between two samples: its totals over that time" whole_connection
proves "an open connection: what it moved between two samples" busy
proves "connections come and go: each end is shown once" come_and_go
proves "connections are sorted by bytes, round trip time and number" sorted
proves "a device goes and comes back" device_goes
proves "one device, or all" one_device
proves "piped: text alone, until the reader goes" piped
if [ ${#wanted[@]} = 0 ]; then
	point "on a terminal: the page, and keys" seen
	point "on a terminal: its size changes" resized
	point "on a terminal: stopped, and continued" stopped
	point "on a terminal: it is given back at the end" left
	point "on a terminal: it goes" hung_up
fi
proves "the module is unloaded: a line, and status 1" module_goes
finish
