# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The figures of report, "SERIES,KIND,X,CANDIDATE,INSTRUCTIONS" of a message in each line.

    report.py layers LOG PREFIX     lines of the series layers, X a layer (counts.py)
    report.py table CSV             print all
    report.py data CSV DIR          files for report.gp
"""
import csv
import sys

import counts

CANDIDATES = ("tern", "tern-nocrc", "tern-short", "siw-crc", "siw", "rxe", "tcp")


def layers(log, prefix):
    symbols = counts.Symbols(log)
    for i, (name, messages) in enumerate(counts.rows(log), 1):
        row, candidate = name.split(":")
        sums = counts.by_layer(counts.by_function(f"{prefix}.{i}", symbols)[0])
        for layer, n in sums.items():
            print(f"layers,{row},{layer},{candidate},{n / messages:.0f}")


def read(path):
    """{(series, kind): {x: {candidate: instructions}}}, in the file's order"""
    groups = {}
    for line in csv.DictReader(open(path)):
        group = groups.setdefault((line["series"], line["kind"]), {})
        group.setdefault(line["x"], {})[line["candidate"]] = float(line["instructions"])
    return groups


def table(path):
    for (series, kind), rows in read(path).items():
        print(f"\n{kind + ', by ' + series:20}" + "".join(f"{c:>12}" for c in CANDIDATES))
        for x, values in rows.items():
            cells = (f"{values[c]:12.0f}" if c in values else f"{'-':>12}" for c in CANDIDATES)
            print(f"{x:20}" + "".join(cells))


def write(path, rows, value):
    """X, then a column for each of CANDIDATES, NaN where there is none"""
    with open(path, "w") as f:
        for x, values in rows.items():
            cells = (f"{value(x, values[c]):.2f}" if c in values else "NaN" for c in CANDIDATES)
            print(x, *cells, file=f)


def stack(path, groups, kinds, candidates):
    """a line for each row and candidate"""
    with open(path, "w") as f:
        for kind in kinds:
            rows = groups["layers", kind]
            for c in candidates:
                if all(c in values for values in rows.values()):
                    cells = (f"{rows[layer][c] / 1000:.2f}" for layer in counts.LAYERS)
                    print(f'"{kind} {c}"', *cells, file=f)


def data(path, directory):
    groups = read(path)
    for kind in ("write", "send", "read"):
        # a nanosecond is an instruction
        write(f"{directory}/size-{kind}.dat", groups["size", kind],
              lambda x, n: int(x) / n * 1e9 / (1 << 20))
    for kind in ("write", "send"):
        write(f"{directory}/list-{kind}.dat", groups["list", kind], lambda x, n: 1e6 / n)
    # siw's bars would hide tern's
    stack(f"{directory}/layers-1.dat", groups, ("send-64K", "read-64K"), ("tern", "tcp"))
    stack(f"{directory}/layers-2.dat", groups, ("send-64K",), CANDIDATES)
    stack(f"{directory}/layers-3.dat", groups, ("send-64", "ping-8"), CANDIDATES)


command = {"layers": layers, "table": table, "data": data}[sys.argv[1]]
command(*sys.argv[2:])
