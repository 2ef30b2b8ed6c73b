#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The selftests of RDMA that the newest kernel has (tools/testing/selftests/rdma), over tern.
#
# They are written for rxe. A copy gets the other link type and module. They take rxe's UDP
# port, which is open while a device is there, as the sign of a device; for the copy a program
# `ss` calls that port open while there is a link. What they prove of the port itself is
# listed as skipped. TERN_SET_RXE_PORT=1 leaves the real ss in place: five of them must fail.

cd "$(dirname "$0")" || exit 1
. ../net/lib.sh

source=${TERN_KSELFTEST:-/mnt/kselftest}
copy=$TMP/rdma

# The driver's names, and nothing else: the names of their own devices keep their rxe.
copy_all()
{
	cp -r "$source/rdma" "$source/kselftest" "$TMP/"
	sed -i -E "s/\btype rxe\b/type tern/g; s/\brdma_rxe\b/tern/g" "$copy"/*.sh
	mkdir "$TMP/bin"
	[ -n "${TERN_SET_RXE_PORT:-}" ] || cat >"$TMP/bin/ss" <<-'END'
	#!/bin/bash
	[ -z "$(rdma link show)" ] || echo "UNCONN 0 0 *:4791 *:*"
	END
	chmod -f +x "$TMP/bin/ss" || true
}

# what the kernel's makefile calls a test
names() { sed -n '/^TEST_PROGS/,/[^\\]$/p' "$source/rdma/Makefile" | grep -o '[a-zA-Z0-9_]*\.sh'; }

of_tern() { grep -q 'type tern' "$copy/$1" && not grep -E 'type rxe|rdma_rxe' "$copy/$1"; }

# run NAME: its output, and 4 if it skips. It may unload the module.
run()
{
	local status=0

	of_tern "$1"
	modprobe tern
	(cd "$copy" && PATH=$TMP/bin:$PATH limit 60 "./$1") 2>&1 | tee "$TMP/said" || status=$?
	modprobe tern
	return $status
}

# said NAME: each point that the script reports becomes one of ours
said()
{
	local line

	while IFS= read -r line; do
		case $line in
		"ok "*"# SKIP"*) ktap_test_skip "kernel: $1: $(title "$line")" "it says so" ;;
		"ok "*)		ktap_test_pass "kernel: $1: $(title "$line")" ;;
		"not ok "*)	ktap_test_fail "kernel: $1: $(title "$line")" ;;
		esac
	done <"$TMP/said"
}

title() { sed -E 's/^(not )?ok [0-9]+ //; s/ *# .*//' <<<"$1"; }

# one NAME: a point for the script, those of its own, and what of it cannot be
one()
{
	: >"$TMP/said"
	point "kernel: $1" run "$1"
	said "$1"
	! grep -q 4791 "$copy/$1" ||
		ktap_test_skip "kernel: $1: UDP port 4791" \
			"rxe's own: tern has a socket only where a program listens or connects"
}

[ "$TERN_TYPE" = tern ] || skip_all "the copy is for tern"
[ -d "$source/rdma" ] || skip_all "the kernel's selftests are not here"
ktap_header
copy_all
point "kernel: its makefile names tests" names
for name in $(names); do
	one "$name"
done
ktap_test_skip "kernel: net/rds over RDMA" "rds_rdma takes devices of the type IB CA only"
ktap_test_skip "kernel: selftests of NFS and of NVMe" "the kernel has none"
finish
