#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Who may include whom: the layers of Documentation/architecture.rst.
#
#	main, link, nl -> device -> objects -> engines -> services -> core
#
# The engines are three families; none includes another's headers. Each rule
# greps for what it forbids, so a new file is under the rules from its first day.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
src=${1:-$top/drivers/tern}
cd "$src"

send='tx|tx_msg|tx_sched|burst'
receive='rx|place|skb_cursor'
connect='cm|cep|cep_impl|listen|startup|peer|event|conn'
engines="$send|$receive|$connect"
top_layer='main|link|nl|nl_conn|nl_gen'
services='sock|sock_open|mem|umem|mr|mw|sgl|readq|recvq|queue|complete|stats|trace|settings|wishes|sq'
failed=0 n=0

# verdict NAME: what is on stdin breaks the rule NAME
verdict()
{
	local found

	n=$((n + 1))
	found=$(cat)
	if [ -z "$found" ]; then
		echo "ok $n - includes__$1"
	else
		printf '%s\n' "$found" | sed 's/^/# /'
		echo "not ok $n - includes__$1"
		failed=1
	fi
}

# files 'A|B': the .c and .h files of these names that exist
files()
{
	local base

	for base in ${1//|/ }; do
		for f in "$base.c" "$base.h"; do
			[ ! -e "$f" ] || echo "$f"
		done
	done
}

# includes 'A|B' 'C|D': lines in A, B that include C.h or D.h
includes()
{
	# shellcheck disable=SC2046 # file names of ours, no spaces
	grep -nE "^#include \"($2)\.h\"" $(files "$1") /dev/null || true
}

core_foreign()
{
	# env.h is the switch: the kernel's headers, or those of the unit tests
	grep -nE '^#include "' core/*.[ch] | grep -v '^core/env.h:' |
		grep -vE '"[a-z0-9_]+\.h"'
	grep -nE '^#include <' core/*.[ch] | grep -v '^core/env.h:'
	grep -ohE '^#include "[a-z0-9_]+\.h"' core/*.[ch] | sort -u | tr -d '"' |
		while read -r _ name; do
			[ -e "core/$name" ] || echo "core includes $name"
		done
}

uapi_foreign()
{
	grep -nE '^#include' uapi/rdma/*.h | grep -v '<linux/types.h>'
}

engines_mixed()
{
	includes "$send" "$receive|$connect"
	includes "$receive" "$send|$connect"
	includes "$connect" "$send|$receive"
}

upwards()
{
	grep -nE "^#include \"($top_layer)\.h\"" ./*.[ch] |
		grep -vE "^\./($top_layer)\."
}

sockets()
{
	grep -nE 'struct socket\b' ./*.[ch] | grep -vE '^\./sock(_open)?\.'
}

versions()
{
	grep -rnE 'LINUX_VERSION_CODE|KERNEL_VERSION' . --include='*.[ch]' |
		grep -v '^\./compat/'
}

programs()
{
	grep -rnE '^#include "[^"]*drivers/tern/' "$top/userspace-provider" \
		"$top/tools" "$top/selftests/verbs" --include='*.[ch]' |
		grep -v 'uapi/'
}

echo "TAP version 13"
echo "1..9"
verdict core_includes_core_alone < <(core_foreign)
verdict uapi_includes_linux_types_alone < <(uapi_foreign)
verdict engines_do_not_include_each_other < <(engines_mixed)
verdict services_include_no_engine < <(includes "$services" "$engines")
verdict services_and_engines_include_no_stream < \
	<(includes "$services|$engines" 'stream')
verdict nothing_includes_the_top_layer < <(upwards)
verdict sock_alone_uses_struct_socket < <(sockets)
verdict compat_alone_knows_versions < <(versions)
verdict programs_include_uapi_alone < <(programs)
exit "$failed"
