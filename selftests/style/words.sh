#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Words that made comments hard to read, and what to say instead. They may not come
# back into what has been rewritten: the list of folders only grows. C tests check in the
# words of selftests/test.h, and define no others.
#
#	words.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "${1:-$(dirname "$0")/../..}"
# requirements, and what is generated from it, have the words of the RFCs, faults.list lines
# of the sources; the texts of some files of the lab are keys of its caches
converted=(CONTRIBUTING.rst README.md Documentation
	:!Documentation/requirements.rst :!selftests/conformance/requirements
	userspace-provider tools drivers/tern selftests/test.h
	selftests/{lab,runner,style,bench,ulp,kernel,net,verbs,core,model,fuzz,conformance}
	selftests/{abuse,peers,soak,outside}
	:!selftests/verbs/faults.list :!selftests/style/{includes.sh,layers,faults.list}
	:!selftests/lab/{build-module,payload,tree,kernel-make,kernel.config})
# a setting, a field of a frame, the byte of an RFC's layout, the name of a struct and its
# variables
self=selftests/style/words.sh
allowed='early[-_\\]+octets|EARLY_OCTETS|[Oo]ctets? [0-9]|[0-9] octets|low octet'
# shellcheck disable=SC2016 # the quotes are those of rst
allowed+='|__[a-z_]*behind'

# pattern: what to say instead
words()
{
	cat <<'EOF'
behind: after (order and time), below (layers), in (queues)
anew: again
judges?|judged|judging: check
octets?: byte, outside the layouts of the RFCs
wish|wishes|wished: option, request, setting
meanwhile: until then, while it runs
somebody|whoever|whom: name who it is
lest: so that ... not
anyhow: in any case
EOF
}

found()
{
	local pattern instead lines

	while IFS=: read -r pattern instead; do
		lines=$(git grep -InwiE "$pattern" -- "${converted[@]}" ":!$self" |
			grep -vE "$allowed" || true)
		[ -z "$lines" ] || printf 'say:%s\n%s\n' "$instead" "$lines"
	done < <(words)
}

# one vocabulary of checks in C
dialects()
{
	local dialect='(expect|must|skip|check|need|die|fail|assert|EXPECT|MUST|CHECK|ASSERT)[A-Za-z_]*'

	git grep -nE "^#define[[:space:]]+$dialect\(" -- 'selftests/*.[ch]' :!selftests/test.h || true
}

verdict are_plain found
verdict of_c_tests_are_those_of_test_h dialects
finish
