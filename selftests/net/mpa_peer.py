#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A scripted peer over plain TCP for good and bad MPA startup, RFC 5044 7.1 and RFC 6581
(for startup.sh, connections.sh, teardown.sh and badinput.sh).

	mpa_peer.py CASE ADDRESS PORT [COUNT|FILE]

Cases named to_* connect to tern, from_* wait for it. Exit status 0: tern followed
the rules. IDs are rows of selftests/conformance/requirements. TERN_TIMEOUT_SCALE
scales the time limits for tern.
"""
import os
import random
import socket
import struct
import sys
import time

REQ, REP = b"MPA ID Req Frame", b"MPA ID Rep Frame"
M, CRC, R, S = 0x80, 0x40, 0x20, 0x10
P2P, SEND, WRITE, READ = 0x8000, 0x4000, 0x8000, 0x4000
ALL = struct.pack(">HH", P2P | SEND | 4, WRITE | READ | 4)
RTR = bytes.fromhex("000ec140000000000000000000000000a30572ab")
# private data for vtraffic, which answers with an address and an STag
HELLO = struct.pack("III", 1, 4096, 4)
SCALE = int(os.environ.get("TERN_TIMEOUT_SCALE", "1"))
# seconds: longer than a slow machine needs, shorter than tern's timers in startup.sh
AT_ONCE = 5 * SCALE
# seconds between which a timer of tern's, set to 2 s, expires
LEAST, MOST = 0.5, 5 * SCALE
TERMINATE = "0016414700000000000000020000000100000000"


def frame(key, flags, rev, data=b"", length=None):
    length = len(data) if length is None else length
    return key + struct.pack(">BBH", flags, rev, length) + data


def exactly(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        assert more, f"closed after {data.hex()}"
        data += more
    return data


def rest(sock):
    """Return: all data until the end, FIN or RST, and the seconds it took."""
    data, start = b"", time.monotonic()
    try:
        while more := sock.recv(4096):
            data += more
        how = "FIN"
    except ConnectionResetError:
        how = "RST"
    return data, how, time.monotonic() - start


def check(good, *seen):
    assert good, seen


# ---- to tern's responder ------------------------------------------------------

def refused(request, reply=b"", fin=False):
    """tern answers @request with @reply's flags and revision, and closes."""
    def run(connect):
        sock = connect()
        sock.sendall(request)
        if fin:
            sock.shutdown(socket.SHUT_WR)
        data, how, seconds = rest(sock)
        check(data[16:18] == reply and seconds < AT_ONCE, data.hex(), how, seconds)
        if reply:
            check(how == "FIN", how)
    return run


def wrong_key(connect):
    for i in range(16):
        key = bytearray(REQ)
        key[i] ^= 1
        refused(frame(bytes(key), CRC, 1))(connect)


def served(request, flags, rev, enhanced=b"", step=None):
    def run(connect):
        sock = connect()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(0, len(request), step or len(request)):
            sock.sendall(request[i:i + (step or len(request))])
            time.sleep(0.002)
        reply = exactly(sock, 20)
        check(reply[:18] == REP + bytes([flags, rev]), reply.hex())
        data = exactly(sock, struct.unpack(">H", reply[18:20])[0])
        check(data.startswith(enhanced), data.hex())
        if rev == 2:
            sock.sendall(RTR)
        sock.close()
    return run


def timed_out(sock, start):
    """tern closes without sending a byte, by a timer that began after @start."""
    data, how, _ = rest(sock)
    seconds = time.monotonic() - start
    check(not data and LEAST < seconds < MOST, data.hex(), how, seconds)


def silent(connect):
    start = time.monotonic()
    timed_out(connect(), start)


def no_rtr(connect):
    sock = connect()
    start = time.monotonic()
    sock.sendall(frame(REQ, CRC | S, 2, ALL))
    exactly(sock, 24)
    timed_out(sock, start)


def bad_rtr(connect):
    """F70: a bad RTR gets no Terminate, since no valid FPDU came before."""
    sock = connect()
    sock.sendall(frame(REQ, CRC | S, 2, ALL))
    exactly(sock, 24)
    sock.sendall(RTR[:-1] + b"\0")
    data, how, seconds = rest(sock)
    check(not data and seconds < AT_ONCE, data.hex(), how, seconds)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xffffffff)


def read_of(msn, size, stag, to):
    """An FPDU: a Read Request."""
    fpdu = struct.pack(">HHIIIIIQIIQ", 46, 0x4141, 0, 1, msn, 0, 0, 0, size, stag, to)
    return fpdu + crc32c(fpdu)


def hoard(data, size):
    """Ask for Reads of @size and take no Response: they wait in tern's TCP."""
    def run(_):
        assert crc32c(RTR[:-4]) == RTR[-4:]
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        sock.connect((sys.argv[2], int(sys.argv[3])))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(frame(REQ, CRC | S, 2, ALL + data))
        reply = exactly(sock, struct.unpack(">H", exactly(sock, 20)[18:])[0])
        # the STag of a Read of nothing is not looked at (RFC 5040 5.2)
        to, stag = struct.unpack("QI", reply[4:16]) if size else (0, 0)
        sock.sendall(RTR)
        print("connected", flush=True)
        time.sleep(2)
        for msn in range(1, int(sys.argv[4]) + 1):
            sock.sendall(read_of(msn, size, stag, to))
            time.sleep(0.004)
        print("asked", flush=True)
        time.sleep(600)
    return run


def withheld_rtr(connect):
    """A good Request for vtraffic, but no RTR."""
    sock = connect()
    sock.sendall(frame(REQ, CRC | S, 2, ALL + HELLO))
    exactly(sock, struct.unpack(">H", exactly(sock, 20)[18:])[0])
    print("answered", flush=True)
    data, how, _ = rest(sock)
    print("closed by", how, data.hex(), flush=True)


def fpdu(ulpdu):
    data = struct.pack(">H", len(ulpdu)) + ulpdu
    data += bytes(-len(data) % 4)
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82f63b78 & -(crc & 1)
    return data + struct.pack("<I", crc ^ 0xffffffff)


def out_of_band(sock, data, at):
    """Send @data; the one at @at is urgent data."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if at:
        sock.sendall(data[:at])
    sock.send(data[at:at + 1], socket.MSG_OOB)
    if data[at + 1:]:
        sock.sendall(data[at + 1:])


def printed(name, line):
    with open(name, encoding="ascii") as file:
        return line in file.read().splitlines()


def urgent_request(connect):
    """The first, an inner or the last byte of a Request is urgent."""
    request = frame(REQ, CRC | S, 2, ALL)
    for at in 0, 17, len(request) - 1:
        sock = connect()
        out_of_band(sock, request, at)
        data, how, seconds = rest(sock)
        check(not data and seconds < AT_ONCE, at, data.hex(), how, seconds)


def urgent_after_request(connect):
    """Urgent data while the ULP has not answered: its output shows that it was asked."""
    sock = connect()
    sock.sendall(frame(REQ, CRC | S, 2, ALL))
    while not printed(sys.argv[4], "vtraffic: asked"):
        time.sleep(0.05)
    out_of_band(sock, b"x", 0)
    data, how, seconds = rest(sock)
    check(not data and seconds < AT_ONCE, data.hex(), how, seconds)


def urgent_fpdu(connect):
    """Urgent data at each of these places of an FPDU: Terminate 2/0/05."""
    want = fpdu(bytes.fromhex(TERMINATE[4:] + "20050000"))
    send = fpdu(bytes.fromhex("4143" + 8 * "00" + "00000001" + "00000000") + bytes(1000))
    for at in 0, 1, 17, 500, len(send) - 1:
        sock = connect()
        sock.sendall(frame(REQ, CRC | S, 2, ALL))
        exactly(sock, 24)
        sock.sendall(RTR)
        out_of_band(sock, send, at)
        data, how, seconds = rest(sock)
        check(data == want and how == "FIN" and seconds < AT_ONCE, at, data.hex(), how, seconds)


def urgent_lingering(connect):
    """After a refused startup tern discards all data, urgent data too."""
    sock = connect()
    sock.sendall(frame(REP, CRC, 1))
    rest(sock)
    start = time.monotonic()
    out_of_band(sock, bytes(4 << 20), 1000)
    seconds = time.monotonic() - start
    check(seconds < AT_ONCE, seconds)


def noise(connect):
    """So many times: a good startup, then no FPDU, an FPDU with a bad CRC, or one
    with an unknown DDP header."""
    random.seed(1)
    for i in range(int(sys.argv[4])):
        data = random.randbytes(300)
        bad = bytes([0xc1, 0x40]) + data[2:]
        sock = connect()
        sock.sendall(frame(REQ, CRC | S, 2, ALL))
        exactly(sock, 24)
        sock.sendall(RTR + [b"\0\xc8" + data, fpdu(bad)[:-1] + b"x",
                            fpdu(bytes([0x3c]) + data)][i % 3])
        rest(sock)
        sock.close()


def dropped(sock):
    sock.setblocking(False)
    try:
        # skip the Reply with R=1 before the end
        while sock.recv(4096):
            pass
        return True
    except ConnectionResetError:
        return True
    except BlockingIOError:
        return False


def half_open(connect):
    """With 24 startups more than the limit, exactly 24 are dropped."""
    socks, dead = [], 0
    for _ in range(int(sys.argv[4]) + 24):
        try:
            socks.append(connect())
        except ConnectionResetError:
            dead += 1
    # wait until enough are dropped, and check once more that no other is
    enough = False
    for _ in range(15 * SCALE):
        time.sleep(0.3)
        left = [sock for sock in socks if not dropped(sock)]
        dead += len(socks) - len(left)
        socks = left
        if enough:
            break
        enough = dead >= 24
    check(dead == 24, dead)


def crowd(connect):
    """Many connections that send nothing, until this process is killed."""
    socks = [connect() for _ in range(int(sys.argv[4]))]
    print(len(socks), "wait", flush=True)
    time.sleep(1000)


# ---- from tern's initiator ------------------------------------------------------

def answer(reply, want, tail=b""):
    """tern sends @want after the Reply, and closes with FIN."""
    def run(accept):
        sock = accept()
        exactly(sock, 24)
        sock.sendall(reply + tail)
        data, how, _ = rest(sock)
        check(data.hex() == want and how == "FIN", data.hex(), how)
    return run


def fall_back(accept):
    sock = accept()
    request = exactly(sock, 24)
    check(request[16:18] == bytes([CRC | S, 2]), request.hex())
    sock.close()
    sock = accept()
    request = exactly(sock, 20)
    check(request[16:18] == bytes([CRC, 1]), request.hex())
    sock.sendall(frame(REP, CRC, 1))
    exactly(sock, 20)


def rtr_first(accept):
    sock = accept()
    exactly(sock, 24)
    sock.sendall(frame(REP, CRC | S, 2, ALL))
    first = exactly(sock, 20)
    check(first[:4].hex() == "000ec140", first.hex())


def early_write(accept):
    """A zero-length Write after the Reply, before tern's RTR arrives."""
    sock = accept()
    exactly(sock, 24)
    sock.sendall(frame(REP, CRC | S, 2, ALL) + RTR)
    first = exactly(sock, 20)
    check(first[:4].hex() == "000ec140", first.hex())


def nobody(accept):
    """Accept nothing: data stays in TCP's receive queue."""
    time.sleep(1000)


def urgent_reply(accept):
    sock = accept()
    exactly(sock, 24)
    reply = frame(REP, CRC | S, 2, ALL)
    out_of_band(sock, reply, len(reply) - 1)
    data, how, seconds = rest(sock)
    check(not data and how == "FIN" and seconds < AT_ONCE, data.hex(), how, seconds)


def cut_reply(accept):
    sock = accept()
    exactly(sock, 24)
    sock.sendall(frame(REP, CRC | S, 2, ALL)[:19])
    sock.close()
    time.sleep(0.3)
    listener.settimeout(0)
    try:
        accept()
    except BlockingIOError:
        return
    check(False, "another attempt")


def never_answered(accept):
    sock = accept()
    start = time.monotonic()
    exactly(sock, 24)
    timed_out(sock, start)


def words(ird, ord_):
    return struct.pack(">HH", ird, ord_)


CASES = {
    "to_enhanced": served(frame(REQ, CRC | S, 2, ALL), CRC | S, 2),
    "to_plain": served(frame(REQ, CRC, 1), CRC, 1),
    "to_plain_rev_2": served(frame(REQ, CRC, 2), CRC, 2),
    "to_byte_by_byte": served(frame(REQ, CRC | S, 2, ALL), CRC | S, 2, step=1),
    "to_not_negotiated": served(frame(REQ, CRC | S, 2, b"\xff" * 4),
                                CRC | S, 2, b"\xff" * 4),
    "to_reserved_bits": served(frame(REQ, CRC | R | S | 0xf, 2, ALL), CRC | S, 2),
    "to_wrong_key": wrong_key,
    "to_reply_key": refused(frame(REP, CRC, 1)),
    "to_long_data": refused(frame(REQ, CRC, 1, length=513)),
    "to_fin_inside": refused(REQ, fin=True),
    "to_early_bytes": refused(frame(REQ, CRC | S, 2, ALL) + b"x"),
    "to_short_enhanced": refused(frame(REQ, CRC | S, 2, b"abc")),
    "to_rev_0": refused(frame(REQ, M | CRC, 0), bytes([CRC | R, 1])),
    "to_rev_3": refused(frame(REQ, CRC, 3), bytes([CRC | R, 2])),
    "to_256_bytes": refused(frame(REQ, CRC, 1, bytes(256)), bytes([CRC | R, 1])),
    "to_silent": silent,
    "to_no_rtr": no_rtr,
    "to_bad_rtr": bad_rtr,
    "to_withheld_rtr": withheld_rtr,
    "to_hoard": hoard(b"", 0),
    "to_hoard_data": hoard(HELLO, 2100),
    "to_urgent_request": urgent_request,
    "to_urgent_after_request": urgent_after_request,
    "to_urgent_fpdu": urgent_fpdu,
    "to_urgent_lingering": urgent_lingering,
    "to_noise": noise,
    "to_half_open": half_open,
    "to_crowd": crowd,
    "from_fall_back": fall_back,
    "from_rtr_first": rtr_first,
    "from_never_answered": never_answered,
    "from_reject": answer(frame(REP, CRC | S | R, 2, ALL + b"no"), ""),
    "from_no_rtr_type": answer(frame(REP, CRC | S, 2, words(P2P | 1, 1)),
                               TERMINATE + "200700001bd2babe"),
    "from_other_model": answer(frame(REP, CRC | S, 2, words(1, 1)),
                               TERMINATE + "200700001bd2babe"),
    "from_too_many_reads": answer(
        frame(REP, CRC | S, 2, words(P2P | SEND | 16, WRITE | READ | 0x3ffe)),
        TERMINATE + "200600006540fb1b"),
    "from_early_bytes": answer(frame(REP, CRC | S, 2, ALL), "", bytes(20)),
    "from_early_write": early_write,
    "from_early_terminate": answer(
        frame(REP, CRC | S, 2, ALL), "",
        bytes.fromhex(TERMINATE + "200700001bd2babe")),
    "from_cut_reply": cut_reply,
    "from_urgent_reply": urgent_reply,
    "from_request_key": answer(frame(REQ, CRC | S, 2, ALL), ""),
    "from_nobody": nobody,
    "from_higher_rev": answer(frame(REP, CRC, 3), ""),
}


def main():
    global listener
    case, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    socket.setdefaulttimeout(20 * SCALE)
    if case.startswith("to_"):
        CASES[case](lambda: socket.create_connection((address, port)))
        return
    listener = socket.create_server((address, port), backlog=256)
    CASES[case](lambda: listener.accept()[0])


main()
