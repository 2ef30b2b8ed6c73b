#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Run rdma-core's own pyverbs tests and report them as KTAP.

	pyverbs_tap.py TESTS_DIR NOT_APPLICABLE_FILE DEVICE MODULE...

NOT_APPLICABLE_FILE has a test on each line, `Class.test  reason`; globs are allowed.
These tests are listed in a comment and not run. A test that skips itself without being
listed there is reported as a skip, with its own reason.
"""
import fnmatch
import importlib
import os
import random
import sys
import time
import types
import unittest

import pyverbs_connect


def not_applicable(path):
    rows = [line.split(None, 1) for line in open(path) if line.strip() and line[0] != '#']
    return [(pattern, reason.strip()) for pattern, reason in rows]


def tests_in(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_in(item)
        else:
            yield item


class Tap(unittest.TestResult):
    """One KTAP line for each test."""

    def startTest(self, test):
        super().startTest(test)
        self.t0 = time.monotonic()

    def line(self, word, test, more=''):
        ms = (time.monotonic() - self.t0) * 1000
        print(f'{word} {self.testsRun} {short(test)} # {more or "%d ms" % ms}', flush=True)

    def addSuccess(self, test):
        self.line('ok', test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line('ok', test, 'SKIP ' + reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print('# ' + self.failures[-1][1].rstrip().replace('\n', '\n# '))
        self.line('not ok', test)

    def addError(self, test, err):
        super().addError(test, err)
        print('# ' + self.errors[-1][1].rstrip().replace('\n', '\n# '))
        self.line('not ok', test)


def short(test):
    return '.'.join(test.id().split('.')[-2:])


def main():
    tests_dir, list_file, device, modules = *sys.argv[1:4], sys.argv[4:]
    sys.path[:0] = [tests_dir, os.path.dirname(tests_dir)]
    # The package's own __init__ imports all tests, vendors' too: stand in for it.
    package = types.ModuleType('tests')
    package.__path__ = [tests_dir]
    sys.modules['tests'] = package
    # The tests ask the parser under either name for the device.
    sys.argv = ['pyverbs', '--dev', device]
    for name in 'args_parser', 'tests.args_parser':
        importlib.import_module(name).parser.parse_args()

    base = importlib.import_module('tests.base')
    base.RDMATestCase.pre_run = pyverbs_connect.by_rdma_cm

    random.seed(1)  # the tests take sizes and flags at random
    listed, suite = not_applicable(list_file), unittest.TestSuite()
    for module in modules:
        loaded = unittest.defaultTestLoader.loadTestsFromModule(
            importlib.import_module('tests.' + module))
        for test in tests_in(loaded):
            why = [r for p, r in listed if fnmatch.fnmatch(short(test), p)]
            if why:
                print(f'# not applicable: {short(test)}: {why[0]}')
            else:
                suite.addTest(test)
    result = Tap()
    suite.run(result)
    print(f'1..{result.testsRun}')
    return not result.wasSuccessful()


sys.exit(main())
