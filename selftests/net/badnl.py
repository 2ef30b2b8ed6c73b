#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send requests to the generic netlink family tern that no tool would send.

	badnl.py DEVICE
	badnl.py --hold-dump

Print a line for each: NAME ERRNO TEXT OF THE KERNEL. Uses raw sockets, since libraries
check what they send. --hold-dump requests all connections, reports that, and reads none.
"""
import errno
import socket
import struct
import sys
import time

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NETLINK_GENERIC, SOL_NETLINK = 16, 270
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
NESTED = 0x8000
# tern.yaml: attributes of a device, settings, commands
NAME, SETTINGS = 2, 5
GET, SET, CONN_GET = 1, 2, 3


def attr(kind, data):
    data = bytes(data)
    pad = -len(data) % 4
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(pad)


def u32(n):
    return struct.pack("I", n)


class Family:
    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.settimeout(20)
        self.sock.setsockopt(SOL_NETLINK, 11, 1)  # NETLINK_EXT_ACK
        self.sock.setsockopt(SOL_NETLINK, 10, 1)  # NETLINK_CAP_ACK
        self.seq = 0
        self.ids = {}
        self.number, self.attrs = self.find("tern")

    def talk(self, family, cmd, payload, flags=NLM_F_REQUEST | NLM_F_ACK):
        self.say(family, cmd, payload, flags)
        return self.sock.recv(65536)

    def say(self, family, cmd, payload, flags):
        self.seq += 1
        body = struct.pack("BBH", cmd, 1, 0) + payload
        self.sock.send(struct.pack("IHHII", 16 + len(body), family, flags,
                                   self.seq, 0) + body)

    def find(self, name):
        """Return: the number of the family @name, and its attributes."""
        answer = self.talk(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                           attr(2, name.encode() + b"\0"), NLM_F_REQUEST)
        at = 20
        while at + 4 <= len(answer):
            length, kind = struct.unpack_from("HH", answer, at)
            if kind & 0x3fff == 1:
                return struct.unpack_from("H", answer, at + 4)[0], None
            at += (length + 3) & ~3
        sys.exit("no family tern")

    def ask(self, label, cmd, payload, **kw):
        answer = self.talk(self.number, cmd, payload, **kw)
        length, kind, flags = struct.unpack_from("IHH", answer, 0)
        if kind != 2:
            print(label, "ANSWERED", "")
            if kw == {}:
                self.sock.recv(65536)  # the ACK after it
            return
        err = -struct.unpack_from("i", answer, 16)[0]
        text = ""
        at = 36
        while flags & 0x200 and at + 4 <= length:
            size, what = struct.unpack_from("HH", answer, at)
            if what & 0x3fff == 1:
                text = answer[at + 4:at + size].rstrip(b"\0").decode()
            at += (size + 3) & ~3
        print(label, errno.errorcode.get(err, err) if err else "OK", text)


def hold_dump():
    f = Family()
    f.say(f.number, CONN_GET, b"", NLM_F_REQUEST | NLM_F_DUMP)
    print("holding", flush=True)
    time.sleep(1000)


def main():
    if sys.argv[1] == "--hold-dump":
        return hold_dump()
    device = sys.argv[1].encode() + b"\0"
    name = attr(NAME, device)
    f = Family()

    def settings(*attrs):
        return name + attr(SETTINGS | NESTED, b"".join(attrs))

    f.ask("good", GET, name)
    f.ask("no-name", GET, b"")
    f.ask("unknown-device", GET, attr(NAME, b"nope\0"))
    f.ask("name-not-a-string", GET, attr(NAME, b"\xff\xfe\xfd"))
    f.ask("name-too-long", GET, attr(NAME, b"x" * 200 + b"\0"))
    f.ask("unknown-command", 99, name)
    f.ask("unknown-attribute", GET, name + attr(77, u32(1)))
    f.ask("unknown-setting", SET, settings(attr(88, u32(1))))
    f.ask("no-settings", SET, name)
    f.ask("settings-not-nested", SET, name + attr(SETTINGS, u32(1)))
    f.ask("setting-too-short", SET, settings(attr(2, b"\1")))
    f.ask("setting-too-long", SET, settings(attr(2, bytes(64))))
    f.ask("out-of-range", SET, settings(attr(1, u32(7))))
    f.ask("extensions-out-of-range", SET, settings(attr(15, u32(3))))
    f.ask("features-unknown", SET, settings(attr(16, u32(8))))
    f.ask("features-v2-alone", SET, settings(attr(16, u32(2))))
    f.ask("max-fpdu-too-short", SET, settings(attr(17, u32(1023))))
    f.ask("max-fpdu-too-long", SET, settings(attr(17, u32(64751))))
    f.ask("attribute-beyond-the-end", SET, name + struct.pack("HH", 4000, SETTINGS | NESTED))
    f.ask("length-of-two", SET, name + struct.pack("HH", 2, SETTINGS))
    f.ask("nothing-to-set", SET, settings())


main()
