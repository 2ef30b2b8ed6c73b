#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A tun netdev in each of two network namespaces, and the tunnel between them: what leaves
one enters the other. tun.py NETNS NETNS NAME; it ends when one of them is deleted."""
import fcntl
import os
import select
import struct
import sys

TUNSETIFF = 0x400454ca
IFF_TUN = 1
IFF_NO_PI = 0x1000


def tun(netns, name):
    with open(f"/run/netns/{netns}") as f:
        os.setns(f.fileno(), os.CLONE_NEWNET)
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


ends = [tun(netns, sys.argv[3]) for netns in sys.argv[1:3]]
other = dict(zip(ends, reversed(ends)))
while True:
    for fd in select.select(ends, [], [])[0]:
        packet = os.read(fd, 65535)
        try:
            os.write(other[fd], packet)
        except OSError:
            pass  # that end is not up yet
