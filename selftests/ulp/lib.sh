# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by the tests of this folder, after net/lib.sh: run the commands of
# Documentation/recipes as a reader would type them.

RECIPES=${RECIPES:-$(dirname "${BASH_SOURCE[0]}")/../../recipes}

# short: `make check` runs a short form of each test.
short() { [ -n "${TERN_SET_ULP_SHORT:-}" ]; }
# the short form in the checked kernel: without what that in Debian's kernel has as well
shortest() { short && [ "${TERN_LANE:-}" = uml-debug ]; }

# recipe FILE NAME: the commands of the block NAME of the recipe FILE
recipe()
{
	awk -v name="$2" '
		$1 == ":name:" { on = $2 == name; next }
		on && /^[^ ]/ { on = 0 }
		on && NF { sub(/^   /, ""); print; n++ }
		END { exit !n }' "$RECIPES/$1.rst" ||
		{ echo "no block $2 in $1.rst" >&2; return 1; }
}

# follow FILE NAME [VARIABLE=VALUE...]: run them, with the variables set as a reader
# would
follow()
{
	local commands
	commands=$(recipe "$1" "$2")
	env "${@:3}" bash -euxc "$commands"
}

# follow_in NETNS ...: the same on that host. `ip netns exec` would give each command its
# own mounts, which end with it; here the two hosts share one set.
follow_in()
{
	local ns=$1 commands
	commands=$(recipe "$2" "$3")
	limit 60 nsenter --net="/run/netns/$ns" env "${@:4}" bash -euxc "$commands"
}

# needs_modules MODULE...: skip the test if the kernel lacks one.
needs_modules()
{
	modprobe -qan "$@" 2>/dev/null || skip_all "this kernel lacks one of: $*"
}

# bytes of FPDUs that $COUNTED, this end's device, sent and received; it may be removed
fpdu_bytes()
{
	local dir=/sys/class/infiniband/$COUNTED/ports/1/hw_counters tx=0 rx=0
	if [ -e "$dir" ]; then
		tx=$(<"$dir/tx_bytes")
		rx=$(<"$dir/rx_bytes")
	fi
	echo $((tx + rx))
}

# over_tern BYTES COMMAND...: at least that many go over the device
over_tern()
{
	local least=$1 before moved
	before=$(fpdu_bytes)
	shift
	"$@"
	moved=$(($(fpdu_bytes) - before))
	echo "$moved bytes went over $COUNTED"
	[ "$moved" -ge "$least" ]
}

# ---- messages of the extensions, unasked -------------------------------------------

# The caller sets $target_port, $private, private data in hex, and $near, how to run a
# command at the client.

# unasked WANT MESSAGE: a stranger connects to the target and sends it this message
# (unasked.py); what comes last is WANT, a pattern
# shellcheck disable=SC2154 # those that the caller sets
unasked()
{
	echo "$2:"
	limit 40 "${near[@]}" ./unasked.py "$IP_B" "$target_port" "$2" "$private" >"$TMP/unasked"
	cat "$TMP/unasked"
	tail -n 1 "$TMP/unasked" | has -x "$1"
}

# ends_by WANT MESSAGE: the target's device says why, and ends the stream
ends_by()
{
	unasked "end\|reset" "$2"
	tail -n 2 "$TMP/unasked" | has -x "$1"
}

# The target's device has no extensions.
refuses_all()
{
	ends_by "terminate 0/2/06" imm
	ends_by "terminate 0/2/06" atomic
	ends_by "terminate 0/2/05" send-imm
}

# Its device has extensions, and RFC 7306 is taken from any peer: an atomic needs a key that
# opens memory for it, Immediate Data an entry without a buffer, and a Send with Immediate
# a hello.
takes_some()
{
	ends_by "terminate 0/1/00" atomic
	ends_by "terminate 0/2/05" send-imm
	ends_by "terminate 0/2/06" imm
	unasked "end\|reset\|open" v2
}
