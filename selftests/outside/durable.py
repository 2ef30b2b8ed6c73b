#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
Files that a machine must not lose:

	durable.py write FOLDER LIST	until SIGTERM; LIST is on a disk that stays
	durable.py check FOLDER LIST	each file of LIST is there, as it was, no removed one is

Each file is written under another name, fsynced, and renamed; the folder is fsynced. Then it
is in LIST, with the digest of its bytes. Every fourth is removed after a while, and the
folder fsynced, before LIST says so. What a cut interrupts is in neither state.
"""

import hashlib
import os
import random
import signal
import sys

stop = False


def on_term(*_):
    global stop
    stop = True


def sync(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def again(call, done):
    """NFS repeats a call whose answer was lost with its server: it may be done already"""
    try:
        call()
    except FileNotFoundError:
        if not done():
            raise


def write(folder, log):
    rng = random.Random(1)
    n = 0
    while not stop:
        n += 1
        data = rng.randbytes(rng.choice((1, 700, 4096, 40000, 200001)))
        new, name = f"{folder}/new", f"{n:06}"
        path = f"{folder}/{name}"
        with open(new, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        again(lambda: os.rename(new, path), lambda: os.path.exists(path))
        sync(folder)
        print(name, hashlib.sha256(data).hexdigest(), file=log, flush=True)
        old = f"{n - 8:06}"
        if n % 4 == 0 and n > 8:
            print(old, "going", file=log, flush=True)
            gone = f"{folder}/{old}"
            again(lambda: os.unlink(gone), lambda: not os.path.exists(gone))
            sync(folder)
            print(old, "gone", file=log, flush=True)


def right(path, state):
    """the file is in that state, which is a digest or how far its end had come"""
    if state == "going":
        return True
    if state == "gone":
        return not os.path.exists(path)
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest() == state
    except OSError as error:
        print(error)
        return False


def check(folder, log):
    states = dict(line.split() for line in log)
    bad = [name for name, state in states.items() if not right(f"{folder}/{name}", state)]
    gone = sum(state == "gone" for state in states.values())
    print(f"{len(states) - gone} files, {gone} removed; {len(bad)} wrong: {bad[:8]}")
    return 1 if bad or not states else 0


def main():
    command, folder, path = sys.argv[1:]
    if command == "check":
        with open(path, encoding="ascii") as log:
            return check(folder, log)
    signal.signal(signal.SIGTERM, on_term)
    with open(path, "w", encoding="ascii") as log:
        write(folder, log)
    return 0


sys.exit(main())
