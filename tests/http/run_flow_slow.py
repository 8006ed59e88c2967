#!/usr/bin/env python3
"""Slow clients on the flows port: each is dropped by a limit that the server was told, and others do not
notice.

Usage: tests/http/run_flow_slow.py --sluice BINARY
"""

import json
import pathlib
import socket
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

from sluice_server import SluiceServer, exchange, find_sluice  # noqa: E402

LONGEST_S = 60   # for what the server does within a second or so, however loaded the machine is
SLOW_CLIENTS = 40
LARGE = 32 << 20

APP = {
    "flows.yaml": "flows: ['hello.yml', 'large.yml']",
    "flows/hello.yml": "flow: {id: hello, description: d, ttl: 30s}\nfirst.task: one\ntasks:\n"
                       "  - {name: one, process: no.op, input: ['input.body -> got'], output: ['text(hello) -> output.body.text'], "
                       "description: d, execution: end}\n",
    "flows/large.yml": "flow: {id: large, description: d, ttl: 30s}\nfirst.task: one\ntasks:\n"
                       "  - {name: one, process: stream.open, input: ['text(@DIR@/large.bin) -> file'], "
                       "output: ['result.stream -> output.header.x-stream-id'], description: d, execution: end}\n",
    "rest.yaml": "rest:\n"
                 "  - {service: http.flow.adapter, flow: hello, methods: [GET, POST], url: /api/hello}\n"
                 "  - {service: http.flow.adapter, flow: large, methods: [GET], url: /api/large}\n"
                 "static-content: {folder: 'file:@DIR@'}\n",
}


class SlowTest(unittest.TestCase):
    sluice = None

    @classmethod
    def setUpClass(cls):
        server = SluiceServer(cls.sluice)
        directory = server.data.parent.resolve() / "files"
        directory.mkdir(parents=True)
        with open(directory / "large.bin", "wb") as large:
            large.truncate(LARGE)
        server.arguments += [
            "--http-head-timeout", "500ms", "--http-body-grace", "500ms", "--http-body-min-rate", "64KiB",
            "--http-write-stall", "500ms", "--http-max-body", "64KiB", "--flows-max-stream", "64MiB",
            "--flows-directories", str(directory)]
        cls.server = server.start()
        cls.idle_sockets = cls.sockets()
        files = {path: text.replace("@DIR@", str(directory)) for path, text in APP.items()}
        answer = server.request("PUT", "/v1/flows/app", {"files": files})
        if answer.status != 200:
            raise RuntimeError(f"the app is refused: {answer.body!r}")

    @classmethod
    def tearDownClass(cls):
        try:
            cls.server.stop()
        finally:
            cls.server.close()

    def open(self):
        client = socket.create_connection(("127.0.0.1", self.server.ports["flows"]), timeout=LONGEST_S)
        self.addCleanup(client.close)
        return client

    @classmethod
    def descriptors(cls):
        """What the server has open."""
        names = []
        for entry in pathlib.Path(f"/proc/{cls.server.process.pid}/fd").iterdir():
            try:
                names.append(str(entry.readlink()))
            except OSError:
                pass  # closed meanwhile
        return names

    @classmethod
    def sockets(cls):
        return sum(name.startswith("socket:") for name in cls.descriptors())

    def await_that(self, condition, what):
        deadline = time.monotonic() + LONGEST_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def assert_others_are_answered(self):
        connection = self.server.connect("flows", timeout=LONGEST_S)
        for _ in range(50):
            answer = exchange(connection, "POST", "/api/hello", {"n": 1})
            self.assertEqual((answer.status, json.loads(answer.body)), (200, {"text": "hello"}))
        connection.close()

    def trickle(self, begin, byte, wanted):
        """Clients that send a beginning and then a byte now and then, until the server has had enough."""
        clients = [self.open() for _ in range(SLOW_CLIENTS)]
        answers = {}

        def run(client):
            got = b""
            try:
                client.sendall(begin)
                client.settimeout(0.1)
                deadline = time.monotonic() + LONGEST_S
                while time.monotonic() < deadline:
                    try:
                        client.sendall(byte)
                        piece = client.recv(4096)
                        if not piece:
                            break
                        got += piece
                    except TimeoutError:
                        continue
                else:
                    got = b"never closed"
            except OSError:
                pass  # reset: we sent after it had closed
            answers[client] = got

        threads = [threading.Thread(target=run, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        self.assert_others_are_answered()
        for thread in threads:
            thread.join()
        for got in answers.values():
            # An answer may be lost to a reset, a connection that stays open may not.
            self.assertTrue(got == b"" or got.startswith(wanted), got)
        self.assertTrue(any(got.startswith(wanted) for got in answers.values()))
        self.assert_others_are_answered()

    def test_a_head_that_never_ends(self):
        self.trickle(b"GET /api/hello HTTP/1.1\r\nHost: localhost\r\nX-Long: ", b"a", b"HTTP/1.1 408 ")

    def test_a_body_that_trickles(self):
        self.trickle(b"POST /api/hello HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: 60000\r\n\r\n", b" ", b"HTTP/1.1 408 ")

    def test_a_large_upload_that_trickles(self):
        self.trickle(b"POST /api/hello HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
                     b"Content-Length: 60000000\r\n\r\n" + bytes(70000), b"x", b"HTTP/1.1 408 ")
        self.await_that(lambda: not any("/streams/" in name for name in self.descriptors()),
                        "what was uploaded stays on disk")

    def test_a_reader_that_never_reads(self):
        for path in ("/api/large", "/large.bin"):
            self.await_that(lambda: self.sockets() <= self.idle_sockets, "earlier connections stay open")
            clients = [self.open() for _ in range(SLOW_CLIENTS)]
            self.await_that(lambda: self.sockets() >= self.idle_sockets + SLOW_CLIENTS, "clients are not served")
            for client in clients:
                client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            self.assert_others_are_answered()
            self.await_that(lambda: self.sockets() <= self.idle_sockets, f"{path}: connections stay open")
            # What they had not taken they don't get.
            for client in clients:
                size = 0
                try:
                    while piece := client.recv(1 << 20):
                        size += len(piece)
                except OSError:
                    pass  # reset
                self.assertLess(size, LARGE)
            self.assert_others_are_answered()


if __name__ == "__main__":
    SlowTest.sluice = find_sluice(sys.argv[sys.argv.index("--sluice") + 1])
    del sys.argv[1:]
    unittest.main()
