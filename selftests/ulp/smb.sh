#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# SMB Direct, ksmbd and cifs: data verified, and both ends release the device.

. ../net/lib.sh
. ./lib.sh
. ./block.sh
. ./smb_lib.sh

disk() { echo "$MOUNTPOINT/fio"; }
has_sum() { sha256sum -c <<<"$2  $EXPORT/$1"; }

# copy LENGTH: copy a file to the share and back, dropping the client's cache in between
copy()
{
	local sum

	head -c "$1" /dev/urandom >"$TMP/file"
	cp "$TMP/file" "$MOUNTPOINT/file"
	sync -f "$MOUNTPOINT"
	sum=$(sha256sum <"$TMP/file")
	server has_sum file "${sum%% *}"
	echo 3 >/proc/sys/vm/drop_caches
	cmp "$TMP/file" "$MOUNTPOINT/file"
	rm "$MOUNTPOINT/file"
}

needs_modules smbdirect
hosts_up
point "smb: the server is up" server share_up
point "smb: mount, and the transport is RDMA" mounts
for length in 1 1340 9999 5000001; do
	point "smb: a file of $length bytes, to the share and back" by_rdma $((2 * length)) copy "$length"
done
point "smb: fio's data is read back as written" by_rdma $((2 * SIZE)) verify "$(disk)"
point "smb: fio's data while packets are lost" over_bad_wire
point "smb: umount" umount "$MOUNTPOINT"
point "smb: the server stops" server share_down
point "smb: nothing is left" both nothing_left_of_smb
finish
