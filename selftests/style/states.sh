#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Documentation/states.rst shows the two state machines as they are: states.c, built
# with the core, prints each step, and states.py compares.
#
#	states.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# differences WHAT
differences() { python3 "$here/states.py" "$1" Documentation/states.rst "$dir/steps"; }

core=drivers/tern/core
${CC:-gcc} -std=gnu2x -Wall -Wextra -Werror -I$core -Iselftests/core -o "$dir/states" \
	"$here/states.c" $core/{qp,cm}_fsm.c
"$dir/states" >"$dir/steps"

verdict each_name_is_explained differences names
verdict tables_are_those_of_the_code differences tables
verdict diagrams_are_those_of_the_code differences diagrams
finish
