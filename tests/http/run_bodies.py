#!/usr/bin/env python3
"""The bodies of all requests together are bounded by the setting http.max_bodies.

Usage: tests/http/run_bodies.py --sluice BINARY
"""

import argparse
import pathlib
import socket
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

from sluice_server import SluiceServer, find_sluice  # noqa: E402

BODY = 1 << 20
SLUICE = None


class BodiesTest(unittest.TestCase):
    def setUp(self):
        self.server = SluiceServer(SLUICE, arguments=(
            "--dev", "--http-max-body", "1MiB", "--http-max-bodies", "2MiB")).start()
        self.addCleanup(self.server.close)
        self.assertEqual(self.server.request("PUT", "/v1/buckets/b").status, 201)

    def begin(self, key, sent):
        """A request that has sent so much of a body of 1 MiB."""
        client = socket.create_connection(("127.0.0.1", self.server.ports["http"]), timeout=30)
        self.addCleanup(client.close)
        head = (f"PUT /v1/docs/b/{key} HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n")
        client.sendall(head.encode() + b'"' + b"x" * (sent - 1))
        return client

    def finish(self, client, sent):
        client.sendall(b"x" * (BODY - sent - 1) + b'"')
        return client.recv(4096)

    def await_body_bytes(self, expected):
        """Until then the server may refuse the first or the second body instead of the third."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            metrics = self.server.request("GET", "/metrics").body.decode()
            if f"\nsluice_http_body_bytes {expected}\n" in metrics:
                return
            time.sleep(0.01)
        self.fail(f"the bodies did not arrive: {metrics}")

    def test_the_third_large_body_waits_for_another_time(self):
        most = BODY - 1000
        first, second = self.begin("a", most), self.begin("b", most)
        self.await_body_bytes(2 * most)
        third = self.begin("c", most)
        answer = third.recv(4096)
        self.assertIn(b" 503 ", answer.split(b"\r\n")[0])
        self.assertIn(b"http.bodies_full", answer + third.recv(4096))
        # Small ones go on, and so do those that have their place.
        small = self.server.request("PUT", "/v1/docs/b/small", '{"n": 1}')
        self.assertEqual(small.status, 200, small.body)
        for client in (first, second):
            self.assertIn(b" 200 ", self.finish(client, most).split(b"\r\n")[0])
        again = self.begin("c", most)
        self.assertIn(b" 200 ", self.finish(again, most).split(b"\r\n")[0])


def main():
    global SLUICE
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", default=None)
    options, rest = parser.parse_known_args()
    SLUICE = find_sluice(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
