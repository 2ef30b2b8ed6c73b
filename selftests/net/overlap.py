#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send retransmissions that overlap received data and differ from it:

	overlap.py DEV PORT

Each TCP segment to or from PORT that DEV sends, and that begins where the peer has
acknowledged all, is sent again, beginning some bytes earlier; those bytes are wrong.
Runs until SIGTERM, and prints how many were sent.
"""
import signal
import socket
import struct
import sys

BACK = 40
ETH_P_ALL = 3


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


class Segment:
    """An IPv4 frame with TCP in it."""

    def __init__(self, frame):
        self.ip = 14
        self.tcp = self.ip + (frame[14] & 15) * 4
        self.ports = struct.unpack_from(">HH", frame, self.tcp)
        self.seq, self.ack = struct.unpack_from(">II", frame, self.tcp + 4)
        self.payload = self.tcp + (frame[self.tcp + 12] >> 4) * 4
        self.end = self.ip + struct.unpack_from(">H", frame, self.ip + 2)[0]

    def overlapping(self, frame):
        """Return: a frame of the same length that begins BACK bytes earlier."""
        old = bytes(b"\xa5" * BACK)
        out = bytearray(frame[:self.payload] + old + frame[self.payload:self.end - BACK])
        struct.pack_into(">I", out, self.tcp + 4, (self.seq - BACK) % 2**32)
        struct.pack_into(">H", out, self.tcp + 16, 0)
        pseudo = out[self.ip + 12:self.ip + 20] + struct.pack(
            ">HH", socket.IPPROTO_TCP, self.end - self.tcp)
        struct.pack_into(">H", out, self.tcp + 16,
                         checksum(bytes(pseudo + out[self.tcp:self.end])))
        return out


def is_tcp(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_TCP


def main():
    dev, port = sys.argv[1], int(sys.argv[2])
    acked, sent = None, 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"overlap: {sent} sent"))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as s:
        s.bind((dev, ETH_P_ALL))
        print("overlap: ready", flush=True)
        while True:
            frame, where = s.recvfrom(65536)
            if not is_tcp(frame):
                continue
            seg = Segment(frame)
            if port not in seg.ports:
                continue
            if where[2] != socket.PACKET_OUTGOING:
                acked = seg.ack
            elif seg.seq == acked and seg.end - seg.payload > BACK:
                s.send(seg.overlapping(frame))
                sent += 1


main()
