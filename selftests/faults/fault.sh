#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# In a guest of faults.sh, as the test NAME: the command in NAME.args over the
# tern that is beside us as NAME.ko, and over NAME.so if there is one, a provider.

set -euo pipefail

me=$(basename "$0")
here=$(cd "$(dirname "$0")" && pwd)

bail()
{
	echo "Bail out! $*"
	exit 2
}

unload()
{
	[ ! -d /sys/module/tern ] || rmmod tern
}

unload || bail "another tern stays loaded"
insmod "$here/$me.ko" || bail "it does not load"
provider=
if [ -e "$here/$me.so" ]; then
	provider=$(realpath /usr/lib/*/libibverbs/libtern-rdmav*.so)
	mount --bind "$here/$me.so" "$provider"
fi
read -ra command <"$here/$me.args"
cd "../${command[0]%/*}"
status=0
"./${command[0]##*/}" "${command[@]:1}" || status=$?
[ -z "$provider" ] || umount "$provider"
unload || bail "it cannot be unloaded any more"
exit $status
