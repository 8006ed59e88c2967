#!/usr/bin/env python3
"""Proves that the crash test finds each kind of broken promise, on tests/lib/fake_sluice.py."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

from ledger import Counter, Ledger, Stored  # noqa: E402


class LedgerTest(unittest.TestCase):
    def violations(self, under_way, found):
        """What is reported when a=1 and b=1 were acknowledged and `under_way` was not."""
        ledger = Ledger()
        ledger.begin({"a": 1, "b": 1})
        ledger.acknowledge({"a": "x", "b": "x"})
        if under_way:
            ledger.begin(under_way)
        return ledger.violations(found.get, everything=True)

    def test_acknowledged_is_there(self):
        one = Stored(1, "x")
        self.assertEqual(self.violations(None, {"a": one, "b": one}), [])
        self.assertEqual(len(self.violations(None, {"a": one})), 1)
        self.assertEqual(len(self.violations(None, {"a": one, "b": Stored(1, "y")})), 1)

    def test_under_way_is_whole_or_not_there(self):
        one, two = Stored(1, "x"), Stored(2, "y")
        change = {"a": 2, "b": 2}
        self.assertEqual(self.violations(change, {"a": one, "b": one}), [])
        self.assertEqual(self.violations(change, {"a": two, "b": two}), [])
        self.assertIn("neither applied", self.violations(change, {"a": two, "b": one})[0])
        self.assertEqual(self.violations({"a": None}, {"b": one}), [])
        self.assertEqual(self.violations({"c": 5}, {"a": one, "b": one}), [])
        self.assertEqual(len(self.violations({"c": 5}, {"a": one, "b": one, "c": two})), 1)

    def test_counter(self):
        for actual, broken in [(1, 1), (2, 0), (3, 0), (4, 1)]:
            counter = Counter()
            for value in (1, 2):
                counter.begin()
                counter.acknowledge(value)
            counter.begin()
            self.assertEqual(bool(counter.violations("c", actual)), bool(broken), actual)
            self.assertEqual(counter.violations("c", actual), [])
        counter.begin()
        counter.acknowledge(2)
        self.assertIn("two steps were answered with 2", counter.violations("c", 5)[0])


class RunCrashTest(unittest.TestCase):
    def run_crash(self, fault):
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(
                [sys.executable, HERE / "run_crash.py", "--rounds", "4",
                 "--patience", "2", "--sql-clients", "0", "--keep", f"{directory}/kept",
                 "--sluice", HERE.parent / "lib/fake_sluice.py"],
                capture_output=True, text=True, env=dict(os.environ, FAKE_FAULT=fault))
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_an_honest_server_passes(self):
        code, output = self.run_crash("")
        self.assertRegex(output, r"4 kills, seed 1, \d+ commits acknowledged, "
                                 r"\d+ changes delivered, 0 promises broken")
        self.assertEqual(code, 0)

    def test_broken_promises_are_found(self):
        for fault, expected in [("lose", "acknowledged Stored"), ("half", "found None"),
                                ("count", "steps acknowledged and"), ("exit", "ended with 3"),
                                ("again", "feed: "), ("deaf", "was not delivered")]:
            with self.subTest(fault):
                code, output = self.run_crash(fault)
                self.assertIn(expected, output)
                self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
