#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Change the initial value of one-byte variables in a kernel module:

	poke.py IN.ko OUT.ko NAME=VALUE...

For modules whose choices are constants of their source.
"""
import struct
import sys

SHT_SYMTAB, SHT_NOBITS = 2, 8


def sections(elf):
    """Yield (type, offset, length, link) of each section, ELF64, little-endian."""
    start, = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    for i in range(count):
        at = start + i * size
        kind, = struct.unpack_from("<I", elf, at + 4)
        offset, length, link = struct.unpack_from("<QQI", elf, at + 24)
        yield kind, offset, length, link


def symbols(elf):
    """Yield the name and the offset of each symbol that has data in the file."""
    all_ = list(sections(elf))
    for kind, offset, length, link in all_:
        if kind != SHT_SYMTAB:
            continue
        for at in range(offset, offset + length, 24):
            name, _, _, section, value = struct.unpack_from("<IBBHQ", elf, at)
            if section >= len(all_) or all_[section][0] == SHT_NOBITS:
                continue
            begin = all_[link][1] + name
            yield elf[begin:elf.index(0, begin)].decode(), all_[section][1] + value


def main():
    with open(sys.argv[1], "rb") as f:
        elf = bytearray(f.read())
    where = dict(symbols(elf))
    for word in sys.argv[3:]:
        name, value = word.split("=")
        if name not in where:
            sys.exit(f"{sys.argv[1]} has no {name}, or it is in .bss")
        elf[where[name]] = int(value)
    with open(sys.argv[2], "wb") as f:
        f.write(elf)


main()
