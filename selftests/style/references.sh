#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What the tree refers to is in the tree or public: an RFC and its section, or a row
# of selftests/conformance/requirements. And the document made of that file is fresh.
#
#	references.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "${1:-$(dirname "$0")/../..}"
requirements=selftests/conformance/requirements
# the text of lab/tree is the key of all caches
later='^selftests/(lab/tree|style/references\.sh|style/faults\.list)$'
texts() { files . | grep -vE "$later"; }

# a document that only its authors have, or a number in one; an RFC's section
# without the word RFC
forbidden()
{
	texts | xargs grep -nIE \
		-e '[Cc]hecklist|\b(design|style|house|findings|lab|spec)\.md\b' \
		-e '\b([Dd]esign|[Ii]tem|[Ii]ssue|[Rr]eadings?) #?[0-9]' \
		-e '\b[Ss]tep R?[0-9]|\b(EXT|V2)-[0-9]{3}\b' || true
	texts | xargs grep -nIE '\b(5040|5041|5042|5044|6581|7306) [0-9A-C]+\.[0-9]' |
		grep -v 'RFC' || true
}

# IDs that are cited and no row has; a letter and a number where tests cite rows
unknown()
{
	{
		texts | xargs grep -ohIE '\b(MPA|DDP|RDMAP)-[0-9]{3}\b'
		texts | grep -E '^(Documentation|selftests/(conformance|core|model|net))/' |
			xargs grep -ohIE '\b[GHMFOKPQRS][1-9][0-9]?\b'
	} | sort -u | comm -23 - <(cut -f1 $requirements | sort -u)
}

stale()
{
	selftests/conformance/requirements.sh |
		cmp - Documentation/requirements.rst 2>&1 || true
}

verdict are_to_what_a_reader_has forbidden
verdict are_to_rows_that_exist unknown
verdict requirements_rst_is_what_requirements_sh_writes stale
finish
