#!/usr/bin/env python3
"""Clients of flows that go away: the flow goes on, unless its endpoint says that it is to be cancelled.

Usage: tests/http/run_flow_gone.py --sluice BINARY
"""

import pathlib
import socket
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

from sluice_server import SluiceServer, find_sluice  # noqa: E402

LONGEST_S = 60   # for what the server does within a second or so, however loaded the machine is

# Writes a document, waits for another one that says that it may go on, and writes a second one.
FLOW = """flow: {id: @, description: d, ttl: 60s}
first.task: one
tasks:
  - {name: one, process: write.doc, input: ['text(@-first) -> key'], description: d, execution: sequential, next: [wait]}
  - {name: wait, process: wait.doc, input: ['text(@-go) -> key'], output: ['result -> decision'], description: d, execution: decision, next: [wait, two]}
  - {name: two, process: write.doc, input: ['text(@-second) -> key'], output: ['text(done) -> output.body'], description: d, execution: end}
"""

APP = {
    "flows.yaml": "flows: ['stays.yml', 'leaves.yml']",
    "flows/stays.yml": FLOW.replace("@", "stays"),
    "flows/leaves.yml": FLOW.replace("@", "leaves"),
    "tasks/write.doc.js": "function handleEvent(headers, input) { docs[input.key] = { done: true }; return 1; }",
    "tasks/wait.doc.js": "function handleEvent(headers, input) {\n"
                         "  const end = Date.now() + 50;\n"
                         "  while (Date.now() < end);\n"
                         "  return docs[input.key] ? 2 : 1;\n"
                         "}\n",
    "rest.yaml": "rest:\n"
                 "  - {service: http.flow.adapter, flow: stays, methods: [GET], url: /stays, timeout: 60s}\n"
                 "  - {service: http.flow.adapter, flow: leaves, methods: [GET], url: /leaves, timeout: 60s, "
                 "on_disconnect: cancel}\n",
    "sluice.yaml": "tasks:\n"
                   "  write.doc: {keyspaces: {docs: docs}}\n"
                   "  wait.doc: {keyspaces: {docs: {keyspace: docs, access: r}}}\n",
}


class GoneTest(unittest.TestCase):
    sluice = None

    @classmethod
    def setUpClass(cls):
        cls.server = SluiceServer(cls.sluice).start()
        for method, path, body in (("PUT", "/v1/buckets/docs", None), ("PUT", "/v1/flows/app", {"files": APP})):
            answer = cls.server.request(method, path, body)
            if answer.status >= 300:
                raise RuntimeError(f"{path}: {answer.body!r}")

    @classmethod
    def tearDownClass(cls):
        try:
            cls.server.stop()
        finally:
            cls.server.close()

    def there(self, key):
        return self.server.request("GET", f"/v1/docs/docs/{key}").status == 200

    def await_that(self, condition, what):
        deadline = time.monotonic() + LONGEST_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def running(self):
        text = self.server.request("GET", "/metrics").body.decode()
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith("sluice_flow_runs ")))

    def leave_after_first(self, name):
        with socket.create_connection(("127.0.0.1", self.server.ports["flows"]), timeout=LONGEST_S) as client:
            client.sendall(f"GET /{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            self.await_that(lambda: self.there(f"{name}-first"), "the flow does not begin")

    def test_the_flow_goes_on(self):
        self.leave_after_first("stays")
        self.server.request("PUT", "/v1/docs/docs/stays-go", {"go": True})
        self.await_that(lambda: self.there("stays-second"), "the second task does not run")

    def test_the_flow_is_cancelled_if_its_endpoint_says_so(self):
        self.leave_after_first("leaves")
        self.await_that(lambda: self.running() == 0, "the flow is not cancelled")
        self.server.request("PUT", "/v1/docs/docs/leaves-go", {"go": True})
        self.assertFalse(self.there("leaves-second"))
        self.assertIn("its flow is cancelled", self.server.log())


if __name__ == "__main__":
    GoneTest.sluice = find_sluice(sys.argv[sys.argv.index("--sluice") + 1])
    del sys.argv[1:]
    unittest.main()
