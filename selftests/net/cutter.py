#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Forward TCP connections, one after the other, with other segment boundaries:

	cutter.py ADDRESS PORT TO_PORT TO_SERVER TO_CLIENT

It listens at PORT and connects to TO_PORT of the same address. TO_SERVER and
TO_CLIENT say how each direction is split: whole (as it arrives), bytes (a segment
for each byte), random, or lumps (kept until nothing arrives for a while). At the end
of a connection print how many bytes went each way.
"""
import fcntl
import random
import select
import socket
import struct
import sys
import termios
import threading
import time

LULL_MS = 5
UNDER_WAY_MAX = 256     # a segment of one byte takes a kilobyte of receive buffer
LUMP_MAX = 1 << 20


def whole(data):
    yield data


def one_byte(data):
    for i in range(len(data)):
        yield data[i:i + 1]


def at_random(data):
    while data:
        n = random.choice((1, 2, 3, 5, 8, 100, 1000, 10000))
        yield data[:n]
        data = data[n:]


CUTS = {"whole": whole, "bytes": one_byte, "random": at_random, "lumps": whole}


def more(sock):
    return select.select([sock], [], [], LULL_MS / 1000)[0]


def under_way(sock):
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]


def send(sock, piece):
    while len(piece) == 1 and under_way(sock) > UNDER_WAY_MAX:
        time.sleep(0.0005)
    sock.sendall(piece)


def next_data(sock, how):
    data = sock.recv(65536)
    while how == "lumps" and data and len(data) < LUMP_MAX and more(sock):
        chunk = sock.recv(65536)
        if not chunk:
            break
        data += chunk
    return data


def carry(source, sink, how, count):
    """Forward one direction until its end, and the end too."""
    try:
        while data := next_data(source, how):
            for piece in CUTS[how](data):
                send(sink, piece)
            count.append(len(data))
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for sock in source, sink:
            sock.close()


def serve(client, server, to_server, to_client):
    counts = [], []
    for sock in client, server:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    back = threading.Thread(target=carry, args=(server, client, to_client, counts[1]))
    back.start()
    carry(client, server, to_server, counts[0])
    back.join()
    client.close()
    server.close()
    print(sum(counts[0]), sum(counts[1]), flush=True)


def main():
    address, port, to_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with socket.create_server((address, port)) as listener:
        while True:
            client, _ = listener.accept()
            serve(client, socket.create_connection((address, to_port)), *sys.argv[4:])


main()
