#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Inside the lab's tree, for faults.sh: build what is in /mnt/tern, whose files are
# those of /mnt/clean:
#
#	fault-build.sh clean		tern as it is
#	fault-build.sh modules K OF	tern with each OF-th fault of it, from K on
#	fault-build.sh provider		the provider as it is, and with each fault of it
#
# A fault NAME of /mnt/out/list becomes /mnt/out/NAME.ko or .so, or NAME.why says
# why not.

set -euo pipefail

out=/mnt/out

# noted TARGET: what kbuild did for it, and noted
noted()
{
	eval "$(sed -n 's/^savedcmd_[^ ]* := //p' "$(dirname "$1")/.${1##*/}.cmd")"
}

# objects_of FILE: the object of a source; of a header all that include it
objects_of()
{
	if [[ $1 == *.c ]]; then
		echo "${1%.c}.o"
		return
	fi
	grep -l "[ /]$1 " ./*/.*.o.cmd | sed 's,/\.\([^/]*\)\.cmd$,/\1,'
}

# make_ko FILE: kbuild itself looks at everything, each time. The objects are as they were
# afterwards.
make_ko()
{
	local objects object status=0

	cd /mnt/tern/drivers/tern
	mapfile -t objects < <(objects_of "$1")
	[ ${#objects[@]} -gt 0 ] || return 1
	tar -cf /tmp/clean.tar "${objects[@]}"
	for object in "${objects[@]}"; do
		noted "$object" || status=1
	done
	{ [ $status = 0 ] && noted tern.o && noted tern.ko; } || status=1
	tar -xf /tmp/clean.tar
	cp tern.ko "$out/new.$$"
	return $status
}

make_so()
{
	rm -rf /tmp/provider
	TERN_CACHE=/mnt/cache TERN_IN_TREE=1 /mnt/tern/userspace-provider/build \
		--work /mnt/work /tmp/provider
	mv /tmp/provider/libtern-rdmav*.so "$out/new.$$"
}

# build_one ko|so NAME FILE EDIT
build_one()
{
	local kind=$1 name=$2 file=$3 edit=$4

	sed "$edit" "/mnt/clean/$file" >"/mnt/tern/$file"
	if cmp -s "/mnt/clean/$file" "/mnt/tern/$file"; then
		echo "the edit changes nothing" >"$out/$name.why"
	elif ! "make_$kind" "${file#drivers/tern/}" >"$out/$name.log" 2>&1; then
		echo "it does not build: $(grep -m 1 'error' "$out/$name.log")" >"$out/$name.why"
	elif cmp -s "$out/new.$$" "$out/control.$kind"; then
		echo "the edit changes no code" >"$out/$name.why"
	else
		mv "$out/new.$$" "$out/$name.$kind"
	fi
	cp "/mnt/clean/$file" "/mnt/tern/$file"
}

# build_all ko|so FOLDER K OF
build_all()
{
	local n=0 name file edit

	while IFS='@' read -r name file edit _; do
		[[ $file == "$2"/* ]] || continue
		n=$((n + 1))
		if [ $((n % $4)) = "$3" ]; then
			build_one "$1" "$name" "$file" "$edit"
		fi
	done <"$out/list"
}

case $1 in
clean)
	make -s -j"$TERN_JOBS" -C /mnt/build ARCH=um M=/mnt/tern/drivers/tern modules
	cp /mnt/tern/drivers/tern/tern.ko "$out/control.ko"
	;;
modules)
	build_all ko drivers "$2" "$3"
	;;
provider)
	# newer than what the last run built from others
	touch /mnt/tern/userspace-provider/*
	make_so
	mv "$out/new.$$" "$out/control.so"
	build_all so userspace-provider 0 1
	;;
esac
