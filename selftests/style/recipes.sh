#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The tests run the commands of Documentation/recipes: a script of selftests/ulp names
# each block that has a :name:, as FILE NAME.
#
#	recipes.sh [TOP]
set -euo pipefail

cd "${1:-$(dirname "$0")/../..}"
failed=0 n=0

# blocks: RECIPE BLOCK of each
blocks()
{
	awk '$1 == ":name:" { f = FILENAME; sub(/.*\//, "", f); sub(/\.rst$/, "", f); print f, $2 }' \
		Documentation/recipes/*.rst
}

# without comments
scripts() { grep -hv '^[[:space:]]*#' selftests/ulp/*.sh; }

while read -r recipe block; do
	n=$((n + 1))
	grep -qE "(^| )$recipe $block( |;|\$)" <(scripts) ||
		{ echo "# $recipe.rst: no test follows $block"; failed=1; }
done < <(blocks)
[ $n -gt 0 ] || { echo "# no named block at all"; failed=1; }
[ $failed = 0 ] || echo -n 'not '
echo "ok 1 - recipes__each_named_block_is_followed_by_a_test"
exit $failed
