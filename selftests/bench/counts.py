# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What plugin.c counted, by function and by layer.

LOG is the output of a guest: the kernel's symbols (rows.sh), and of count_guest.sh also a line
"COUNTED ROW:CANDIDATE MESSAGES NANOSECONDS" for each row; PREFIX.1 is the count of the first
row, and so on. A block of instructions belongs to the function that it begins in.
"""
import base64
import bisect
import collections
import gzip
import re

USER_END = 1 << 47
LAYERS = ("driver", "kernel", "crc", "user")
DRIVERS = ("[tern]", "[siw]", "[rdma_rxe]")
# the checksum with what leads to it
CRC = re.compile("crc|shash|kernel_fpu_|irq_fpu_usable")


class Symbols:
    def __init__(self, log):
        lines = [line[5:] for line in open(log, errors="replace") if line.startswith("KSYM ")]
        table = {}
        for line in gzip.decompress(base64.b64decode("".join(lines))).decode().splitlines():
            addr, name, *module = line.split()
            table[int(addr, 16)] = (name, module[0] if module else "kernel")
        self.starts = sorted(table)
        self.functions = [table[start] for start in self.starts]

    def find(self, addr):
        """(name, module) of the function, and whether it begins there"""
        if addr < USER_END:
            return ("", "USER"), False
        at = bisect.bisect(self.starts, addr) - 1
        return self.functions[at], addr == self.starts[at]


def rows(log):
    """(row, messages) in the order in which they were counted"""
    for line in open(log, errors="replace"):
        if line.startswith("COUNTED "):
            _, row, messages, _ = line.split()
            yield row, int(messages)


def by_function(path, symbols):
    """instructions and calls of each function"""
    insns, calls = collections.Counter(), collections.Counter()
    for line in open(path):
        addr, n, times = line.split()
        function, begins = symbols.find(int(addr, 16))
        insns[function] += int(n) * int(times)
        if begins:
            calls[function] += int(times)
    return insns, calls


def layer(name, module):
    if module == "USER":
        return "user"
    if module in DRIVERS:
        return "driver"
    return "crc" if CRC.search(name) else "kernel"


def by_layer(insns):
    sums = dict.fromkeys(LAYERS, 0)
    for function, n in insns.items():
        sums[layer(*function)] += n
    return sums
