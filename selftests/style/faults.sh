#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A check that never failed proves nothing: plant each fault of faults.list in a copy of
# the tree. The scripts pass there without a fault; with one the point that the list
# names must fail.
#
#	faults.sh CHECKPATCH [NAME]		NAME: the faults that begin so
#	TERN_STYLE_LIST=static.list faults.sh ...	those of another list
set -euo pipefail

cd "$(dirname "$0")/../.."
checkpatch=${1:?usage: faults.sh CHECKPATCH [NAME]} chosen=${2:-}
list=$PWD/selftests/style/${TERN_STYLE_LIST:-faults.list}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failed=0 n=0

# run POINT...: these points of one script, in the copy
run()
{
	local script=${1%%__*} args=()

	case $script in
	style)	args=("$checkpatch") ;;
	static)	args=("${checkpatch%/scripts/*}") ;;
	esac
	TERN_STYLE_POINT=$* "$copy/selftests/style/$script.sh" "${args[@]}" 2>&1 || true
}

# result NAME OUTPUT LINE: a point, which passes if the output has such a line
result()
{
	n=$((n + 1))
	if ! grep -qxE "$3" <<<"$2"; then
		printf '%s\n' "$2" | tail -n 20 | sed 's/^/# /'
		echo -n 'not '
		failed=1
	fi
	echo "ok $n - style faults: $1"
}

faults() { grep -vE '^(#|$)' "$list" | sed 's/ *@ */@/g' | grep "^$chosen"; }

git ls-files --cached --others --exclude-standard | while read -r file; do
	[ ! -f "$file" ] || echo "$file"
done | xargs cp -a --parents -t "$copy"
git -C "$copy" init -q
git -C "$copy" add -A

echo "TAP version 13"
for script in $(faults | sed 's/.*@//; s/__.*//' | sort -u); do
	mapfile -t points < <(faults | sed 's/.*@//' | grep "^${script}__" | sort -u)
	output=$(run "${points[@]}")
	for point in "${points[@]}"; do
		result "$point passes" "$output" "ok [0-9]+ - $point"
	done
done
while IFS=@ read -r name file edit point; do
	if ! sed -i "$edit" "$copy/$file" || cmp -s "$file" "$copy/$file"; then
		result "$name" "changes nothing of $file" "not ok"
		continue
	fi
	result "$name" "$(run "$point")" "not ok [0-9]+ - $point"
	cp -a "$file" "$copy/$file"
done < <(faults)
echo "1..$n"
exit $failed
