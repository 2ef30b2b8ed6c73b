#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compare Documentation/states.rst with what states.c prints of the code.

	states.py WHAT RST STEPS	names, tables or diagrams

Prints a line for each difference. A section belongs to the file of core/ that its title
names. In a diagram `A --E, F--> B` is a step from A to B by E, and one by F; a `+` in
place of A stands for the state above it, to which `|` and other `+` lead up. The steps
that stay in a state are not in it."""
import re
import sys

EDGE = re.compile(r'--([A-Z0-9_+, ]+)--> ([A-Z_]+)')


def section(lines, source):
    """The lines of the section whose title ends in the name of the source."""
    titles = [n for n in range(len(lines) - 1)
              if lines[n] and re.fullmatch('=+', lines[n + 1])] + [len(lines)]
    for begin, end in zip(titles, titles[1:]):
        if lines[begin].endswith(f'core/{source}.c'):
            return lines[begin + 2:end]
    sys.exit(f'no section on core/{source}.c')


def tables(lines):
    """The simple tables of a section: {first words of the head: rows of cells}."""
    found = {}
    borders = [n for n, line in enumerate(lines) if re.fullmatch('=+( +=+)+', line)]
    for top, middle, bottom in zip(borders[::3], borders[1::3], borders[2::3]):
        spans = [m.span() for m in re.finditer('=+', lines[top])]
        spans[-1] = (spans[-1][0], None)
        head, *rows = [[line[a:b].strip() for a, b in spans]
                       for line in lines[top + 1:middle] + lines[middle + 1:bottom]]
        found[' '.join(head)] = [row for row in rows if row[0]]
    return found


def diagram(lines):
    """The lines of the literal blocks of a section."""
    block, inside = [], False
    for line in lines:
        if line.strip():
            inside = line.startswith(' ') and inside or line.endswith('::')
        block.append(line if inside and line.startswith(' ') else '')
    return block


def state_above(lines, row, column):
    """The state to which a column leads up."""
    while row > 0:
        row -= 1
        names = EDGE.sub(lambda m: ' ' * (m.start(2) - m.start()) + m[2], lines[row])
        if names[column:column + 1] in ('|', '+'):
            continue
        for name in re.finditer('[A-Z_]+', names):
            if name.start() <= column < name.end():
                return name[0]
        break
    return '?'


def edges(lines):
    """The steps of a diagram, and lines of it that have none."""
    for row, line in enumerate(lines):
        for edge in EDGE.finditer(line):
            before = line[:edge.start()]
            name = re.search('([A-Z_]+) $', before)
            state = (name[1] if name else
                     state_above(lines, row, edge.start() - 1) if before.endswith('+') else '?')
            for event in edge[1].split(','):
                yield f'{state} --{event.strip()}--> {edge[2]}'
        if line.strip(' |') and not EDGE.search(line):
            yield line.strip()


def documented(what, lines):
    if what == 'diagrams':
        return list(edges(diagram(lines)))
    rows = []
    for head, cells in tables(lines).items():
        kind = head.split()[0]
        if what == 'tables' and head.startswith('state event next'):
            rows += [' '.join(row) for row in cells]
        elif what == 'names' and not head.startswith('state event next'):
            rows += [f'{kind} {row[0]}' for row in cells]
    return rows


def coded(what, steps):
    rows = []
    for kind, *words in steps:
        if what == 'names' and kind != 'step':
            rows.append(f'{kind} {words[0]}')
        elif what == 'tables' and kind == 'step':
            rows.append(' '.join(words))
        elif what == 'diagrams' and kind == 'step' and words[0] != words[2]:
            rows.append(f'{words[0]} --{words[1]}--> {words[2]}')
    return rows


def main():
    what, rst, steps = sys.argv[1:]
    with open(rst, encoding='utf-8') as f:
        text = f.read().splitlines()
    with open(steps, encoding='utf-8') as f:
        printed = [line.split() for line in f]
    for source in ('qp_fsm', 'cm_fsm'):
        doc = documented(what, section(text, source))
        code = coded(what, [words[1:] for words in printed if words[0] == source])
        for row in sorted(set(doc) ^ set(code)):
            print(f'{source}, only in', 'states.rst:' if row in doc else 'the code:', row)
        for row in sorted({row for row in doc if doc.count(row) > 1}):
            print(f'{source}, twice in states.rst:', row)
        if not code:
            print(f'{source}: no steps')


main()
