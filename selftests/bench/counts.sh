# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced after lab/common.sh by the scripts of this folder that count instructions: boots
# the VM in icount mode with plugin.c.

bench=$TOP/selftests/bench

# The version of the plugin interface to ask for: QEMU 9 dropped the first ones.
api()
{
	[ "$(qemu_version | cut -d. -f1)" -ge 9 ] && echo 2 || echo 1
}

# 7.2
qemu_version()
{
	qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9]*\.[0-9]*\).*/\1/p'
}

# build_plugin DIR
build_plugin()
{
	gcc -O2 -Wall -Wextra -fPIC -shared -DAPI="$(api)" -o "$1/plugin.so" "$bench/plugin.c"
}

# count_guest DIR PROGRAM: run it; its output is DIR/log, the counts DIR/count.N
count_guest()
{
	export TERN_ACCEL=icount TERN_QEMU_PLUGIN="$1/plugin.so,out=$1/count"
	"$LAB/run" --plain "bench:$2" >"$1/log" 2>&1 || {
		grep -v KSYM "$1/log" | tail -20 >&2
		die "the guest did not come to its end"
	}
}

need gcc python3 qemu-system-x86_64=qemu-system-x86
