# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Instructions of a message, by layer, module and function: the difference of two counts.

    profile.py LOG MESSAGES COUNT [LESS]        (counts.py)

LESS is the count of what COUNT has besides MESSAGES.
"""
import collections
import sys

import counts


def main(log, messages, count, less="/dev/null"):
    symbols, messages = counts.Symbols(log), int(messages)
    insns, calls = counts.by_function(count, symbols)
    for all_of_it, part in zip((insns, calls), counts.by_function(less, symbols)):
        all_of_it.subtract(part)
    modules = collections.Counter()
    for (_, module), n in insns.items():
        modules[module] += n
    for name, n in counts.by_layer(insns).items():
        print(f"{n / messages:9.0f}  {name}")
    print()
    for module, n in modules.most_common():
        if n >= messages:
            print(f"{n / messages:9.0f}  {module}")
    print("\ninstructions    calls  function")
    for (name, module), n in insns.most_common():
        if n >= messages * 10 and module != "USER":
            print(f"{n / messages:12.0f} {calls[name, module] / messages:8.2f}  {name} {module}")


main(*sys.argv[1:])
