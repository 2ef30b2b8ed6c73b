#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The guest's part of profile: a row's tool with a quarter of the messages and with all,
# each between marks that the plugin of QEMU sees; and the kernel's symbols.

. "$(dirname "$0")/compare.sh"
# shellcheck source=rows.sh
. ../bench/rows.sh

candidate=$TERN_SET_PROFILE_CANDIDATE
n=$TERN_SET_PROFILE_MESSAGES
row=$(printf '%s\n' "${rows[@]}" "${kinds[@]}" | grep "^$TERN_SET_PROFILE_ROW ")
# the tool and its options, without a count
tool=$(sed 's/^[^ ]* [^ ]* [^ ]* //; s/ -n [0-9]*//' <<<"$row")
size=$(sed -n 's/.* -s \([0-9]*\).*/\1/p' <<<"$row")

mark()
{
	"$TMP/mark" "$@"
}

# messages N: TCP sends as many bytes
messages()
{
	if [ "$candidate" = tcp ]; then
		in_b iperf3 -s -1 -p 5201 >/dev/null &
		eventually listening 5201
		in_a iperf3 -c "$IP_B" -p 5201 -n $(($1 * size)) -l "$size" >&2
		wait
		return
	fi
	# shellcheck disable=SC2086 # words
	run_tool $tool -n "$1"
}

counted()
{
	mark
	messages "$1"
	mark end
}

base64 -d <<<"$TERN_SET_PROFILE_MARK" >"$TMP/mark"
chmod +x "$TMP/mark"
place "$TERN_SET_PROFILE_PLACE"
[ "$candidate" = tcp ] || up "$candidate"
# the first run loads modules
messages $((n / 4))
counted $((n / 4))
counted "$n"
symbols
