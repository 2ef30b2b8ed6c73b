# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced after net/lib.sh, lib.sh and block.sh by the tests of SMB Direct: a share of ksmbd,
# and its mount by cifs.

export EXPORT=/srv/share MOUNTPOINT=/run/share NAME=root PASSWORD=iwarp SERVER=$IP_B

# share_up: a real file system for it
share_up()
{
	modprobe ext4
	mkfs.ext4 -q -F $DISK 256M
	mkdir -p $EXPORT
	mount $DISK $EXPORT
	follow smb config
	follow smb start
	eventually follow smb listening
}

share_down()
{
	follow smb stop
	umount $EXPORT
}

mounts()
{
	follow smb mount
	follow smb look
	[ -n "$(rdma resource show qp link tern0/1)" ]
}

# cifs has a thread that holds the module, and ends after umount
nothing_left_of_smb()
{
	eventually modprobe -r cifs || { lsmod; rdma resource show; return 1; }
	nothing_left ksmbd
}

# works in any state
before_exit()
{
	umount -l "$MOUNTPOINT" 2>/dev/null || true
	! pidof ksmbd.mountd >/dev/null || follow smb stop 2>/dev/null || true
	umount -l $EXPORT 2>/dev/null || true
	hosts_down
}
