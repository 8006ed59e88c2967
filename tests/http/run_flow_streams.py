#!/usr/bin/env python3
"""Bodies on the flows port that are far larger than the memory that a request may take.

They go through the server by pieces: uploads, downloads, relays and static files arrive as they were
sent, and the server's memory grows by no more than a bound that is a fraction of one body.

Usage: tests/http/run_flow_streams.py --sluice BINARY
"""

import hashlib
import http.client
import http.server
import json
import pathlib
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

from sluice_server import SluiceServer, find_sluice  # noqa: E402

MIB = 1 << 20
MEMORY_BYTES = MIB         # of one request, as the server is told
BODY_BYTES = 96 * MIB
MOST_STREAM = 160 * MIB
MOST_GROWTH = 40 * MIB
PIECE = bytes(range(256)) * 256


def flow(name, tasks):
    return f"flow: {{id: {name}, description: d, ttl: 5m}}\nfirst.task: begin\ntasks:\n{tasks}"


SUM = flow("sum", """  - name: begin
    process: no.op
    input: []
    output: ['boolean(true) -> model.more', 'int(0) -> model.next', 'int(0) -> model.pieces']
    description: d
    execution: pipeline
    loop: {statement: 'while (model.more)'}
    pipeline: [read]
    next: [finish]
  - name: read
    process: stream.read
    input: ['input.stream -> stream', 'model.next -> offset', 'int(1048576) -> size']
    output: ['result.next -> model.next', 'result.more -> model.more', 'f:increment(model.pieces) -> model.pieces']
    description: d
    execution: sink
  - name: finish
    process: no.op
    input: []
    output: ['model.next -> output.body.read', 'model.pieces -> output.body.pieces', 'input.size -> output.body.size',
             'input.filename -> output.body.filename', 'input.query.note -> output.body.note', 'input.parts -> output.body.parts']
    description: d
    execution: end
""")
ECHO = flow("echo", """  - name: begin
    process: no.op
    input: []
    output: ['input.stream -> output.header.x-stream-id', 'text(application/x-echo) -> output.header.content-type',
             'int(203) -> output.status']
    description: d
    execution: end
""")
SAVE = flow("save", """  - name: begin
    process: stream.save
    input: ['input.stream -> stream', 'text(@DIR@/made/saved.bin) -> file']
    output: ['result -> output.body']
    description: d
    execution: end
""")
FETCH = flow("fetch", """  - name: begin
    process: stream.open
    input: ['text(@DIR@/made/saved.bin) -> file']
    output: ['result.stream -> output.header.x-stream-id']
    description: d
    execution: end
""")
SEND = flow("send", """  - name: begin
    process: async.http.request
    input: ['input.stream -> stream', 'text(PUT) -> method', 'text(@TARGET@/sent) -> url']
    output: ['result -> output.body']
    description: d
    execution: end
""")
MISSING = flow("missing", """  - name: begin
    process: stream.read
    input: ['text(stream-7) -> stream']
    output: []
    description: d
    execution: end
""")
REST = """rest:
  - {service: http.flow.adapter, flow: sum, methods: [POST], url: /api/sum, upload: true, timeout: 5m}
  - {service: http.flow.adapter, flow: echo, methods: [POST], url: /api/echo, timeout: 5m}
  - {service: http.flow.adapter, flow: save, methods: [PUT], url: /api/save, timeout: 5m}
  - {service: http.flow.adapter, flow: fetch, methods: [GET], url: /api/fetch, timeout: 5m}
  - {service: http.flow.adapter, flow: send, methods: [POST], url: /api/send, timeout: 5m}
  - {service: http.flow.adapter, flow: missing, methods: [GET], url: /api/missing}
  - {service: '@TARGET@', methods: [GET, POST], url: '/relay/*', url_rewrite: ['/relay', '/target'], timeout: 5m}
  - {service: '@TARGET@', methods: [GET], url: '/brief/*', url_rewrite: ['/brief', ''], timeout: 4s}
  - {service: '@TARGET@', methods: [POST], url: '/bare/*', url_rewrite: ['/bare', ''], headers: bare}
headers:
  - {id: bare, request: {drop: [cookie, x-secret], add: ['X-Via: sluice']}}
static-content: {folder: 'file:@DIR@/made'}
"""


def body_pieces(size):
    for offset in range(0, size, len(PIECE)):
        yield PIECE[:min(len(PIECE), size - offset)]


def digest_of(pieces):
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def read_answer(response):
    """The size and the digest of a response's body."""
    digest, size = hashlib.sha256(), 0
    while piece := response.read(MIB):
        digest.update(piece)
        size += len(piece)
    return size, digest.hexdigest()


class Target(http.server.BaseHTTPRequestHandler):
    """Answers POST with the body that it got, PUT with what it was, GET with a large one.

    The path of a GET ends with how it answers and with a number: chunked/SIZE, declared/SIZE, held/SIZE until it is
    told to go on, broken/SIZE half of it, paused/MILLISECONDS between pieces. What has `silent` in its path is not
    answered until it is told to.
    """
    protocol_version = "HTTP/1.1"
    sent = 0                       # of the last GET
    silent = []                    # paths that wait for their answer
    go_on = threading.Event()
    refused = threading.Event()    # nobody reads the last GET any more

    def parse_request(self):
        parsed = super().parse_request()
        if parsed and "silent" in self.path:
            Target.silent.append(self.path)
            Target.go_on.wait(120)
        return parsed

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.send_response(200)
        self.send_header("Content-Type", self.headers["Content-Type"])
        self.send_header("Content-Length", str(length))
        self.send_header("X-Path", self.path)
        for name in ("Cookie", "X-Secret", "X-Via"):
            self.send_header("Got-" + name, self.headers.get(name, "-"))
        self.send_header("X-Stream-Id", "stream-1")  # must not be taken for one of the server
        self.end_headers()
        with tempfile.TemporaryFile() as kept:
            while length > 0:
                piece = self.rfile.read(min(length, MIB))
                kept.write(piece)
                length -= len(piece)
            kept.seek(0)
            while piece := kept.read(MIB):
                self.wfile.write(piece)

    def do_PUT(self):
        digest, length = hashlib.sha256(), int(self.headers["Content-Length"])
        for left in range(length, 0, -MIB):
            digest.update(self.rfile.read(min(left, MIB)))
        text = json.dumps({"size": length, "digest": digest.hexdigest()}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        way, number = self.path.rsplit("/", 2)[1:]
        number = int(number)
        size = 2 * MIB + 4 * len(PIECE) if way == "paused" else number
        Target.sent = 0
        Target.refused.clear()
        self.send_response(200)
        if way == "declared":
            self.send_header("Content-Length", str(size))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for piece in body_pieces(size):
                self.wait(way, number)
                self.wfile.write(piece if way == "declared" else b"%x\r\n%s\r\n" % (len(piece), piece))
                Target.sent += len(piece)
                if way == "broken" and Target.sent >= size // 2:
                    raise ConnectionAbortedError
            if way != "declared":
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            Target.refused.set()
            self.close_connection = True

    def wait(self, way, number):
        if Target.sent < 2 * MIB:
            return
        if way == "held":
            Target.go_on.wait(60)
        if way == "paused":
            time.sleep(number / 1000)

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # the server has gone


class TargetServer(http.server.ThreadingHTTPServer):
    request_queue_size = 256


def start_server(sluice, directory, target, arguments):
    """A server with the app."""
    server = SluiceServer(sluice, arguments=[
        "--dev", "--http-max-body", "1MiB", "--flows-max-stream", str(MOST_STREAM), "--flows-directories",
        str(directory), *arguments]).start()
    names = {"sum": SUM, "echo": ECHO, "save": SAVE, "fetch": FETCH, "send": SEND, "missing": MISSING}
    files = {f"flows/{name}.yml": text for name, text in names.items()}
    files["flows.yaml"] = "flows: [" + ", ".join(f"'{name}.yml'" for name in names) + "]"
    files["rest.yaml"] = REST
    url = f"http://127.0.0.1:{target.server_port}"
    files = {path: text.replace("@DIR@", str(directory)).replace("@TARGET@", url) for path, text in files.items()}
    answer = server.request("PUT", "/v1/flows/app", {"files": files})
    if answer.status != 200:
        raise RuntimeError(f"the app is refused: {answer.body!r}")
    return server


def wait_until(holds, seconds=120):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


class MemoryWatch(threading.Thread):
    """The most memory that a process had, of its own: not pages of files."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.stopped = threading.Event()
        self.begin = self.most = self.now()

    def now(self):
        for line in pathlib.Path(self.path).read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("no RssAnon")

    def run(self):
        while not self.stopped.wait(0.005):
            self.most = max(self.most, self.now())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()


class StreamTest(unittest.TestCase):
    sluice = None

    @classmethod
    def setUpClass(cls):
        cls.target = TargetServer(("127.0.0.1", 0), Target)
        threading.Thread(target=cls.target.serve_forever, daemon=True).start()
        cls.scratch = tempfile.TemporaryDirectory(prefix="sluice-streams-")
        cls.directory = pathlib.Path(cls.scratch.name).resolve()
        (cls.directory / "made").mkdir()
        cls.server = start_server(cls.sluice, cls.directory, cls.target, [])
        cls.digest = digest_of(body_pieces(BODY_BYTES))

    @classmethod
    def tearDownClass(cls):
        try:
            cls.server.stop()
        finally:
            cls.server.close()
            cls.target.shutdown()
            cls.target.server_close()
            cls.scratch.cleanup()

    def setUp(self):
        self.watch = MemoryWatch(self.server.process.pid)

    def send(self, method, path, pieces=None, size=0, content_type="application/octet-stream"):
        """The response, whose body is not read yet."""
        connection = self.server.connect("flows", timeout=300)
        self.addCleanup(connection.close)
        connection.putrequest(method, path)
        if pieces is not None:
            connection.putheader("Content-Type", content_type)
            connection.putheader("Content-Length", str(size))
        connection.endheaders()
        for piece in pieces or ():
            connection.send(piece)
        return connection.getresponse()

    def assert_small(self):
        growth = self.watch.most - self.watch.begin
        self.assertLess(growth, MOST_GROWTH, f"memory grew by {growth >> 20} MiB")

    def test_a_flow_reads_an_upload_by_pieces(self):
        head = (b'--xyz\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n'
                b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n'
                b'Content-Type: application/x-big\r\n\r\n')
        end = b"\r\n--xyz--\r\n"

        def pieces():
            yield head
            yield from body_pieces(BODY_BYTES)
            yield end

        with self.watch:
            response = self.send("POST", "/api/sum", pieces(), len(head) + BODY_BYTES + len(end),
                                 "multipart/form-data; boundary=xyz")
            answer = json.loads(response.read())
        self.assertEqual(response.status, 200, answer)
        stream = answer["parts"][0]["stream"]
        self.assertRegex(stream, "^stream-[0-9a-f-]{36}$")
        self.assertEqual(answer, {
            "read": BODY_BYTES, "pieces": BODY_BYTES // MIB, "size": BODY_BYTES, "filename": "big.bin",
            "note": "hello",
            "parts": [{"name": "file", "filename": "big.bin", "content_type": "application/x-big",
                       "size": BODY_BYTES, "stream": stream}]})
        self.assert_small()

    def test_a_small_upload_stays_a_value(self):
        body = (b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
                b'Content-Type: text/plain\r\n\r\nabc\r\n--xyz--\r\n')
        response = self.send("POST", "/api/sum", [body], len(body), "multipart/form-data; boundary=xyz")
        answer = json.loads(response.read())
        self.assertEqual(response.status, 400, answer)  # there is no stream to be read
        self.assertIn("stream", answer["message"])

    def test_an_upload_is_answered_as_it_came(self):
        with self.watch:
            response = self.send("POST", "/api/echo", body_pieces(BODY_BYTES), BODY_BYTES)
            self.assertEqual(response.status, 203)
            self.assertEqual(response.headers["Content-Type"], "application/x-echo")
            self.assertNotIn("X-Stream-Id", response.headers)
            self.assertEqual(read_answer(response), (BODY_BYTES, self.digest))
        self.assert_small()

    def test_an_upload_is_kept_as_a_file_and_sent_again(self):
        with self.watch:
            response = self.send("PUT", "/api/save", body_pieces(BODY_BYTES), BODY_BYTES)
            answer = json.loads(response.read())
            self.assertEqual((response.status, answer["size"]), (200, BODY_BYTES), answer)
            for path in ("/api/fetch", "/saved.bin"):
                self.assertEqual(read_answer(self.send("GET", path)), (BODY_BYTES, self.digest), path)
            self.assertEqual(self.send("HEAD", "/saved.bin").headers["Content-Length"], str(BODY_BYTES))
        self.assertEqual(list((self.directory / "made").iterdir()), [self.directory / "made/saved.bin"])
        self.assert_small()

    def test_a_relay_passes_large_bodies_on(self):
        with self.watch:
            response = self.send("POST", "/relay/echo", body_pieces(BODY_BYTES), BODY_BYTES, "text/plain")
            self.assertEqual(response.status, 200)
            self.assertEqual(response.headers["X-Path"], "/target/echo")
            self.assertEqual(response.headers["Content-Type"], "text/plain")
            self.assertEqual(read_answer(response), (BODY_BYTES, self.digest))
        self.assert_small()

    def test_a_relay_passes_an_answer_on_while_it_arrives(self):
        Target.go_on.clear()
        with self.watch:
            response = self.send("GET", f"/relay/held/{BODY_BYTES}")
            self.assertEqual(response.status, 200)
            begin = response.read(MIB)
            self.assertEqual(self.open_streams(), [])
            self.assertLess(Target.sent, BODY_BYTES)
            Target.go_on.set()
            rest = hashlib.sha256(begin)
            while piece := response.read(MIB):
                rest.update(piece)
        self.assertEqual(rest.hexdigest(), self.digest)
        self.assert_small()

    def test_a_slow_client_slows_down_the_target_of_a_relay(self):
        with self.watch:
            response = self.send("GET", f"/relay/chunked/{BODY_BYTES}")
            before = -1
            while before != Target.sent:
                before = Target.sent
                time.sleep(0.5)
            self.assertLess(before, BODY_BYTES // 2)  # in buffers of sockets
            self.assertEqual(read_answer(response), (BODY_BYTES, self.digest))
        self.assert_small()

    def test_a_relay_ends_on_both_sides(self):
        connection = self.server.connect("flows", timeout=300)
        connection.request("GET", f"/relay/chunked/{BODY_BYTES}")
        response = connection.getresponse()
        response.read(MIB)
        response.close()
        connection.close()
        self.assertTrue(Target.refused.wait(30))
        self.assert_incomplete(self.send("GET", f"/relay/broken/{BODY_BYTES}"))

    def test_an_http_1_0_client_is_told_that_something_is_missing(self):
        with socket.create_connection(("127.0.0.1", self.server.ports["flows"]), timeout=120) as client:
            client.sendall(f"GET /relay/broken/{BODY_BYTES} HTTP/1.0\r\n\r\n".encode())
            with self.assertRaises(ConnectionResetError):
                while client.recv(MIB):
                    pass

    def test_the_timeout_of_a_relay_is_that_of_each_wait_for_a_large_answer(self):
        self.assertEqual(read_answer(self.send("GET", "/brief/paused/1500"))[0], 2 * MIB + 4 * len(PIECE))
        self.assert_incomplete(self.send("GET", "/brief/paused/20000"))

    def assert_incomplete(self, response):
        self.assertEqual(response.status, 200)
        with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
            read_answer(response)

    def test_a_relay_with_small_bodies(self):
        response = self.send("POST", "/relay/echo", [b"hello"], 5, "text/plain")
        self.assertEqual((response.status, response.read()), (200, b"hello"))
        self.assertEqual(response.headers["X-Path"], "/target/echo")

    def test_a_relay_leaves_alone_what_it_is_not_told_to_change(self):
        def answer(path):
            connection = self.server.connect("flows", timeout=300)
            self.addCleanup(connection.close)
            connection.request("POST", path, b"x", {
                "Content-Type": "text/plain", "Cookie": "a=1; b=2", "X-Secret": "s"})
            headers = connection.getresponse().headers
            return [headers[name] for name in ("X-Path", "Got-Cookie", "Got-X-Secret", "Got-X-Via")]

        self.assertEqual(answer("/relay/a%20b?b=1&a=%2f&flag&b=2"),
                         ["/target/a%20b?b=1&a=%2f&flag&b=2", "a=1; b=2", "s", "-"])
        self.assertEqual(answer("/bare/x"), ["/x", "-", "-", "sluice"])

    def test_a_stream_is_sent_to_others(self):
        with self.watch:
            response = self.send("POST", "/api/send", body_pieces(BODY_BYTES), BODY_BYTES)
            answer = json.loads(response.read())
        self.assertEqual(answer, {"size": BODY_BYTES, "digest": self.digest})
        self.assert_small()

    def test_what_is_too_large_is_refused(self):
        def refused(size, content_type):
            response = self.send("POST", "/api/echo", [b""], size, content_type)
            self.assertEqual(response.status, 413)
            return json.loads(response.read())["message"]

        self.assertEqual(
            refused(MOST_STREAM + 1, "application/octet-stream"),
            f"the body has {MOST_STREAM + 1} bytes, at most {MOST_STREAM} are accepted (flows.max_stream)")
        # What is parsed has to be in memory.
        for size in (MEMORY_BYTES + 1, MOST_STREAM + 1):
            self.assertEqual(
                refused(size, "application/json"),
                f"the body has {size} bytes, at most {MEMORY_BYTES} are accepted (http.max_body)")
        response = self.send("GET", f"/relay/declared/{MOST_STREAM + 1}")
        self.assertEqual((response.status, json.loads(response.read())["type"]), (502, "error"))
        # That it is too large is known when most of it has been sent.
        self.assert_incomplete(self.send("GET", f"/relay/chunked/{MOST_STREAM + MIB}"))

    def test_a_stream_that_there_is_none(self):
        response = self.send("GET", "/api/missing")
        self.assertEqual(response.status, 404)
        self.assertIn("stream 'stream-7' (flow.no_stream)", json.loads(response.read())["message"])

    def test_nothing_is_left(self):
        # A client that goes away in the middle of its upload.
        connection = self.server.connect("flows")
        connection.putrequest("POST", "/api/echo")
        connection.putheader("Content-Type", "application/octet-stream")
        connection.putheader("Content-Length", str(BODY_BYTES))
        connection.endheaders()
        for piece in body_pieces(8 * MIB):
            connection.send(piece)
        connection.close()
        # Another one, before the target of its relay has answered.
        Target.go_on.clear()
        self.addCleanup(Target.go_on.set)
        Target.silent.clear()
        connection = self.server.connect("flows")
        connection.request("POST", "/relay/silent", PIECE * 32, {"Content-Type": "text/plain"})
        self.assertTrue(wait_until(lambda: Target.silent))
        connection.close()
        self.assertTrue(wait_until(lambda: not self.open_streams()), self.open_streams())
        self.assertEqual(list((self.server.data / "streams").iterdir()), [])

    def open_streams(self):
        """Files without a name that the server has open."""
        names = []
        for entry in pathlib.Path(f"/proc/{self.server.process.pid}/fd").iterdir():
            try:
                names.append(str(entry.readlink()))
            except OSError:
                pass  # closed meanwhile
        return [name for name in names if "/streams/" in name]


class RelayLimitsTest(unittest.TestCase):
    """How long, and of what, relays keep something: a server with one I/O loop for each test."""

    DRAIN_S = 1

    def setUp(self):
        Target.go_on.clear()
        Target.silent.clear()
        Target.refused.clear()
        self.target = TargetServer(("127.0.0.1", 0), Target)
        threading.Thread(target=self.target.serve_forever, daemon=True).start()
        self.scratch = tempfile.TemporaryDirectory(prefix="sluice-relays-")
        self.addCleanup(self.scratch.cleanup)
        self.addCleanup(self.target.server_close)
        self.addCleanup(self.target.shutdown)
        self.addCleanup(Target.go_on.set)
        self.server = start_server(StreamTest.sluice, pathlib.Path(self.scratch.name).resolve(), self.target,
                                   ["--http-threads", "1", "--http-drain-timeout", f"{self.DRAIN_S}s"])
        self.addCleanup(self.server.close)

    def ask(self, path):
        connection = self.server.connect("flows", timeout=120)
        self.addCleanup(connection.close)
        connection.request("GET", path)
        return connection

    def assert_stops(self):
        begin = time.monotonic()
        self.server.stop()
        self.assertLess(time.monotonic() - begin, self.DRAIN_S + 15)  # less than http.write_stall

    def test_a_client_that_reads_nothing_does_not_hold_up_a_stop(self):
        self.ask(f"/relay/chunked/{BODY_BYTES}")
        before = -1
        while before != Target.sent or before == 0:
            before = Target.sent
            time.sleep(0.5)
        self.assertLess(before, BODY_BYTES)
        self.assert_stops()
        self.assertTrue(Target.refused.wait(30))

    def test_a_silent_target_does_not_hold_up_a_stop(self):
        self.ask("/relay/silent/chunked/1")
        held = self.ask(f"/relay/held/{BODY_BYTES}").getresponse()
        self.assertEqual(held.read(MIB), PIECE * (MIB // len(PIECE)))
        self.assertTrue(wait_until(lambda: Target.silent))
        self.assert_stops()

    def test_relays_that_wait_leave_threads_for_flows(self):
        asked = [self.ask("/relay/silent/chunked/5") for _ in range(150)]
        self.assertTrue(wait_until(lambda: len(Target.silent) == len(asked)), len(Target.silent))
        self.assertEqual(self.ask("/api/missing").getresponse().status, 404)
        Target.go_on.set()
        for connection in asked:
            self.assertEqual(connection.getresponse().read(), PIECE[:5])


if __name__ == "__main__":
    StreamTest.sluice = find_sluice(sys.argv[sys.argv.index("--sluice") + 1])
    del sys.argv[1:]
    unittest.main()
