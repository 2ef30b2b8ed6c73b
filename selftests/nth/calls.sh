#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Is each call of tern that the environment may refuse a point? A tern.ko whose points make no
# calls imports what is called elsewhere: each of these names is in the list `unrefused`, below a
# reason, and each entry of the list is such a name. It sees names, not calls: who puts a
# function into the list answers for all calls of it. What the headers of another kernel call
# is not in the list: there it is skipped.

. "$(dirname "$0")/../lab/common.sh"
. "$TOP/selftests/style/lib.sh"

"$LAB/build-module" nocalls
module=$TERN_CACHE/vm/modules/nocalls/tern.ko
release=$(grep -a -m 1 -o 'vermagic=[^ ]*' "$module")
release=${release#vermagic=}
listed=$(sed -n 's/^# kernel //p' "$TOP/selftests/nth/unrefused")
if [ "$release" != "$listed" ]; then
	echo "ok 1 - calls__each_import_is_a_point_or_has_a_reason # SKIP $release, listed is $listed"
	points=1
	finish
fi
mapfile -t imports < <(nm -u "$module" | awk '{ print $2 }')
mapfile -t entries < <(grep -vE '^(#|$)' "$TOP/selftests/nth/unrefused")

# in_list NAME PATTERN...
in_list()
{
	local pattern

	for pattern in "${@:2}"; do
		# shellcheck disable=SC2053 # a glob is meant
		[[ $1 != $pattern ]] || return 0
	done
	return 1
}

in_no_list()
{
	local name

	for name in "${imports[@]}"; do
		in_list "$name" "${entries[@]}" ||
			echo "$name: make it a point (points.sed, points.h), or say in unrefused why not"
	done
}

not_imported()
{
	local entry

	for entry in "${entries[@]}"; do
		printf '%s\n' "${imports[@]}" | grep -xe "${entry/%\*/.*}" >/dev/null ||
			echo "unrefused: tern does not import $entry, or only for a point"
	done
}

verdict each_import_is_a_point_or_has_a_reason in_no_list
verdict each_reason_is_for_an_import not_imported
finish
