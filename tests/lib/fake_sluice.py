#!/usr/bin/env python3
"""Stands in for the server in the tests of the test runners: the document API on a dictionary.

Accepts the flags that tests/lib/sluice_server.py passes. Every change is appended to DATA/changes and
synced before it is acknowledged. FAKE_FAULT in the environment breaks one promise: `lose` (nothing
is stored), `half` (only the first document of a batch is stored), `count` (one in fifty counter
steps is stored twice), `exit` (it ends with 3 when stopped), `again` (the feed starts over each
time), `deaf` (the feed leaves out every tenth change).
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import signal
import sys
import threading
import time

FAULT = os.environ.get("FAKE_FAULT", "")


class Store:
    def __init__(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.documents, self.cas, self.log = {}, 0, []
        path = directory / "changes"
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                self.apply(json.loads(line))
            except ValueError:
                pass  # the kill cut the last line: it was not acknowledged
        self.file = open(path, "a", encoding="utf-8")
        self.file.write("\n")

    def apply(self, changes):
        for key, body in changes:
            self.cas += 1
            self.log.append((key, self.cas, "delete" if body is None else "update"))
            if body is None:
                self.documents.pop(key, None)
            else:
                self.documents[key] = (body, self.cas)

    def commit(self, changes):
        """Stores a list of (key, body or None) at once."""
        stored = [] if FAULT == "lose" else changes[:1] if FAULT == "half" else changes
        self.file.write(json.dumps(stored) + "\n")
        self.file.flush()
        os.fdatasync(self.file.fileno())
        self.apply(changes)
        return self.cas


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    store = None

    def answer(self, status, body=None, cas=None):
        text = b"" if body is None else body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if cas is not None:
            self.send_header("ETag", f'"{cas}"')
        self.end_headers()
        self.wfile.write(text)

    def fail(self, status, name):
        self.answer(status, json.dumps({"error": {"id": name, "message": name}}))

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if match := re.fullmatch(r"/v1/feed/(\w+)\?from=everything", self.path):
            return self.feed(match[1])
        with self.store.lock:
            if self.path == "/livez":
                self.answer(200, "ok\n")
            elif self.path == "/v1/batch/put" and self.command == "POST":
                self.batch(json.loads(body))
            elif re.fullmatch(r"/v1/buckets/\w+", self.path):
                self.answer(201, "{}")
            elif match := re.fullmatch(r"/v1/docs/(.+)/counter", self.path):
                self.counter(match[1], json.loads(body)["delta"])
            elif match := re.fullmatch(r"/v1/docs/(.+)", self.path):
                self.document(match[1], body)
            else:
                self.fail(404, "route.not_found")

    do_GET = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 (names of http.server)

    def feed(self, keyspace):
        """Server-sent events; the id is a place in the log."""
        place = 0 if FAULT == "again" else int(self.headers.get("Last-Event-ID", 0))
        self.send_response(200)
        self.end_headers()
        while True:
            with self.store.lock:
                changes = self.store.log[place:]
            for key, cas, operation in changes:
                place += 1
                data = {"key": key.removeprefix(f"{keyspace}/"), "operation": operation, "cas": str(cas)}
                if FAULT != "deaf" or cas % 10:
                    self.wfile.write(f"id: {place}\ndata: {json.dumps(data)}\n\n".encode())
            time.sleep(0.01)

    def batch(self, request):
        keys = [f"{write['keyspace']}/{write['key']}" for write in request["writes"]]
        values = [json.dumps(write["value"]) for write in request["writes"]]
        self.store.commit(list(zip(keys, values)))
        results = [{"key": write["key"], "cas": str(self.store.documents[key][1])}
                   for key, write in zip(keys, request["writes"])]
        self.answer(200, json.dumps({"results": results}))

    def counter(self, key, delta):
        body, cas = self.store.documents.get(key, ("0", 0))
        twice = FAULT == "count" and cas % 50 == 0
        value = int(body) + (2 * delta if twice else delta)
        self.answer(200, json.dumps({"value": value}), self.store.commit([(key, str(value))]))

    def document(self, key, body):
        found, cas = self.store.documents.get(key, (None, 0))
        if self.command == "GET":
            self.fail(404, "document.not_found") if found is None else self.answer(200, found, cas)
        elif self.headers.get("If-Match", f'"{cas}"') != f'"{cas}"':
            self.fail(412, "document.cas_mismatch")
        elif self.headers.get("If-None-Match") == "*" and found is not None:
            self.fail(412, "document.exists")
        elif self.command == "DELETE":
            self.answer(204, cas=self.store.commit([(key, None)]))
        else:
            self.answer(200 if found is not None else 201, cas=self.store.commit([(key, body)]))

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    for listener in ("http", "eventing", "flows"):
        parser.add_argument(f"--{listener}", required=True)
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--print-ports", action="store_true")
    options = parser.parse_args()
    Handler.store = Store(options.data)
    servers = {name: http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
               for name in ("http", "eventing", "flows")}
    signal.signal(signal.SIGTERM, lambda *_: os._exit(3 if FAULT == "exit" else 0))
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({name: server.server_port for name, server in servers.items()}), flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())
