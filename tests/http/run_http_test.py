#!/usr/bin/env python3
"""Tests tests/http/run_http.py against tests/lib/fake_sluice.py: what must pass passes, and each kind
of difference is found."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
PUT_A = 'PUT /v1/docs/shop/a\n\n{"n": 1, "s": "x y", "l": [1, 2]}\n\n=> 201\nETag: {{cas}}\n\n'
GET_A = "GET /v1/docs/shop/a\n\n=> 200\n"


class RunHttpTest(unittest.TestCase):
    def run_text(self, text, fault=""):
        """(exit code, output) of the runner for a test file with this text."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "x.test")
            path.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, TESTS / "http/run_http.py",
                 "--sluice", TESTS / "lib/fake_sluice.py", path],
                capture_output=True, text=True, env=dict(os.environ, FAKE_FAULT=fault))
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def assert_passes(self, text, requests):
        self.assertEqual(self.run_text(text), (0, f"x.test: {requests} requests as expected\n"))

    def assert_fails(self, expected, text, fault=""):
        code, output = self.run_text(text, fault)
        self.assertIn(expected, output)
        self.assertEqual(code, 1)

    def test_passes(self):
        self.assert_passes(
            "# a comment\n!serve --dev\n\n" + PUT_A + GET_A + "ETag: {{cas}}\n!Retry-After\n\n"
            '{"n": 1, "s": "x …", "l": "…"}\n\n!restart\n!kill\n\n' + GET_A + '\n{"n": 1, "…": "…"}\n\n'
            'PUT /v1/docs/shop/a\nIf-Match: {{cas}}\n\n{"n": 2}\n\n=> 200\n\n(empty)\n\n'
            'PUT /v1/docs/shop/a\nIf-Match: {{cas}}\n\n{"n": 3}\n\n=> 412 within 1s\n\n'
            '{"error": {"id": "document.cas_mismatch", "message": "{{message}}"}}\n\n'
            "PUT /v1/docs/shop/{{repeat 3 k}}\n\nhex: 41 0a\n\n=> 201\n\n"
            "GET flows:/v1/docs/shop/kkk\n=> 200\n\nhex: 41 0a\n\n"
            "GET eventing:/livez\n=> 200\n\no…\n", 8)

    def test_differences(self):
        for expected, text in [
                ("x.test:9: GET /v1/docs/shop/a: expected status 404, got 200", "=> 404\n"),
                ("expected ETag: \"7\", got \"1\"", '=> 200\nETag: "7"\n'),
                ("expected a header Vary", "=> 200\nVary: x\n"),
                ("expected no header ETag", "=> 200\n!ETag\n"),
                ("$.n: expected 1.0, got 1", '=> 200\n\n{"n": 1.0, "…": "…"}\n'),
                ("$.s: expected \"y…\", got \"x y\"", '=> 200\n\n{"s": "y…", "…": "…"}\n'),
                ("$: no 'm', unexpected 'l', unexpected 'n', unexpected 's'", '=> 200\n\n{"m": 1}\n'),
                ("$.l: expected 1 elements, got 2", '=> 200\n\n{"l": [1], "…": "…"}\n'),
                ("$.l[1]: expected 3, got 2", '=> 200\n\n{"l": [1, 3], "…": "…"}\n'),
                ("$.n: expected \"1\", got 1", '=> 200\n\n{"n": "1", "…": "…"}\n'),
                ("expected the text\nother", "=> 200\n\nother\n"),
                ("expected no body", "=> 200\n\n(empty)\n"),
                ("got the bytes 7b", "=> 200\n\nhex: 00\n"),
                ("got 200: b'", "=> 404 within 1s\n"),
                ("{{'nobody'}} was not captured", "=> 200\n\nGET /{{nobody}}\n=> 200\n")]:
            with self.subTest(text):
                self.assert_fails(expected, PUT_A + "\nGET /v1/docs/shop/a\n" + text)

    def test_wrong_files(self):
        for expected, text in [
                ("x.test:1: no requests", "# nothing\n"),
                ("x.test:1: an expectation without a request", "=> 200\n"),
                ("x.test:1: a request without an expectation", "GET /\n"),
                ("x.test:1: expected a request or a command", "get /\n"),
                ("x.test:2: expected a header", "GET /\nbody\n=> 200\n")]:
            self.assert_fails(expected, text)

    def test_lost_data_and_exit_code(self):
        self.assert_fails("expected status 200, got 404", PUT_A + "!kill\n\n" + GET_A, fault="lose")
        self.assert_fails("the server ended with 3", PUT_A, fault="exit")


if __name__ == "__main__":
    unittest.main()
