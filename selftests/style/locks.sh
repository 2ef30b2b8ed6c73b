#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The tables of Documentation/locking.rst name each lock, counter of references and bool
# member of the driver, and nothing that is not in the code.
#
#	locks.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "${1:-$(dirname "$0")/../..}"
doc=Documentation/locking.rst
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# ---- the code -----------------------------------------------------------------

# "TYPE NAME" for each definition of a lock: NAME is STRUCT.MEMBER, or a global's;
# and for each other member. Programs include uapi/, which has no state.
# shellcheck disable=SC2016 # awk's own
definitions()
{
	find drivers/tern -name '*.[ch]' ! -path '*/uapi/*' -print0 | xargs -0 awk '
		FNR == 1 { name = "" }
		match($0, /DEFINE_(MUTEX|SPINLOCK|RWLOCK|XARRAY[A-Z0-9_]*)\(/) {
			sub(/.*DEFINE_[A-Z0-9_]*\(/, "")
			sub(/\).*/, "")
			print "lock", $0
			next
		}
		/^struct [a-z0-9_]+ \{/ { name = $2; next }
		/^}/ { name = "" }
		{
			sub(/\/\*.*/, "")
			if (!sub(/;[ \t]*$/, "") || $0 !~ /^(\t|static )/ ||
			    (!name && $0 ~ /^\t|[(=]/))
				next
			type = "other"
			if ($0 ~ /[ \t](raw_)?(spinlock_t|rwlock_t) / ||
			    $0 ~ /[ \t]struct (mutex|rw_semaphore|xarray|rhashtable) [a-z]/)
				type = "lock"
			else if ($0 ~ /[ \t](struct kref|refcount_t) [a-z]/)
				type = "reference"
			else if ($0 ~ /^\t+bool /)
				type = "flag"
			if (!name && type != "lock")
				next
			# a pointer to a function is named in its parentheses
			if ($0 ~ /\(\*/) {
				sub(/.*\(\*/, "")
				sub(/\).*/, "")
			}
			gsub(/\[[^]]*\]|:.*/, "")
			sub(/^.*[ \t*]/, "")
			print type, name ? name "." $0 : $0
		}' | sort -u
}

of_type() { sed -n "s/^$1 //p" "$dir/definitions" | sort -u; }

# ---- the document -------------------------------------------------------------

# The names in the first column of the tables of a section, one or several ("``A``, ``B``")
# in a row. The borders of a table are above its heading, below it, and at its end.
rows()
{
	awk -v title="$1" '
		/^(=+|-+)$/ { within = last == title; border = 0 }
		within && /^=+ +=/ { border++; next }
		within && border && border % 3 == 2 && /^``/ {
			split($0, part, "``")
			i = 0
			do
				print part[i += 2]
			while (part[i + 1] == ", ")
		}
		{ last = $0 }' "$doc" | sort -u
}

# "struct NAME" stands for each bool of the struct
flag_rows()
{
	local row

	rows Flags | while read -r row; do
		case $row in
		struct*) of_type flag | grep "^${row#struct }\." || echo "$row" ;;
		*) echo "$row" ;;
		esac
	done | sort -u
}

# differ CODE ROWS: names that one of them lacks
differ()
{
	comm -3 "$1" "$2" | sed "s|^\t\(.*\)|\1 is not in the code|; t; s|\$| is not in $doc|"
}

locks()
{
	differ <(of_type lock) <(rows 'Each lock')
}

counters()
{
	differ <(of_type reference) <(rows References | grep -F .)
}

flags()
{
	differ <(of_type flag) <(flag_rows)
}

other_members()
{
	comm -13 <(cut -d' ' -f2 "$dir/definitions" | sort -u) \
		<(rows 'Other members that say yes or no') | sed 's/$/ is not in the code/'
}

definitions >"$dir/definitions"
verdict each_lock_is_in_the_table locks
verdict each_counter_is_in_the_table_of_references counters
verdict each_bool_is_in_the_tables_of_flags flags
verdict other_members_that_say_yes_or_no_exist other_members
finish
