#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Static analysis: the kernel's coccinelle rules over the driver, gcc's analyzer over it, the tool
# and the provider, clang-tidy over the core, the tool, the provider and the programs of the
# conformance suite. What they report without cause is in static.known, with the reason.
#
#	static.sh KERNEL_TOOLS		folder that has scripts/coccinelle
set -euo pipefail

cd "$(dirname "$0")/../.."
tools=${1:?usage: static.sh KERNEL_TOOLS}
# shellcheck source=lib.sh
. selftests/style/lib.sh
known=selftests/style/static.known
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# unknown TOOL: of the findings on stdin, "FILE: text", those that $known has not; and the
# lines of $known for which there was no finding
unknown()
{
	sed -n "s/^$1 @ \([^@]*\) @ .*/\1/p" "$known" >"$copy/known"
	cat >"$copy/found"
	grep -vxF -f "$copy/known" "$copy/found" || true
	grep -vxF -f "$copy/found" "$copy/known" | sed 's/^/is not found any more: /' || true
}

# findings RULE: of spatch's output on stdin. A rule without a report shows a diff instead.
findings()
{
	sed -nE -e 's/^(drivers\/[^:]*):[0-9-]+(:[0-9-]+)?: /\1: /p' \
		-e "s/^--- (drivers\/[^ \t]*).*/\1: see $1/p" | sed 's/ on line [0-9]*//' | sort -u
}

# Each rule has its own options. The one that is left out needs OCaml's compiler.
rules()
{
	local rule mode options

	find "$tools/scripts/coccinelle" -name '*.cocci' ! -name check_bq27xxx_data.cocci | sort |
		while read -r rule; do
			mode=report
			grep -q '^virtual report' "$rule" || mode=context
			options=$(sed -n 's#^// Options: ##p' "$rule" | head -1)
			# shellcheck disable=SC2086 # words
			spatch -D $mode --very-quiet $options --cocci-file "$rule" \
				--dir drivers/tern 2>"$copy/err" | findings "${rule##*/}"
		done
}

coccinelle_rules() { rules | sort -u | unknown coccinelle; }

gcc_analyzer()
{
	local release

	cp -r drivers/tern "$copy/tern"
	release=$(basename "$TERN_CACHE"/tree/usr/lib/modules/*)
	selftests/lab/in-tree -b "$copy/tern:tern" make -C "/lib/modules/$release/build" \
		-j"$(nproc)" M=/mnt/tern KCFLAGS=-fanalyzer modules >"$copy/log" 2>&1 ||
		tail -5 "$copy/log"
	sed -nE 's/^\/mnt\/tern\/([^:]*):[0-9]+:[0-9]+: warning: /drivers\/tern\/\1: /p' \
		"$copy/log" | sort -u | unknown analyzer
}

# The tool and the provider need headers of others: gcc compiles them in the lab's tree, the
# provider by the commands of its build inside rdma-core's source. Its headers are links into
# that build, and are copied for clang-tidy, which this machine has.
compile_programs()
{
	[ ! -e "$copy/commands" ] || return 0
	userspace-provider/build --in-tree "$copy/provider" >"$copy/log" 2>&1
	# shellcheck disable=SC2016 # expanded inside
	selftests/lab/in-tree -b "$PWD:src" -b "$TERN_CACHE:cache" -b "$copy:out" sh -c '
		make -s -C /mnt/src/tools/tern OUT=/mnt/out/tool CFLAGS="-O2 -fanalyzer"
		cd /mnt/cache/provider/rdma-core_*/build || exit
		cp -rL include /mnt/out/include
		ninja -t commands | grep -E " -c [^ ]*/providers/tern/[a-z_]*\.c$" |
			sed -E "s/ -M[FT] [^ ]*//g; s/ -MD//; s/ -o [^ ]*/ -fanalyzer -o \/dev\/null/" |
			sort -u >/mnt/out/commands
		sh -e /mnt/out/commands || echo "error: the provider does not compile"' >"$copy/log" 2>&1
}

gcc_analyzer_of_programs()
{
	compile_programs
	[ -s "$copy/commands" ] || echo "nothing of the provider is compiled"
	sed -nE -e 's#^[^:]*/providers/(tern/[^:]*):[0-9]+:[0-9]+: warning: #\1: #p' \
		-e 's#^([a-z_]+\.c):[0-9]+:[0-9]+: warning: #tools/tern/\1: #p' \
		-e '/error: /p' "$copy/log" | sed 's#^tern/#userspace-provider/#' |
		sort -u | unknown programs
}

# Left out: what kernel style does on purpose
tidy_checks='-*,bugprone-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-assignment-in-if-condition,-bugprone-suspicious-string-compare,-bugprone-implicit-widening-of-multiplication-result,-bugprone-narrowing-conversions,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling'

# tidy FILES [OPTION]...: what it finds in these, a name a line
tidy()
{
	local list
	mapfile -t list <<<"$1"
	shift

	clang-tidy --quiet --checks="$tidy_checks" "${list[@]}" -- "$@" 2>"$copy/err" |
		sed -nE "s#^$PWD/([^:]*):[0-9]+:[0-9]+: (warning|error): #\1: #p" | sort -u
}

# Without files that need the headers of RDMA, and one that includes a generated file
clang_tidy()
{
	local c=drivers/tern/core

	tidy "$(files "$c/*.c" 'selftests/conformance/*.c' | grep -vE '/(agent|level)[^/]*$')" \
		-std=gnu2x -D_GNU_SOURCE -I$c -Iselftests/core -Idrivers/tern \
		-Idrivers/tern/uapi -I"$tools/tools/testing/selftests" | unknown tidy
}

clang_tidy_of_programs()
{
	local system=(--sysroot="$TERN_CACHE/tree" -isystem "$TERN_CACHE/tree/usr/include/libnl3"
		      -isystem "$TERN_CACHE/tree/usr/include/json-c")

	compile_programs
	{
		tidy "$(files 'userspace-provider/*.c')" "${system[@]}" -std=gnu11 -DNDEBUG \
			-I"$copy/include" -Iuserspace-provider
		tidy "$(files 'tools/tern/*.c')" "${system[@]}" -std=gnu2x -D_GNU_SOURCE \
			-DTERN_VERSION='""' -Idrivers/tern/uapi -I"$copy/tool"
	} | unknown tidy-programs
}

TERN_CACHE=${TERN_CACHE:-$HOME/.cache/tern}
verdict coccinelle_rules coccinelle_rules
verdict gcc_analyzer gcc_analyzer
verdict gcc_analyzer_of_programs gcc_analyzer_of_programs
verdict clang_tidy clang_tidy
verdict clang_tidy_of_programs clang_tidy_of_programs
finish
