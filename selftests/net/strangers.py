#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Strangers: peers that connect to tern's responder and keep it waiting (for
strangers.sh).

	strangers.py ADDRESS PORT COMMAND...

A COMMAND is WORD:COUNT:SOURCE, done in this order; SOURCE is an address of ours.

	silent	connect, send nothing
	ask	connect, send a good enhanced Request
	bad	connect, send one wrong byte, and reset (the test drops the RST): tern's
		end waits for the answer to its FIN
	tail	connect, be accepted, send an FPDU with a bad CRC, receive tern's Terminate
		and FIN, and send no FIN: one after the other
	wait	wait until COUNT of this source's connections have ended

At the end print a line for each source: how many connections are left, how many ended
with a Reply with R=1 ("no"), and how many without a Reply ("mute"). With tails print
another: the numbers of the connections that were reset ("cut"). Then wait to be killed.
TERN_TIMEOUT_SCALE scales the time that one call may wait.
"""
import os
import select
import socket
import struct
import sys
import time

REQUEST = b"MPA ID Req Frame" + struct.pack(">BBHHH", 0x50, 2, 4, 0xc004, 0xc004)
NO = b"MPA ID Rep Frame"
RTR = bytes.fromhex("000ec140000000000000000000000000a30572ab")
R, S = 0x20, 0x10
# seconds: less than strangers.sh waits for the report, which shows the call that waited
LONGEST = 50 * int(os.environ.get("TERN_TIMEOUT_SCALE", "1"))


IP_BIND_ADDRESS_NO_PORT = 24


def connect(to, source, port=0):
    """Let connect() choose the port, so that connections may share it, unless @port."""
    sock = socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET)
    sock.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, not port)
    sock.bind((source, port))
    sock.connect(to)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


class Stranger:
    def __init__(self, to, source, request):
        self.sock = connect(to, source)
        self.got = b""
        self.end = None
        if request:
            self.sock.sendall(request)

    def poll_end(self):
        """Read what arrived; the end is FIN or RST."""
        while not self.end and select.select([self.sock], [], [], 0)[0]:
            try:
                data = self.sock.recv(4096)
            except ConnectionResetError:
                data = b""
            self.got += data
            if not data:
                self.end = "no" if self.said_no() else "mute"
        return self.end

    def said_no(self):
        return (len(self.got) == 24 and self.got.startswith(NO) and
                self.got[16] & (R | S) == R | S and self.got[17] == 2)


class Tail(Stranger):
    """A connection that has received everything, tern's FIN too; a RST may follow."""
    def __init__(self, to, source):
        super().__init__(to, source, REQUEST)
        self.receive(24)
        self.sock.sendall(RTR + RTR[:-1] + b"\0")
        while self.sock.recv(4096):
            pass
        # acknowledge the FIN now: TCP would wait some 40 ms for data of ours
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def receive(self, count):
        while count:
            more = len(self.sock.recv(count))
            assert more, "not accepted"
            count -= more

    def poll_end(self):
        poll = select.poll()
        poll.register(self.sock, 0)
        if poll.poll(0):
            self.end = "cut"
        return self.end


def bad(to, source, count):
    linger = struct.pack("ii", 1, 0)
    # ports in order: a random one may belong to a connection that still lingers at tern
    for i in range(count):
        sock = connect(to, source, 10000 + i % 50000)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        sock.sendall(b"x")
        sock.close()


def ended(strangers):
    return [s for s in strangers if s.poll_end()]


def wait(strangers, count):
    while len(ended(strangers)) < count:
        time.sleep(0.05)


def report(source, those):
    ends = [s.poll_end() for s in those]
    print(source, "left", ends.count(None), "no", ends.count("no"),
          "mute", ends.count("mute"), flush=True)
    if any(isinstance(s, Tail) for s in those):
        print(source, "cut", *[i for i, end in enumerate(ends) if end == "cut"], flush=True)


def main():
    to = (sys.argv[1], int(sys.argv[2]))
    socket.setdefaulttimeout(LONGEST)
    strangers = {}
    for command in sys.argv[3:]:
        word, count, source = command.split(":", 2)
        those = strangers.setdefault(source, [])
        if word == "bad":
            bad(to, source, int(count))
        elif word == "wait":
            wait(those, int(count))
        elif word == "tail":
            those += [Tail(to, source) for _ in range(int(count))]
        else:
            request = REQUEST if word == "ask" else b""
            those += [Stranger(to, source, request) for _ in range(int(count))]
    for source, those in strangers.items():
        report(source, those)
    print("done", flush=True)
    time.sleep(1000)


main()
