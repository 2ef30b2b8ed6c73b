#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Inside the lab's tree, for faults.sh: build tern in /mnt/tern, whose sources are
# those of /mnt/clean:
#
#	fault-build.sh clean		as it is
#	fault-build.sh K OF		with each OF-th line of /mnt/out/list, from K on
#
# A fault NAME becomes /mnt/out/NAME.ko, or /mnt/out/NAME.why says why not.

set -euo pipefail

kmake=(make -s -C /mnt/build ARCH=um M=/mnt/tern)
out=/mnt/out

build_one()
{
	local name=$1 file=$2 edit=$3

	sed "$edit" "/mnt/clean/$file" >"/mnt/tern/$file"
	rm -f /mnt/tern/tern.ko
	if cmp -s "/mnt/clean/$file" "/mnt/tern/$file"; then
		echo "the edit changes nothing" >"$out/$name.why"
	elif ! "${kmake[@]}" modules >"$out/$name.log" 2>&1; then
		echo "it does not build: $(grep -m 1 'error' "$out/$name.log")" >"$out/$name.why"
	elif cmp -s /mnt/tern/tern.ko "$out/control.ko"; then
		echo "the edit changes no code" >"$out/$name.why"
	else
		cp /mnt/tern/tern.ko "$out/$name.ko"
	fi
	cp "/mnt/clean/$file" "/mnt/tern/$file"
}

if [ "$1" = clean ]; then
	"${kmake[@]}" -j"$TERN_JOBS" modules
	cp /mnt/tern/tern.ko "$out/control.ko"
	exit
fi
n=0
while IFS='@' read -r name file edit _; do
	n=$((n + 1))
	if [ $((n % $2)) = "$1" ]; then
		build_one "$name" "$file" "$edit"
	fi
done <"$out/list"
