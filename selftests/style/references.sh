#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What the tree refers to is in the tree or public: an RFC and its section, or a row
# of selftests/conformance/requirements. And the document made of that file is fresh,
# and the documents name functions and files that there are.
#
#	references.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "${1:-$(dirname "$0")/../..}"
requirements=selftests/conformance/requirements
# the text of lab/tree is the key of all caches; an SVG's paths are full of M80 and the like
later='^(selftests/(lab/tree|style/references\.sh|style/faults\.list)|Documentation/.*\.svg)$'
texts() { files . | grep -vE "$later"; }

# a document that only its authors have, or a number in one; an RFC's section or rule
# without the word RFC; in what TEST() cites each number with a dot is a section
forbidden()
{
	texts | xargs grep -nIE \
		-e '[Cc]hecklist|\b(design|style|house|findings|lab|spec)\.md\b' \
		-e '\b([Dd]esign|[Ii]tem|[Ii]ssue|[Rr]eadings?) #?[0-9]' \
		-e '\b(MPA|DDP|RDMAP) rule [0-9]' \
		-e '\b[Ss]tep R?[0-9]' || true
	texts | xargs grep -nIE '\b(5040|5041|5042|5044|6581|7306) [0-9A-C]+\.[0-9]' |
		grep -v 'RFC' || true
	# shellcheck disable=SC2016 # awk's
	texts | grep '_test\.c$' | xargs awk '
		/^TEST\(/ { inside = 1 }
		inside && !/RFC/ && /[" ][0-9]+\.[0-9]/ { print FILENAME ":" FNR ":" $0 }
		/\)/ { inside = 0 }'
}

with_letters='^(Documentation|drivers/tern|'
with_letters+='selftests/(conformance|core|fuzz|kernel|model|net|verbs))/'

# IDs that are cited and no row has; a letter and a number where tests cite rows
unknown()
{
	{
		texts | xargs grep -ohIE '\b(MPA|DDP|RDMAP|EXT|V2)-[0-9]{3}\b'
		texts | grep -E "$with_letters" |
			xargs grep -ohIE '\b[GHMFOKPQRS][1-9][0-9]?\b'
	} | sort -u | comm -23 - <(cut -f1 $requirements | sort -u)
}

# functions of the kernel and of others that no file here calls, and files of theirs
foreign='begin_cpu_access|call_rcu|cm_disconnect_handler|dma_buf_vmap|end_cpu_access'
foreign+='|kernel_sock_shutdown|mem_cgroup_sk_alloc|tcp_cleanup_rbuf|tcp_get_info'
foreign+='|tcp_set_window_clamp'
foreign+='|ib_umem_dmabuf_get|ibv_import_device|pidfd_getfd|cma\.c|infiniband/terndv\.h'

# ``function()`` and ``folder/file.c`` of a document that the tree does not have
gone()
{
	local documents=(CONTRIBUTING.rst Documentation/*.rst)

	# shellcheck disable=SC2016 # the quotes are those of rst
	grep -ohE '``[a-z_0-9]+\(' "${documents[@]}" | tr -d '`(' | sort -u |
		comm -23 - <(files '*.[ch]' '*.sh' '*.py' | xargs grep -ohE '[a-z_0-9]+\(' |
			tr -d '(' | sort -u) | grep -vxE "$foreign"
	# shellcheck disable=SC2016
	grep -ohE '``[a-z_0-9/-]+\.(c|h|sh|py)``' "${documents[@]}" | tr -d '`' | sort -u |
		grep -vxE "$foreign" | grep -vxF -f <(files . | sed -E 'p; :a; s|^[^/]*/||p; ta')
}

stale()
{
	selftests/conformance/requirements.sh |
		cmp - Documentation/requirements.rst 2>&1 || true
}

verdict are_to_what_a_reader_has forbidden
verdict are_to_rows_that_exist unknown
verdict are_to_functions_and_files_that_exist gone
verdict requirements_rst_is_what_requirements_sh_writes stale
finish
