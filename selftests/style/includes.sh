#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Who may include whom: the layers of Documentation/architecture.rst.
#
#	main, link, nl -> device -> objects -> engines -> services -> core
#
# The engines are three families; none includes another's headers. Each rule
# greps for what it forbids, so a new file is under the rules from its first day.
# What objects may call of engines, and services of objects, is a list: decisions.rst
# says why ("Objects call engines by a list").
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
src=${1:-$top/drivers/tern}
cd "$src"

send='tx|tx_msg|tx_sched|burst'
receive='rx|place|skb_cursor'
connect='cm|cep|cep_impl|cep_timer|listen|startup|peer|event|conn|rdma_id|crowd'
engines="$send|$receive|$connect"
objects='device|pd|ucontext|doorbell|dv|cq|srq|qp|stream'
top_layer='main|link|nl|nl_conn|nl_gen'
services='sock|sock_open|charge|mem|grace|umem|umem_dmabuf|mr|mw|sgl|readq|recvq|queue|complete|stats|trace|settings|wishes|sq'
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

# declared 'A|B': the functions that A.h and B.h declare; a prototype begins its line
declared()
{
	local base

	for base in ${1//|/ }; do
		[ ! -e "$base.h" ] || sed -nE 's/^[a-z][^(]*\b(tern_[a-z0-9_]+)\(.*/\1/p' "$base.h"
	done
}

# uses 'A|B' 'C|D': "A.c C.h" for each header of C, D that A, B include, and
# "A.c function()" for each function of C, D that they name
uses()
{
	includes "$1" "$2" | sed -E 's/:.*"(.*)"$/ \1/'
	# shellcheck disable=SC2046 # file names of ours, no spaces
	grep -owF -f <(declared "$2") $(files "$1" | grep '\.c$') /dev/null |
		sed 's/:\(.*\)/ \1()/'
}

# beyond LIST: lines of stdin that are not among the lines of LIST; and lines of LIST
# that nothing uses, lest the list be longer than the truth
beyond()
{
	local used

	used=$(sort -u)
	comm -23 <(echo "$used") <(sort -u <<<"$1")
	comm -13 <(echo "$used") <(sort -u <<<"$1") | sed 's/$/ (allowed, and not used)/'
}

# The device fills iw_cm's table and has what connections leave behind; a QP starts
# and ends its engines; its stream runs them.
objects_to_engines="\
device.c cep.h
device.c cm.h
device.c conn.h
device.c crowd.h
device.c tern_cep_abort_device()
device.c tern_cm_accept()
device.c tern_cm_connect()
device.c tern_cm_create_listen()
device.c tern_cm_destroy_listen()
device.c tern_cm_reject()
device.c tern_conn_exit()
device.c tern_conn_init()
device.c tern_crowd_exit()
device.c tern_crowd_init()
qp.c cep.h
qp.c tern_cep_get()
qp.c tern_cep_put()
qp.c tern_tx_defer()
qp.c tern_tx_exit()
qp.c tern_tx_kick()
qp.c tern_tx_run_here()
qp.c tern_tx_sched_exit_qp()
qp.c tern_tx_sched_init_qp()
qp.c tx_sched.h
qp.h burst.h
stream.c cep.h
stream.c rx.h
stream.c tern_cep_abort_qp()
stream.c tern_cep_stream_event()
stream.c tern_rx_init()
stream.c tern_rx_run()
stream.c tern_tx_at_boundary()
stream.c tern_tx_cut()
stream.c tern_tx_init()
stream.c tern_tx_run()
stream.c tern_tx_kick()
stream.c tern_tx_run_here()
stream.c tern_tx_sched()
stream.c tx.h
stream.c tx_sched.h"

# Beside device.h and qp.h, which say where a service's state is kept.
services_to_objects="\
complete.c cq.h
complete.c tern_cq_push()
complete.c tern_qp_assert_locked()
complete.c tern_qpn()
queue.c ucontext.h
sq.c tern_qp_assert_locked()"

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
echo "1..11"
verdict core_includes_core_alone < <(core_foreign)
verdict uapi_includes_linux_types_alone < <(uapi_foreign)
verdict engines_do_not_include_each_other < <(engines_mixed)
verdict services_include_no_engine < <(includes "$services" "$engines")
verdict services_and_engines_include_no_stream < \
	<(includes "$services|$engines" 'stream')
verdict objects_call_engines_by_a_list < \
	<(uses "$objects" "$engines" | beyond "$objects_to_engines")
verdict services_call_objects_by_a_list < \
	<(uses "$services" "$objects" | grep -vE ' (device|qp)\.h$' | beyond "$services_to_objects")
verdict nothing_includes_the_top_layer < <(upwards)
verdict sock_alone_uses_struct_socket < <(sockets)
verdict compat_alone_knows_versions < <(versions)
verdict programs_include_uapi_alone < <(programs)
exit "$failed"
