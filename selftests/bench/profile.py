# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Instructions of a message, by module and by function: the difference of two counts.

    profile.py LOG COUNT MESSAGES

LOG has lines "KSYM ADDRESS NAME [MODULE]", COUNT.1 is of a quarter of MESSAGES, COUNT.2 of
all (plugin.c). A block of instructions belongs to the function that it begins in.
"""
import bisect
import collections
import sys

USER_END = 1 << 47


def read_symbols(log):
    symbols = {}
    for line in open(log, errors="replace"):
        if "KSYM " in line:
            addr, name, *module = line.split("KSYM ")[1].split()
            symbols[int(addr, 16)] = (name, module[0] if module else "kernel")
    return sorted(symbols.items())


def read_counts(path):
    """address: (instructions, executions) of each block that begins there"""
    for line in open(path):
        addr, insns, times = line.split()
        yield int(addr, 16), int(insns), int(times)


def add(path, sign, symbols, insns, calls):
    starts = [addr for addr, _ in symbols]
    for addr, n, times in read_counts(path):
        if addr < USER_END:
            insns["", "USER"] += sign * n * times
            continue
        at = bisect.bisect(starts, addr) - 1
        function = symbols[at][1]
        insns[function] += sign * n * times
        if addr == starts[at]:
            calls[function] += sign * times


def main(log, count, messages):
    symbols = read_symbols(log)
    insns, calls = collections.Counter(), collections.Counter()
    add(f"{count}.1", -1, symbols, insns, calls)
    add(f"{count}.2", +1, symbols, insns, calls)
    messages -= messages // 4
    modules = collections.Counter()
    for (_, module), n in insns.items():
        modules[module] += n
    for module, n in modules.most_common():
        if n >= messages:
            print(f"{n / messages:9.0f}  {module}")
    print("\ninstructions    calls  function")
    for (name, module), n in insns.most_common():
        if n >= messages * 10 and module != "USER":
            print(f"{n / messages:12.0f} {calls[name, module] / messages:8.2f}  {name} {module}")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
