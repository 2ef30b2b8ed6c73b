#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The core is pure: each file needs only mem* and crc32c from outside and includes only
# the core's headers, each of which compiles alone.
set -euo pipefail

cd "$(dirname "$0")"
CORE=${CORE:-../../drivers/tern/core}
CC=${CC:-gcc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 failed=0

verdict() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "# $2"
		echo "not ok $n - $1"
		failed=1
	fi
}

echo "TAP version 13"
for c in "$CORE"/*.c; do
	"$CC" -std=gnu2x -O2 -Wall -Wextra -Werror -I. -c -o "$dir/$(basename "$c" .c).o" "$c"
done
nm -g --defined-only "$dir"/*.o | awk 'NF == 3 { print $3 }' | sort -u > "$dir/own"
for o in "$dir"/*.o; do
	nm -u "$o" | awk '{ print $2 }' | sort -u > "$dir/needs"
	alien=$(comm -23 "$dir/needs" "$dir/own" |
		grep -v -x -E 'mem(cpy|move|set|cmp)|crc32c|__stack_chk_fail' || true)
	verdict "pure__$(basename "$o" .o)_needs_only_mem_and_crc32c" "${alien//$'\n'/ }"
done
for h in "$CORE"/*.h; do
	err=$(echo "#include \"$(basename "$h")\"" |
	      "$CC" -std=gnu2x -Wall -Wextra -Werror -I"$CORE" -I. -fsyntax-only -x c - 2>&1 || true)
	verdict "pure__$(basename "$h")_compiles_alone" "${err%%$'\n'*}"
done
for f in "$CORE"/*.[ch]; do
	alien=$(grep -E '^#include' "$f" | grep -v -E '"[a-z_]+\.h"' || true)
	[ "$(basename "$f")" = env.h ] && alien=
	verdict "pure__$(basename "$f")_includes_core_only" "${alien//$'\n'/ }"
done
echo "1..$n"
exit $failed
