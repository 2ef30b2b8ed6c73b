#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The tool and the manual pages: mandoc finds nothing, the tool names errors as traces
# do, and tern(8) has each setting.
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.."

# One of its matters of style is not ours: lines of a source may have 100 bytes here.
page_warnings()
{
	local page

	files '*.[1-8]' | while read -r page; do
		mandoc -T lint -W style "$page" | grep -v 'input text line longer than 80 bytes' || true
	done
}

# names of Terminates in a source
names() { grep -oE '"(RDMAP|DDP|MPA): [^"]+"' "$1" | sort; }

other_names() { diff <(names drivers/tern/core/term.c) <(names tools/tern/term.c) || true; }

undocumented()
{
	local name

	sed -nE 's/^\t\[TERN_A_SETTINGS_.*\{ "([a-z0-9-]+)",.*/\1/p' tools/tern/settings.c |
		while read -r name; do
			grep -qE "^\.B[IR]? ${name//-/..}( |$)" tools/tern/tern.8 || echo "$name"
		done
}

verdict manual_pages_have_no_warning page_warnings
verdict tool_names_errors_as_traces_do other_names
verdict each_setting_is_in_the_manual undocumented
finish
