# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figures of the guard: instructions of a message, by layer (counts.py).

    guard.py measure KEY COMMIT LOG PREFIX      print them, as the file `figures` has them
    guard.py merge FIGURES MEASURED             print what replaces FIGURES
    guard.py check FIGURES MEASURED             TAP; status 2: FIGURES lacks MEASURED's key

A row may take 5% more than its figure, of each layer and of all, and 20 instructions in any
case, since the kernel does other things beside it. The kernel's part may grow by 100: in some boots
TCP sends more acknowledgements than in others. Of messages of which 64 share a packet, that is up
to 83 of 349. Where a row takes less, it is said that the figures are to be renewed. User code does
not count.
"""
import sys

MARGIN = 0.05
BESIDE = 20
ACKS = {"kernel": 100, "sum": 100}
LAYERS = ("driver", "kernel", "crc")


def read(path):
    """(commit, {key: {row: figures}}); the first lines, which say what it is"""
    commit, keys, head = None, {}, []
    for line in open(path):
        words = line.split()
        if line.startswith("#"):
            head.append(line)
        elif words[:1] == ["commit"]:
            commit = words[1]
        elif words[:1] == ["key"]:
            rows = keys[" ".join(words[1:])] = {}
        elif words:
            rows[words[0]] = dict(zip(LAYERS, map(int, words[1:])))
    return commit, keys, "".join(head)


def write(commit, keys, head=""):
    print(head + f"commit {commit}")
    for key, rows in keys.items():
        print(f"\nkey {key}")
        for row, figures in rows.items():
            print(f"{row:24}" + "".join(f"{figures[layer]:8}" for layer in LAYERS))


def measure(key, commit, log, prefix):
    import counts

    symbols, rows = counts.Symbols(log), {}
    for i, (row, messages) in enumerate(counts.rows(log), 1):
        sums = counts.by_layer(counts.by_function(f"{prefix}.{i}", symbols)[0])
        rows[row] = {layer: round(sums[layer] / messages) for layer in LAYERS}
    write(commit, {key: rows})


def merge(figures, measured):
    """other keys' figures stay while they are of the same commit"""
    old_commit, keys, head = read(figures)
    commit, new, _ = read(measured)
    write(commit, {**(keys if commit == old_commit else {}), **new}, head)


def with_sum(figures):
    return {**figures, "sum": sum(figures.values())}


def allowed(name, figure):
    return max(figure * (1 + MARGIN), BESIDE, figure + ACKS.get(name, 0))


def faults(ours, theirs):
    """what takes too much, and whether anything takes far less"""
    ours, theirs = with_sum(ours), with_sum(theirs)
    more = [f"{name} {theirs[name]} -> {ours[name]}"
            for name in ours if ours[name] > allowed(name, theirs[name])]
    return more, any(ours[name] < theirs[name] * (1 - MARGIN) for name in ours)


def check_row(row, ours, theirs):
    """Return: the row is as it should be"""
    if not ours or not theirs:
        print(f"not ok - {row} # {'no figure: renew them' if ours else 'it was not counted'}")
        return False
    more, less = faults(ours, theirs)
    values = ", ".join(f"{name} {n}" for name, n in with_sum(ours).items())
    print(f"# {row}: {values}" + ("; far less than the figures: renew them" if less else ""))
    print(f"{'not ok' if more else 'ok'} - {row} takes at most 5% more instructions than it did" +
          (f" # {', '.join(more)}" if more else ""))
    return not more


def check(figures, measured):
    commit, keys, _ = read(figures)
    (key, ours), = read(measured)[1].items()
    if key not in keys:
        return 2
    print(f"# {key}, figures of {commit}")
    good = [check_row(row, ours.get(row), keys[key].get(row)) for row in {**keys[key], **ours}]
    return 0 if good and all(good) else 1


command = {"measure": measure, "merge": merge, "check": check}[sys.argv[1]]
sys.exit(command(*sys.argv[2:]))
