#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Who may include and call whom: by folder, as the table `layers` says. The map in
# architecture.rst and the order of Kbuild are those of the table.
#
# A file uses a header that it includes; a .c file also uses the functions and variables
# that it names and another .c file defines. Members and inline functions need the
# header.
#
#	includes.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "${1:-$(dirname "$0")/../..}"
top=$PWD
layers=$top/selftests/style/layers
cd drivers/tern

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

rows() { grep -v '^#' "$layers"; }

# ---- folders ------------------------------------------------------------------

# "FILE FOLDER" for each source
folders()
{
	find . -name '*.[ch]' -printf '%P %h\n' | sed -E 's| \./([a-z]+).*| \1|'
}

no_row()
{
	cut -d' ' -f2 "$dir/folders" | sort -u |
		grep -vxF -f <(rows | sed 's/[ \t]*:.*//') | sed 's/$/ is not in layers/'
	rows | sed 's/[ \t]*:.*//' | while read -r folder; do
		[ -d "$folder" ] || echo "layers: $folder is not here"
	done
}

not_from_the_ground_up()
{
	rows | awk -F: '
		{
			for (i = split($2, use, " "); i; i--)
				if (!(use[i] in below))
					print "layers: " $1 " may use " use[i]
			sub(/[ \t]+$/, "", $1)
			below[$1] = 1
		}'
}

# ---- the same map elsewhere ---------------------------------------------------

# architecture.rst describes each layer, from the top to the ground, by a line
# "``FOLDER``: FOLDERS" and an indented text
other_map()
{
	# shellcheck disable=SC2016 # the quotes are those of rst
	diff <(rows | sed -E 's/[[:space:]]*:[[:space:]]*/:/g' |
		awk -F: '{ print "``" $1 "``:" ($2 == "" ? "" : " " $2) }' | tac) \
		<(grep -oE '^``[a-z.]+``:.*' "$top/Documentation/architecture.rst") |
		sed -nE 's/^</not in architecture.rst:/p; s/^>/not in layers:/p'
}

# the objects of Kbuild, without .o
objects() { grep -oE '[a-z0-9_/]+\.o\b' Kbuild | grep -vx 'tern\.o' | sed 's/\.o$//'; }

# each source is an object, and the folders come from the top to the ground
other_order()
{
	diff <(sed -n 's/\.c .*//p' "$dir/folders" | sort) <(objects | sort) |
		sed -nE 's/^</not in Kbuild:/p; s/^>/only in Kbuild:/p'
	diff <(rows | sed 's/[ \t]*:.*//' | tac |
		grep -xF -f <(sed -n 's/.*\.c //p' "$dir/folders")) \
		<(objects | sed -E 's|/.*||; t; s|.*|.|' | uniq) |
		sed -nE 's/^</not here in Kbuild:/p; s/^>/not here in layers:/p'
}

# ---- who uses whom ------------------------------------------------------------

# resolve FILE NAME: sets $to to the header that an include of FILE means: one of its own
# folder, or from the top
resolve()
{
	to=${1%/*}/$2
	[[ $1 == */* && -e $to ]] || to=$2
}

# "FILE HEADER HEADER"
includes()
{
	local from name to

	# shellcheck disable=SC2046 # file names of ours, no spaces
	grep -oE '^#include ("|<uapi/)[a-z0-9_/-]+\.h' $(cut -d' ' -f1 "$dir/folders") |
		sed -E 's/:#include ["<]/ /' | while read -r from name; do
		resolve "$from" "$name"
		# env.h is the switch: the kernel's headers, or those of the unit tests
		[ "$name" = env-user.h ] || echo "$from $to $to"
	done
}

code() { cut -d' ' -f1 "$dir/folders" | grep '\.c$'; }

# "NAME FILE": a definition begins its line
definitions()
{
	# shellcheck disable=SC2046 # as above
	grep -HE '^[a-z][^=;(]*\btern_[a-z0-9_]+(\(|\[| =|;)' $(code) |
		grep -vE ':static |:(struct|union|enum) [a-z_]+;' |
		sed -E 's/^([^:]*):[^=;(]*\b(tern_[a-z0-9_]+)(\(|\[| =|;).*/\2 \1/' | sort -u
}

# "FILE NAME": what is named outside of comments
names()
{
	# shellcheck disable=SC2016 # perl's own
	code | xargs perl -0777 -ne '
		s{/\*.*?\*/|//[^\n]*|\b(struct|enum|union) \w+}{}gs;
		$seen{"$ARGV $1"} = 1 while /\b(tern_[a-z0-9_]+)\b/g;
		END { print map { "$_\n" } sort keys %seen }'
}

# "FILE NAME() DEFINER"
calls()
{
	names | sort -k2 | join -1 2 -2 1 - "$dir/definitions" |
		awk '$2 != $3 { print $2, $1 "()", $3 }'
}

# lines of `uses` that the table does not allow
upward_uses()
{
	awk '
		FILENAME ~ /layers$/ {
			split($0, part, ":")
			gsub(/[ \t]/, "", part[1])
			may[part[1]] = " " part[2] " "
			next
		}
		FILENAME ~ /folders$/ { folder[$1] = $2; next }
		{
			f = folder[$1]; t = folder[$3]
			if (t == "" || (f != t && !index(may[f], " " t " ")))
				print
		}' "$layers" "$dir/folders" "$dir/uses"
}

# pairs USES: "A B" for each use between two files, a .c and its .h in one folder being one
pairs()
{
	awk '
		function unit(file) {
			sub(/\.[ch]$/, "", file)
			return file
		}
		FNR == NR { folder[$1] = $2; next }
		{
			a = folder[$1] "/" unit($1)
			b = folder[$3] "/" unit($3)
			if (a != b)
				print a, b
		}' "$dir/folders" "$1" | sort -u
}

# the files of the largest circle
circle()
{
	pairs "$dir/uses" | awk '
		{ to[$1, $2] = file[$1] = file[$2] = 1 }
		END {
			for (k in file) for (i in file) if ((i, k) in to)
				for (j in file) if ((k, j) in to)
					to[i, j] = 1
			for (i in file) {
				n = 0
				for (j in file)
					n += ((i, j) in to) && ((j, i) in to)
				if (n > most)
					most = n
			}
			print most + 0
		}'
}

# A header compiles alone when a .c file includes it before all others: the build says so.
# Kbuild includes compat.h itself; core/ has selftests/core/pure.sh for that, and uapi/,
# which programs include, the next function.
never_first()
{
	local file name to

	# shellcheck disable=SC2046 # as above
	grep -m1 '^#include' $(code) | sed -nE 's/:#include "(.*)".*/ \1/p' |
		while read -r file name; do
			resolve "$file" "$name"
			echo "$to"
		done | sort -u >"$dir/first"
	cut -d' ' -f1 "$dir/folders" | grep '\.h$' | grep -vE '^(core|uapi|compat)/' |
		sort | comm -23 - "$dir/first" | sed 's/$/ is the first include of no .c file/'
}

uapi_not_alone()
{
	local header

	for header in uapi/rdma/*.h; do
		${CC:-gcc} -std=gnu11 -Wall -Werror -Iuapi -fsyntax-only -x c "$header" 2>&1 |
			head -n 3
	done
}

# ---- what one file, or folder, alone may --------------------------------------

core_foreign()
{
	# env.h is the switch
	grep -nE '^#include <' core/*.[ch] | grep -v '^core/env.h:'
}

uapi_foreign()
{
	grep -nE '^#include' uapi/rdma/*.h | grep -v '<linux/types.h>'
}

sockets()
{
	grep -rnE 'struct socket\b' . --include='*.[ch]' |
		grep -vE '^\./(stream/)?sock(_open|_listen)?\.'
}

versions()
{
	grep -rnE 'LINUX_VERSION_CODE|KERNEL_VERSION' . --include='*.[ch]' |
		grep -v '^\./compat/'
}

programs()
{
	grep -rnE '^#include "[^"]*drivers/tern/' "$top/userspace-provider" \
		"$top/tools" "$top/selftests/verbs" --include='*.[ch]' |
		grep -v 'uapi/'
}

folders >"$dir/folders"
definitions >"$dir/definitions"
{ includes; calls; } >"$dir/uses"
upward_uses >"$dir/upward"

verdict each_folder_has_a_row no_row
verdict layers_use_lower_ones not_from_the_ground_up
verdict architecture_rst_has_the_same_map other_map
verdict kbuild_has_the_same_order other_order
verdict nothing_points_up cat "$dir/upward"
verdict each_header_compiles_alone never_first
verdict each_uapi_header_compiles_alone uapi_not_alone
verdict core_includes_core_alone core_foreign
verdict uapi_includes_linux_types_alone uapi_foreign
verdict sock_alone_uses_struct_socket sockets
verdict compat_alone_knows_versions versions
verdict programs_include_uapi_alone programs
echo "# $(pairs "$dir/uses" | wc -l) dependencies of files, $(pairs "$dir/upward" | wc -l)" \
	"of them upward or sideways; $(circle) files in the largest circle"
finish
