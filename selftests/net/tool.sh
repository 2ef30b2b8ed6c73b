#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The tool tern as a program: help, options, abbreviations, exit status, JSON, completion
# by bash, the spec for ynl. (link.sh and settings.sh test what its settings do,
# connections.sh what it says of connections.)

. ./lib.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its tool"

# exits STATUS WORD...: tern in a exits so, with one line on stderr unless it is 0
exits()
{
	local want=$1 status=0
	shift
	in_a tern "$@" >"$TMP/stdout" 2>"$TMP/stderr" || status=$?
	cat "$TMP/stderr"
	[ "$status" = "$want" ] || { echo "status $status, not $want: tern $*"; return 1; }
	[ "$want" = 0 ] || [ "$(wc -l <"$TMP/stderr")" = 1 ] ||
		{ echo "not one line: tern $*"; return 1; }
}

# says REGEX WORD...: it succeeds, and its output matches
says()
{
	exits 0 "${@:2}"
	grep -qE "$1" "$TMP/stdout" || { cat "$TMP/stdout"; return 1; }
}

commands() { tern help | sed -nE 's/^(Usage:|      ) tern ([a-z]+).*/\2/p' | sort -u; }

help_of_each()
{
	local command count=0
	for command in $(commands); do
		says "^Usage: tern $command" "$command" help
		says "^Usage: tern $command" help "$command"
		says "^Usage: tern $command" "$command" -h
		says "^Usage: tern $command" --help "$command"
		count=$((count + 1))
	done
	[ $count -ge 4 ]
	says '^Usage: tern show' help
	says '^Usage: tern show' -h
	says '^    rnic +non-permissive, permissive or rdmac$' set help
}

help_is_for_all()
{
	rmmod tern
	says '^Usage: tern show' help
	exits 2 frobnicate
	exits 2 set tern_a crc maybe
	exits 1 show
	modprobe tern
	dev_add a tern_a tern v0a
	dev_add b tern_b tern v0b
}

version()
{
	says '^tern [0-9]+\.[0-9]+$' -V
	says '^tern [0-9]+\.[0-9]+$' show --version
}

# of commands that begin alike the first is meant; a word "dev" may be before a device
abbreviations()
{
	says '^tern_a: netdev v0a$' sh tern_a
	says '^tern_a: netdev v0a$' s dev tern_a
	says '^State ' sh c
	says '^State ' show conn dev tern_a
	exits 0 se tern_a crc off
	exits 0 set dev tern_a crc on
	exits 0 --js show
	exits 0 -json -pretty show
}

wrong_usage()
{
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # words
		exits 2 $words
		[ ! -s "$TMP/stdout" ] || { cat "$TMP/stdout"; return 1; }
	done <<-'EOF'
	frobnicate
	shown
	help frobnicate
	--frobnicate show
	-x show
	show -x
	show tern_a tern_b
	show --all
	show -i
	show -t
	show connections tern_a tern_b
	set
	set tern_a
	set tern_a crc
	set tern_a crc on markers
	set tern_a colour red
	set tern_a crc maybe
	set tern_a crc on crc off
	set tern_a mpa-rev two
	set tern_a mpa-rev 4294967296
	set tern_a half-open -- -1
	set tern_a rtr write,
	set tern_a features 7306,,v2
	set tern_a rnic rdma
	set --all tern_a crc on
	monitor tern_a
	monitor -o
	metrics one two
	top tern_a tern_b
	top -n 0
	top -n 1x
	top -n -- -1
	top -d 0
	top -d nan
	top -d 1s
	top -s speed
	top --all
	show -b
	diagnose 10.7.0.2 7174 three
	diagnose -a
	EOF
	[ "$(in_a tern 2>&1 >/dev/null | head -n 1)" != '' ]
	not in_a tern 2>/dev/null
}

refusals()
{
	exits 1 show nope
	exits 1 show connections nope
	exits 1 top nope
	exits 1 set nope crc on
	exits 1 set tern_a half-open 0
	exits 1 set tern_a rtr read,read
	exits 1 set tern_a features v2
	exits 1 show "$(printf 'x%.0s' {1..200})"
	# on a refusal there is no JSON, not half of it
	exits 1 -j show nope
	[ ! -s "$TMP/stdout" ]
}

# full or closed output, as a program that reads it may leave it
output_that_fails()
{
	local status=0
	in_a tern show >/dev/full 2>"$TMP/stderr" || status=$?
	cat "$TMP/stderr"
	[ $status = 1 ] && grep -q 'No space left' "$TMP/stderr"
}

# -p changes how JSON looks, not what it says
json()
{
	local words
	for words in show 'show tern_a' 'show connections' 'show connections -a'; do
		# shellcheck disable=SC2086 # words
		exits 0 -j $words
		cp "$TMP/stdout" "$TMP/plain"
		[ "$(wc -l <"$TMP/plain")" = 1 ]
		# shellcheck disable=SC2086 # words
		exits 0 --json --pretty $words
		diff <(jq -c . "$TMP/plain") <(jq -c . "$TMP/stdout")
	done
	[ "$(in_a tern -j show tern_a | jq -r '.[0].netdev')" = v0a ]
	in_a tern -jp show | grep '^    "name":'
}

# completes WORDS... = CANDIDATES...: what bash offers for the last word
completes()
{
	local words=()
	while [ "$1" != = ]; do words+=("$1"); shift; done
	shift
	# shellcheck disable=SC2016 # expanded inside
	ip netns exec a bash -c '
		. /usr/local/share/bash-completion/completions/tern
		complete -p tern >/dev/null || exit
		COMP_WORDS=(tern "$@") COMP_CWORD=$#
		_tern tern "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "${words[@]}" | sort >"$TMP/offered"
	diff <(printf '%s\n' "$@" | sort) "$TMP/offered"
}

completion()
{
	completes mon = monitor
	completes help mon = monitor
	completes --js = --json
	completes show tern_ = tern_a tern_b
	completes show dev tern_a = tern_a
	completes show con = connections
	completes show connections --in = --info
	completes -j show connections tern_ = tern_a tern_b
	completes set tern_a r = rtr rnic rtr-ms reply-ms request-ms
	completes set dev tern_a early = early-octets
	completes set tern_a crc o = on off
	completes set tern_a mpa-rev '' = 1 2
	completes set tern_a rnic '' = non-permissive permissive rdmac
	completes set tern_a crc on features '' = none 7306 v2 long-fpdu
	completes set tern_a extensions '' = off negotiate assume-7306
	completes set tern_a close-ms '' = ''
	completes showconf tern_ = tern_a tern_b
	completes setconf tern_a /etc/hostn = /etc/hostname
	completes up h = help
	completes top tern_ = tern_a tern_b
	completes top -n 3 tern_ = tern_a tern_b
	completes top -n '' = ''
	completes top --sort me = messages
	completes top -s '' = bytes messages retransmits rtt nr
	completes metrics /etc/hostn = /etc/hostname
}

# each setting of the kernel's is in the tool's help, and so in the completion
each_setting()
{
	diff <(in_a tern -j show tern_a | jq -r '.[0].settings | keys_unsorted[]' | tr _ -) \
		<(in_a tern set help | sed -nE 's/^    ([a-z0-9-]+) .*/\1/p')
}

# devices FILE: the same of each from either tool; ynl has enumerations from the spec
devices()
{
	jq -c 'sort_by(.name)[] | [.name, .netdev, (.settings | (.["close-ms"] // .close_ms),
		.rnic, .extensions, (.features | sort))]' "$1"
}

# the example of tern(8), by the kernel's own tool, which finds the installed spec by the name
ynl()
{
	in_a tern set tern_a close-ms 1234 rnic permissive features 7306
	in_a /mnt/ynl/cli.py --family tern --dump dev-get --output-json | tee "$TMP/ynl"
	in_a tern -j show | tee "$TMP/tern"
	devices "$TMP/ynl" | grep 1234
	diff <(devices "$TMP/ynl") <(devices "$TMP/tern")
}

topo_up
point "help for each command, by help, -h and a word before or after" help_of_each
point "-V prints the version" version
point "commands, options and the word connections may be shortened" abbreviations
point "wrong usage: status 2, a line, nothing on standard output" wrong_usage
point "refusals: status 1, a line" refusals
point "output that cannot be written: status 1" output_that_fails
point "JSON by -j, in lines by -p" json
point "completion by bash" completion
point "each setting of the kernel is in the help of set" each_setting
point "the kernel's ynl, with the installed spec, says the same as show" ynl
point "without the module: help, wrong usage, and a refusal" help_is_for_all
finish
