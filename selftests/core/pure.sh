#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The core is pure: each file needs only mem* and crc32c from outside and includes only
# the core's headers, each of which compiles alone.
set -euo pipefail

cd "$(dirname "$0")"
. ../style/lib.sh
CORE=${CORE:-../../drivers/tern/core}
CC=${CC:-gcc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for c in "$CORE"/*.c; do
	"$CC" -std=gnu2x -O2 -Wall -Wextra -Werror -I. -c -o "$dir/$(basename "$c" .c).o" "$c"
done
nm -g --defined-only "$dir"/*.o | awk 'NF == 3 { print $3 }' | sort -u > "$dir/own"
for o in "$dir"/*.o; do
	nm -u "$o" | awk '{ print $2 }' | sort -u > "$dir/needs"
	alien=$(comm -23 "$dir/needs" "$dir/own" |
		grep -v -x -E 'mem(cpy|move|set|cmp)|crc32c|__stack_chk_fail' || true)
	verdict "$(basename "$o" .o)_needs_only_mem_and_crc32c" printf %s "$alien"
done
for h in "$CORE"/*.h; do
	err=$(echo "#include \"$(basename "$h")\"" |
	      "$CC" -std=gnu2x -Wall -Wextra -Werror -I"$CORE" -I. -fsyntax-only -x c - 2>&1 || true)
	verdict "$(basename "$h")_compiles_alone" printf %s "$err"
done
for f in "$CORE"/*.[ch]; do
	alien=$(grep -E '^#include' "$f" | grep -v -E '"[a-z_]+\.h"' || true)
	[ "$(basename "$f")" = env.h ] && alien=
	verdict "$(basename "$f")_includes_core_only" printf %s "$alien"
done
finish
