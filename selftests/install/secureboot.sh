#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Secure Boot: the firmware started shim, GRUB and a kernel that Debian signed, and knows the
# key of the machine's owner, who signed the module. lab/secure-boot-selftest boots it.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

page=/mnt/install.rst
efivars=/sys/firmware/efi/efivars

[ -d ${efivars%/*} ] || skip_all "no firmware: lab/secure-boot-selftest brings it"

# page_says TEXT
page_says() { has -F "$1" <"$page"; }

is_on()
{
	mountpoint -q $efivars || mount -t efivarfs none $efivars
	mokutil --sb-state | tee /dev/stderr | has -x 'SecureBoot enabled'
	mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
	has -F '[integrity]' </sys/kernel/security/lockdown
}

is_enrolled()
{
	# its exit status says the contrary
	{ mokutil --test-key /mnt/secure-boot/mok.der || true; } | tee /dev/stderr |
		has 'is already enrolled'
}

signed_one_loads()
{
	modinfo -F signer tern | has -x 'owner of this machine'
	modprobe tern
	[ -d /sys/module/tern ]
}

unsigned_is_refused()
{
	local said

	rmmod tern
	strip --strip-debug -o "$TMP/tern.ko" "$(modinfo -n tern)"
	! said=$(insmod "$TMP/tern.ko" 2>&1) || return 1
	echo "$said"
	page_says 'Key was rejected by service'
	has 'Key was rejected by service' <<<"$said"
	page_says 'Loading of unsigned module is rejected'
	dmesg | has 'Loading of unsigned module is rejected'
}

ktap_header
point "Secure Boot is on, and the kernel locked down" is_on
point "the owner's key is enrolled" is_enrolled
point "the module that the owner signed is loaded" signed_one_loads
point "the same module without its signature is refused" unsigned_is_refused
finish
