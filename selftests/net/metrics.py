#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Check a page of metrics, and print its samples as JSON.

	metrics.py prometheus|openmetrics <PAGE

By the text format 0.0.4 of Prometheus, and OpenMetrics 1.0: each family has one HELP and
one TYPE, in front of all its samples; no sample is there twice; names, labels and values
are of the forms that the formats have; the samples of a counter end in _total, which its
family has in the text format alone; OpenMetrics ends with # EOF.
"""
import json
import re
import sys

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf'({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\d+)')


def fail(nr, why):
    sys.exit(f'line {nr}: {why}')


def suffixed(family, kind, openmetrics):
    return family + '_total' if kind == 'counter' and openmetrics else family


def main(openmetrics):
    text = sys.stdin.read()
    samples, known, family, kind = {}, {}, None, None
    if not text.endswith('\n'):
        sys.exit('the last line does not end')
    lines = text[:-1].split('\n')
    if openmetrics and lines.pop() != '# EOF':
        sys.exit('no EOF')
    for nr, line in enumerate(lines, 1):
        if m := re.fullmatch(rf'# HELP ({NAME}) ([^\\]+)', line):
            if m[1] in known:
                fail(nr, 'a family twice')
            family, kind, known[m[1]] = m[1], None, True
        elif m := re.fullmatch(rf'# TYPE ({NAME}) (counter|gauge)', line):
            if m[1] != family or kind:
                fail(nr, 'TYPE is not next to HELP')
            kind = m[2]
            if kind == 'counter' and family.endswith('_total') == openmetrics:
                fail(nr, 'wrong name of a counter')
        elif m := SAMPLE.fullmatch(line):
            if not kind or m[1] != suffixed(family, kind, openmetrics):
                fail(nr, 'a sample outside its family')
            if (key := m[1] + '{' + (m[2] or '') + '}') in samples:
                fail(nr, 'a sample twice')
            samples[key] = int(m[3])
        else:
            fail(nr, f'unknown form: {line}')
    print(json.dumps(samples))


main({'prometheus': False, 'openmetrics': True}[sys.argv[1]])
