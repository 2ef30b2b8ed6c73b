#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern-conform-agent's --state command for tern:
#
#	hook-state.sh DEV ADDRESS PORT
#
# Print `key value` lines about the latest connection of DEV, ended ones included,
# whose peer has that TCP address and port.

set -euo pipefail

# shellcheck disable=SC2016 # jq's own variables
tern show connections "$1" --all --json |
	jq -r --arg remote "$2" --argjson port "$3" '
		[.[] | select(.remote == $remote and .remote_port == $port)]
		| max_by(.nr) // empty | to_entries[]
		| "\(.key) \(if .value == null then "-" else .value end)"'
