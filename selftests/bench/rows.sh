# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # rows and kinds are the script's, candidate is of it
# Sourced after compare.sh. The rows are those of the scripts that count instructions: one CPU,
# so all wait for events, but for ib_write_bw, whose client polls alone (perftest refuses
# events there).

# the tools with events run out of credits and stop unless each Send is signalled (-Q 1)
rows=(
	"write-64K MiB/s high ib_write_bw -s 65536 -n 300"
	"send-64K MiB/s high ib_send_bw -s 65536 -n 300 -e -Q 1"
	"read-64K MiB/s high ib_read_bw -s 65536 -n 300 -e"
	"write-64 1000/s high ib_write_bw -s 64 -n 5000"
	"send-64 1000/s high ib_send_bw -s 64 -n 20000 -e -Q 1"
	"read-64 1000/s high ib_read_bw -s 64 -n 2000 -e"
	"send-lat-8 us low ib_send_lat -s 8 -n 1000 -e"
	"read-lat-8 us low ib_read_lat -s 8 -n 1000 -e"
)

# immediate data takes a receive, and perftest has no credits for that: -r
kinds=(
	"write-8 1000/s high ib_write_bw -s 8 -n 5000"
	"write-imm-8 1000/s high ib_write_bw -s 8 -n 5000 -r 5000 --write_with_imm"
	"send-8 1000/s high ib_send_bw -s 8 -n 20000 -e -Q 1"
	"read-8 1000/s high ib_read_bw -s 8 -n 5000 -e"
	"fetch-add-8 1000/s high ib_atomic_bw -A FETCH_AND_ADD -n 5000 -e"
	"cmp-swap-8 1000/s high ib_atomic_bw -A CMP_AND_SWAP -n 5000 -e"
)

# Rows that drive runs (drive.c): NAME OPTIONS. As many messages as make a figure repeat
# within 1%.
driven=(
	"write-64 write -s 64 -n 8000 -d 128"
	"send-64 send -s 64 -n 4000"
	"write-64-polls write -s 64 -n 8000 -d 128 -p"
	"send-64-polls send -s 64 -n 8000 -d 128 -p"
	"write-64-lists write -s 64 -n 7680 -d 128 -l 16 -p"
	"send-64-lists send -s 64 -n 7680 -d 128 -l 16 -p"
	"read-64 read -s 64 -n 4000"
	"write-64K write -s 65536 -n 800"
	"send-64K send -s 65536 -n 800"
	"read-64K read -s 65536 -n 800"
	"ping-8 ping -s 8 -n 4000"
	"fetch-add-8 fetch-add -s 8 -n 4000"
)

# drive_up: what drive needs beside a device at each host: its place and a neighbour
drive_up()
{
	# shellcheck disable=SC2153 # of lib.sh
	[ "$where" = veth ] || IP_A=$IP_B
	eventually in_a ping -q -c 1 -W 1 "$IP_B" >/dev/null
}

# drive_row NAME CANDIDATE [OPTION...]: what drive prints
drive_row()
{
	local options

	options=$(printf '%s\n' "${driven[@]}" | sed -n "s/^$1 //p")
	case $2:$1 in
	tcp:ping-*) options=tcp-${options} ;;
	tcp:*)	    options="tcp ${options#* }" ;;
	esac
	# shellcheck disable=SC2086 # words
	limit 120 ../bench/drive $options "${@:3}"
}

# missed ROW COMMAND...: of $candidate; how many runs of posts of the client a timer sent
# (doorbell_missed). For scripts that source scene.sh, too.
missed()
{
	local row=$1 fpdus runs

	shift
	if [ "$candidate" != tern ]; then
		"$@"
		return
	fi
	fpdus=$(counter dev_a tx_fpdu)
	runs=$(counter dev_a doorbell_missed)
	"$@"
	echo "# $row: $(($(counter dev_a doorbell_missed) - runs)) runs by the backstop," \
		"$(($(counter dev_a tx_fpdu) - fpdus)) FPDUs sent" >&2
}

# place veth|lo|host: make a and b two hosts, or two names of this host; host is lo with the
# MTU of Ethernet
place()
{
	where=$1
	if [ "$where" = veth ]; then
		wires_up
		return
	fi
	if [ "$where" = lo ]; then one_host 65536; else one_host 1500; fi
}

# run_tool TOOL OPTIONS...: its output is $TMP/client
run_tool()
{
	local tool=$1 client=(-d dev_a "$IP_A")
	shift
	[ "$where" = veth ] || client=(-d dev_b "$IP_B")
	# without the peak, which takes time by the square of the messages
	[[ $tool != *_bw ]] || set -- -N "$@"
	pair 120 "$tool" -R -F -p @PORT@ "$@" -d dev_b --bind_source_ip "$IP_B" -- \
		"$tool" -R -F -p @PORT@ "$@" "${client[0]}" "${client[1]}" \
		--bind_source_ip "${client[2]}" "$IP_B" >&2
}

# own_figure UNIT: what the tool of run_tool says, its average; of latencies, the typical one
own_figure()
{
	case $1 in
	MiB/s)	awk '$1 ~ /^[0-9]+$/ && NF == 5 { print $4 }' ;;
	1000/s)	awk '$1 ~ /^[0-9]+$/ && NF == 5 { print $5 * 1000 }' ;;
	us)	awk '$1 ~ /^[0-9]+$/ && NF > 5 { print $5 }' ;;
	esac <"$TMP/client"
}

# symbols: of the kernel, for counts.py
symbols()
{
	echo 0 >/proc/sys/kernel/kptr_restrict
	awk '$2 ~ /^[tTwW]$/ { print $1, $3, $4 }' /proc/kallsyms |
		gzip -1 | base64 -w 100 | sed 's/^/KSYM /'
}
