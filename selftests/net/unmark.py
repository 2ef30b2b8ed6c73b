#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Remove the markers from the MPA streams of a capture:

	unmark.py IN OUT

for a check that cannot parse markers. Fails unless each marker is in its place and points
to its FPDU, and each CRC is good. In OUT the frames ask for no markers, the CRCs are those
of the FPDUs without them, and retransmissions are left out; all else is unchanged. The
capture is tcpdump's, Ethernet and IPv4, without losses.
"""
import struct
import sys

EVERY, MARKER = 512, 4
FLAG_M, FLAG_C = 0x80, 0x40


def crc_table():
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        yield n


TABLE = list(crc_table())


def crc32c(payload):
    crc = 0xffffffff
    for byte in payload:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return struct.pack("<I", crc ^ 0xffffffff)


class Packet:
    def __init__(self, record):
        ip = 16 + 14
        tcp = ip + (record[ip] & 15) * 4
        self.record = record
        self.flow = record[ip + 12:ip + 20] + record[tcp:tcp + 4]
        self.back = record[ip + 16:ip + 20] + record[ip + 12:ip + 16] + \
            record[tcp + 2:tcp + 4] + record[tcp:tcp + 2]
        self.seq = struct.unpack_from(">I", record, tcp + 4)[0]
        self.ack = struct.unpack_from(">I", record, tcp + 8)[0]
        self.tcp = tcp
        self.data = tcp + (record[tcp + 12] >> 4) * 4
        self.end = ip + struct.unpack_from(">H", record, ip + 2)[0]

    def payload(self):
        return self.record[self.data:self.end]

    def rewritten(self, seq, ack, payload):
        """Return: the packet with other payload, sequence and ACK numbers."""
        head = bytearray(self.record[:self.data])
        struct.pack_into("<II", head, 8, *[len(head) - 16 + len(payload)] * 2)
        struct.pack_into(">H", head, 16 + 14 + 2, len(head) - 16 - 14 + len(payload))
        struct.pack_into(">II", head, self.tcp + 4, seq, ack)
        return bytes(head) + payload


def packets(data):
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield Packet(data[at:at + 16 + size])
        at += 16 + size


def sent_once(pkts):
    """Drop retransmissions, which a slow CPU causes; their data must be the same."""
    streams = {}
    for p in pkts:
        payload = p.payload()
        if payload:
            begin, sent = streams.setdefault(p.flow, (p.seq, bytearray()))
            at = (p.seq - begin) % 2**32
            if at < len(sent):
                if sent[at:at + len(payload)] != payload:
                    sys.exit(f"retransmitted bytes from {at} on differ")
                continue
            sent += payload
        yield p


class Stream:
    """One direction after its MPA frame."""

    def __init__(self, begin):
        self.begin = begin
        self.marked = self.crc = False
        self.wire = b""
        self.plain = b""

    def check_marker(self, at, fpdu):
        reserved, pointer = struct.unpack_from(">HH", self.wire, at)
        if reserved or pointer != at - fpdu:
            sys.exit(f"marker at {at}: {reserved:#x}, {pointer}, its FPDU is at {fpdu}")

    def take(self, at, count, fpdu):
        """Return: @count bytes of the FPDU from @at on, and the place of the next one."""
        out = bytearray()
        while len(out) < count:
            if at % EVERY == 0:
                self.check_marker(at, fpdu)
                at += MARKER
            end = min(at + count - len(out), (at // EVERY + 1) * EVERY)
            out += self.wire[at:end]
            at = end
        return bytes(out), at

    def fpdu(self, at):
        head, _ = self.take(at, 2, at)
        size = 2 + struct.unpack(">H", head)[0]
        size += -size % 4
        body, end = self.take(at, size, at)
        crc, last = self.take(end, 4, at)
        if self.crc and crc32c(self.wire[at:last - 4]) != crc:
            sys.exit(f"FPDU at {at}: bad CRC")
        self.plain += body + (crc32c(body) if self.crc else crc)
        return last

    def unmark(self):
        if not self.marked:
            self.plain = self.wire
            return
        at = 0
        try:
            while at < len(self.wire):
                at = self.fpdu(at)
        except struct.error:
            sys.exit(f"FPDU at {at}: cut short")

    def place(self, seq):
        """Return: where @seq of the marked stream is in the plain one."""
        at = (seq - self.begin) % 2**32
        if not self.marked or at >= 2**31:
            return seq
        inside = min(at, len(self.wire))
        marks = inside // EVERY * MARKER + min(inside % EVERY, MARKER)
        return (seq - marks) % 2**32


def read_streams(pkts):
    """Read both directions: C counts if either frame sets it, M asks the other end."""
    streams, flags = {}, {}
    for p in pkts:
        payload = p.payload()
        if payload.startswith(b"MPA ID Re"):
            size = 20 + struct.unpack_from(">H", payload, 18)[0]
            streams[p.flow] = Stream(p.seq + size)
            flags[p.flow] = payload[16]
            payload = payload[size:]
        if payload and p.flow in streams:
            streams[p.flow].wire += payload
    for p in pkts:
        if p.flow in streams and p.back in streams:
            streams[p.flow].marked = bool(flags[p.back] & FLAG_M)
            streams[p.flow].crc = bool((flags[p.flow] | flags[p.back]) & FLAG_C)
    return streams


def rewrite(p, streams):
    if p.flow not in streams or p.back not in streams:
        return p.record
    stream, payload = streams[p.flow], p.payload()
    seq, ack = stream.place(p.seq), streams[p.back].place(p.ack)
    if payload.startswith(b"MPA ID Re"):
        payload = payload[:16] + bytes([payload[16] & ~FLAG_M]) + payload[17:]
    elif payload:
        start = (seq - stream.begin) % 2**32
        end = (stream.place(p.seq + len(payload)) - stream.begin) % 2**32
        payload = stream.plain[start:end]
    return p.rewritten(seq, ack, payload)


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    pkts = list(sent_once(packets(data)))
    streams = read_streams(pkts)
    for stream in streams.values():
        stream.unmark()
    with open(sys.argv[2], "wb") as f:
        f.write(data[:24] + b"".join(rewrite(p, streams) for p in pkts))


main()
