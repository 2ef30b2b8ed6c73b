#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A peer over plain TCP that connects to an upper layer's target and sends it a message
of the extensions (RFC 7306, RDMAP version 2) that it did not ask for:

	unasked.py ADDRESS PORT MESSAGE [PRIVATE_DATA_IN_HEX]

MESSAGE is one of
	imm		Immediate Data
	atomic		a FetchAdd at an STag that does not exist
	send-imm	a Send with Immediate, without a hello: wrong version
	v2		a Send with Immediate after a hello, so in version 2

Print what came after it: "terminate LAYER/TYPE/CODE", the opcode and payload length of
other messages, "end" or "reset" for the end of the stream, or "open" if there is none for
a while.
The exit status is 0 if the target accepted the connection.
"""
import os
import socket
import struct
import sys

SCALE = int(os.environ.get("TERN_TIMEOUT_SCALE", "1"))
# seconds without an answer
QUIET = 2 * SCALE
R = 0x20
# enhanced data: peer-to-peer, each type of RTR, IRD and ORD of 4
ENHANCED = struct.pack(">HH", 0xc004, 0xc004)
STAG, HELL = 0x7465726e, 0x68656c6c
OFFER, GO, BOTH = 1, 3, 3


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82f63b78 & -(crc & 1)
    return struct.pack("<I", crc ^ 0xffffffff)


def fpdu(ulpdu):
    data = struct.pack(">H", len(ulpdu)) + ulpdu
    data += bytes(-len(data) % 4)
    return data + crc32c(data)


def untagged(rdmap, queue, body):
    return fpdu(struct.pack(">BBIIII", 0x41, rdmap, 0, queue, 1, 0) + body)


def empty_write(stag, to_high, to_low):
    return fpdu(struct.pack(">BBIII", 0xc1, 0x40, stag, to_high, to_low))


def hello(role):
    return empty_write(STAG, HELL, 1 << 24 | role << 16 | BOTH)


MESSAGES = {
    "imm": untagged(0x48, 0, b"\x11" * 8),
    # FetchAdd, request 1, STag 2, TO 0, add 1
    "atomic": untagged(0x4a, 1, struct.pack(">IIIQQQQQ", 0, 1, 2, 0, 1, 0, 0, 2**64 - 1)),
    "send-imm": untagged(0x93, 0, b"\x11" * 8),
    "v2": untagged(0x93, 0, b"\x11" * 8),
}


def exactly(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def connect(address, port, private):
    sock = socket.create_connection((address, port), timeout=20 * SCALE)
    data = ENHANCED + private
    sock.sendall(b"MPA ID Req Frame" + struct.pack(">BBH", 0x50, 2, len(data)) + data)
    reply = exactly(sock, 20)
    exactly(sock, struct.unpack(">H", reply[18:])[0])
    if reply[16] & R:
        sys.exit("rejected")
    return sock


def receive(sock):
    """Return: the next ULPDU."""
    head = exactly(sock, 2)
    size = struct.unpack(">H", head)[0]
    return exactly(sock, size + -(size + 2) % 4 + 4)[:size]


def name(ulpdu):
    if ulpdu[0] & 0x80:
        return f"opcode {ulpdu[1] & 31} of {len(ulpdu) - 14} bytes"
    if ulpdu[1] & 31 == 7:
        return f"terminate {ulpdu[18] >> 4}/{ulpdu[18] & 15}/{ulpdu[19]:02x}"
    return f"opcode {ulpdu[1] & 31} of {len(ulpdu) - 18} bytes"


def main():
    address, port, message = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sock = connect(address, port, bytes.fromhex("".join(sys.argv[4:])))
    try:
        if message == "v2":
            sock.sendall(hello(OFFER))
            print("answer:", name(receive(sock)))
            sock.sendall(hello(GO))
        else:
            sock.sendall(empty_write(1, 0, 1))
        sock.sendall(MESSAGES[message])
        sock.settimeout(QUIET)
        while True:
            print(name(receive(sock)))
    except TimeoutError:
        print("open")
    except EOFError:
        print("end")
    except ConnectionResetError:
        print("reset")


main()
