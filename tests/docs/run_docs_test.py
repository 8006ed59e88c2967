#!/usr/bin/env python3
"""Tests tests/docs/run_docs.py against tests/lib/fake_sluice.py."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent


class RunDocsTest(unittest.TestCase):
    def run_text(self, text):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "page.md")
            path.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, TESTS / "docs/run_docs.py",
                 "--sluice", TESTS / "lib/fake_sluice.py", path], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def assert_fails(self, expected, block):
        code, output = self.run_text(f"```sh\n{block}\n```\n")
        self.assertIn(expected, output)
        self.assertEqual(code, 1)

    def test_passes(self):
        code, output = self.run_text(
            "# Page\n\n<!-- serve: --dev -->\n\n```sh\n"
            "$ curl -s localhost:8091/livez\nok\n"
            "$ curl -si -X PUT localhost:8091/v1/docs/shop/a \\\n    -d '{\"n\": 1}'\n"
            "HTTP/1.1 201 …\n…\nETag: \"…\"\n\n"
            "$ name=a\n"
            "$ cat <<'END'\none\ntwo\\\nEND\none\ntwo\\\n"
            "$ echo http://localhost:8091\nhttp://localhost:8091\n```\n\n"
            "```sh no-test\n$ false\n```\n\n```json\n{}\n```\n\n"
            "```sh\n$ curl -s localhost:8096/v1/docs/shop/$name\n{\"n\": 1}\n"
            "$ ls missing\nls: cannot access …\n```\n")
        self.assertIn("docs: 7 commands in 1 documents print what is written, 0 documents", output)
        self.assertEqual(code, 0)

    def test_differences(self):
        self.assert_fails("page.md:2: $ echo a\nexpected\nb\ngot (exit code 0)\na", "$ echo a\nb")
        self.assert_fails("expected\n\ngot (exit code 0)\na", "$ echo a")
        self.assert_fails("expected\na\nb\ngot", "$ echo a\na\nb")
        self.assert_fails("failed with 1 and printed nothing", "$ false")
        self.assert_fails("ended the shell", "$ exit 3")

    def test_wrong_blocks(self):
        self.assert_fails("a sh block without a `$ command`", "")
        self.assert_fails("output before the first command", "curl -s localhost:8091/livez")


if __name__ == "__main__":
    unittest.main()
