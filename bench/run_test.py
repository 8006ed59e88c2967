#!/usr/bin/env python3
"""Tests bench/run with programs that pretend to measure."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run"
ROW = {"name": "writes", "value": 900, "unit": "1/s", "yardstick": "raw: 1000", "ratio": 0.9, "goal": 0.7}


class RunTest(unittest.TestCase):
    def run_bench(self, script, *arguments):
        """(exit code, output, rows) of bench/run with one program."""
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory, "fake_bench")
            program.write_text("#!/usr/bin/env bash\n" + script)
            program.chmod(0o755)
            out = pathlib.Path(directory, "bench.json")
            done = subprocess.run([sys.executable, RUN, "--out", out, *arguments, program],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr, json.loads(out.read_text())

    def measure(self, **changes):
        return self.run_bench(f"echo '{json.dumps({**ROW, **changes})}'\n")

    def test_collects_and_judges(self):
        code, output, rows = self.measure(cpu_us=5)
        self.assertEqual((code, rows), (0, [{**ROW, "cpu_us": 5}]))
        self.assertRegex(output, r"writes +900 +1/s +raw: 1000 +0\.9 +0\.7 +pass")
        self.assertIn("1 of 1 goals met", output)

    def test_goals(self):
        for changes, expected in [({"ratio": 0.6}, "miss"), ({"goal": ">= 0.9"}, "pass"),
                                  ({"ratio": None, "goal": "<= 300"}, "miss"),
                                  ({"ratio": None, "goal": "<= 900"}, "pass")]:
            code, output, _ = self.measure(**changes)
            self.assertEqual(code, 0)
            self.assertRegex(output, rf"writes .* {expected}\n")

    def test_no_goal(self):
        self.assertIn("0 of 0 goals met", self.measure(goal=None)[1])

    def test_passes_full_and_keeps_other_lines(self):
        script = f"echo \"arguments: $*\"\necho '{json.dumps(ROW)}'\n"
        self.assertIn("arguments: --full\n", self.run_bench(script, "--full")[1])

    def test_wrong_lines_and_failures(self):
        for script, message in [("echo '{\"name\": \"x\"}'", "field 'value' is missing"),
                                ("echo '{nonsense'", "fake_bench: "),
                                ("exit 3", "ended with 3"), ("true", "measured nothing")]:
            code, output, _ = self.run_bench(script + "\n")
            self.assertEqual(code, 1)
            self.assertIn(message, output)
        self.assertEqual(self.measure(goal="about 5")[0], 1)


if __name__ == "__main__":
    unittest.main()
