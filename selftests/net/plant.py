#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Damage one packet of a capture, for a check that must find it:

	plant.py KIND FILE

KIND is payload (a byte of a message), crc (of an FPDU), marker (its pointer)
or length (of an FPDU). The capture is tcpdump's, Ethernet and IPv4.
"""
import struct
import sys

MARKED_EVERY = 512


class Segment:
    """Bytes of a TCP stream, and where they are in the file."""

    def __init__(self, data, at, size):
        ip = at + 14
        tcp = ip + (data[ip] & 15) * 4
        self.flow = bytes(data[ip + 12:ip + 20] + data[tcp:tcp + 4])
        self.seq = struct.unpack_from(">I", data, tcp + 4)[0]
        self.at = tcp + (data[tcp + 12] >> 4) * 4
        self.len = ip + struct.unpack_from(">H", data, ip + 2)[0] - self.at
        assert self.at + self.len <= at + size


def segments(data):
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield Segment(data, at + 16, size)
        at += 16 + size


def full_operation(data):
    """Segments after the startup, each with the number of stream bytes before it."""
    begin = {}
    for seg in segments(data):
        payload = data[seg.at:seg.at + seg.len]
        if payload.startswith(b"MPA ID Re"):
            begin[seg.flow] = seg.seq + 20 + struct.unpack_from(">H", payload, 18)[0]
        elif seg.len and seg.flow in begin:
            yield seg, (seg.seq - begin[seg.flow]) % 2**32


def spot(kind, seg, offset, data):
    """Return: the byte to change, or None if this segment has none."""
    if seg.len < 600:
        return None
    if kind == "payload":
        return seg.at + 300
    if kind == "crc":
        return seg.at + seg.len - 1
    if kind == "length":
        # longer: after a shorter one only its own CRC field would be left over, which is 0
        return None if data[seg.at + 1] & 4 else seg.at + 1
    # the marker's pointer comes after two reserved bytes
    return seg.at + -offset % MARKED_EVERY + 3


def main():
    kind, name = sys.argv[1:]
    with open(name, "rb") as f:
        data = bytearray(f.read())
    found = list(full_operation(data))
    last = {seg.flow: seg for seg, _ in found}
    for seg, offset in found:
        at = spot(kind, seg, offset, data)
        # a longer FPDU at the end is one whose rest is still to come
        if at and seg is not last[seg.flow]:
            data[at] ^= 4
            break
    else:
        sys.exit("no segment to damage")
    with open(name, "wb") as f:
        f.write(data)


main()
