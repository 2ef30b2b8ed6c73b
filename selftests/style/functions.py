#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Functions of Python over LIMIT lines: functions.py LIMIT FILE...

A comment or docstring with "longer than 60 lines" gives the reason."""
import ast
import sys

limit = int(sys.argv[1])
for path in sys.argv[2:]:
    with open(path, encoding='utf-8') as f:
        text = f.read()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text, path)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        length = node.end_lineno - node.lineno
        before = lines[max(node.lineno - 4, 0):node.lineno + 4]
        if length > limit and 'longer than 60 lines' not in '\n'.join(before):
            print(f'{path}: {node.name} has {length} lines')
