#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Regenerate the netlink code from its spec and compare it with what is
# committed:
#
#	ynl-check.sh [--update] KERNEL_SOURCE
#
# KERNEL_SOURCE is an unpacked linux-source (7.3 or later); needs python3-yaml.

set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
	update=1
	shift
fi
[ $# = 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }

top=$(cd "$(dirname "$0")/.." && pwd)
gen=$1/tools/net/ynl/pyynl/ynl_gen_c.py
[ -f "$gen" ] || { echo "ynl-check: no $gen" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

# The generator wants the spec where the kernel has it, names it so, and knows
# the root of a kernel by this file.
mkdir -p "$tmp/Documentation/netlink/specs"
cp "$1"/Documentation/netlink/*.yaml "$tmp/Documentation/netlink/"
touch "$tmp/MAINTAINERS"
cp "$top/Documentation/netlink/tern.yaml" "$tmp/Documentation/netlink/specs/"

# compare MODE KIND FILE
compare()
{
	local new=$tmp/nl_gen.c

	timeout 60 python3 "$gen" --mode "$1" "--$2" \
		--spec "$tmp/Documentation/netlink/specs/tern.yaml" -o "$new"
	# Names of files as they are here.
	sed -i -e 's|Documentation/netlink/specs/tern.yaml|Documentation/netlink/tern.yaml|' \
		-e 's|tools/net/ynl/ynl-regen.sh|tools/ynl-check.sh --update|' "$new"
	if [ -n "$update" ]; then
		cp "$new" "$top/$3"
	elif ! diff -u "$top/$3" "$new"; then
		status=1
	fi
}

compare uapi header drivers/tern/uapi/rdma/tern-nl.h
compare kernel header drivers/tern/nl/nl_gen.h
compare kernel source drivers/tern/nl/nl_gen.c
if [ -z "$update" ] && [ "$status" = 0 ]; then
	echo "ynl-check: netlink code is what its spec generates"
fi
exit "$status"
