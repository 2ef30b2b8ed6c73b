#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A kernel that is locked down, as Debian's is under Secure Boot, or that enforces
# signatures (the parameter is that of module.sig_enforce=1 at boot), refuses a module that
# is not signed, and one whose key it does not know, in the words of
# Documentation/install.rst. That lasts until the next boot.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

page=/mnt/install.rst
rejected="Key was rejected by service"

# says TEXT COMMAND...: it fails, and says what the page says
says()
{
	local text=$1 said
	shift
	has -F "$text" <"$page"
	! said=$("$@" 2>&1) || return 1
	echo "$said"
	has -F "$text" <<<"$said"
}

# logs TEXT: the kernel's log has what the page has
logs()
{
	has -F "$1" <"$page"
	dmesg | has -F "$1"
}

signed_by_an_unknown_key()
{
	modinfo -F signer tern | has .
	says "$rejected" modprobe tern
	logs "Loading of module with unavailable key is rejected"
}

not_signed()
{
	strip --strip-debug -o "$TMP/tern.ko" "$(modinfo -n tern)"
	says "$rejected" insmod "$TMP/tern.ko"
	logs "Loading of unsigned module is rejected"
}

locked_down()
{
	mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
	echo integrity >/sys/kernel/security/lockdown
	says "Operation not permitted" modprobe tern
	logs "Lockdown: modprobe: unsigned module loading is restricted"
}

no_link()
{
	ip link add v0x type veth peer name v0y
	says "Invalid argument" rdma link add x0 type tern netdev v0x
}

debians_module() { modprobe rdma_rxe; }

rmmod tern
point "a kernel that is locked down refuses a module whose key is not enrolled" locked_down
echo 1 >/sys/module/module/parameters/sig_enforce
point "a module whose key is not enrolled is refused" signed_by_an_unknown_key
point "a module without a signature is refused" not_signed
point "rdma link add fails then" no_link
point "a module that Debian signed is loaded" debians_module
finish
