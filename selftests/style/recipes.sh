#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The tests run the commands of Documentation/recipes: a script of selftests/ulp, or the one
# that prepares a test of containers, names each block that has a :name:, as FILE NAME.
#
#	recipes.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "${1:-$(dirname "$0")/../..}"

# blocks: RECIPE BLOCK of each
blocks()
{
	awk '$1 == ":name:" { f = FILENAME; sub(/.*\//, "", f); sub(/\.rst$/, "", f); print f, $2 }' \
		Documentation/recipes/*.rst
}

# without comments
scripts() { grep -hv '^[[:space:]]*#' selftests/ulp/*.sh selftests/lab/containers-tree; }

not_followed()
{
	local recipe block n=0

	while read -r recipe block; do
		n=$((n + 1))
		grep -qE "(^| )$recipe $block( |;|\$)" <(scripts) ||
			echo "$recipe.rst: no test follows $block"
	done < <(blocks)
	[ $n -gt 0 ] || echo "no named block at all"
}

verdict each_named_block_is_followed_by_a_test not_followed
finish
