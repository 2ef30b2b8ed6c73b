#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# In a guest of faults.sh, as the test NAME: the suite over the tern that is
# beside us as NAME.ko, with the options in NAME.args.

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
read -ra options <"$here/$me.args"
cd ../conformance
status=0
./conform.sh "${options[@]}" || status=$?
unload || bail "it cannot be unloaded any more"
exit $status
