#!/usr/bin/env python3
"""Bodies on the flows port that are far larger than the memory that a request may take.

They go through the server by pieces: uploads, downloads, relays and static files arrive as they were
sent, and the server's memory grows by no more than a bound that is a fraction of one body.

Usage: tests/http/run_flow_streams.py --sluice BINARY
"""

import hashlib
import http.server
import json
import pathlib
import sys
import tempfile
import threading
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
    """Answers POST with the body that it got, PUT with what it was, GET with a large one."""
    protocol_version = "HTTP/1.1"

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
        size = int(self.path.rsplit("/", 1)[1])
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for piece in body_pieces(size):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True  # the server wants no more

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # the server has gone


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
        cls.target = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Target)
        threading.Thread(target=cls.target.serve_forever, daemon=True).start()
        cls.scratch = tempfile.TemporaryDirectory(prefix="sluice-streams-")
        cls.directory = pathlib.Path(cls.scratch.name).resolve()
        (cls.directory / "made").mkdir()
        cls.server = SluiceServer(cls.sluice, arguments=[
            "--dev", "--http-max-body", "1MiB", "--flows-max-stream", str(MOST_STREAM),
            "--flows-directories", str(cls.directory)]).start()
        names = {"sum": SUM, "echo": ECHO, "save": SAVE, "fetch": FETCH, "send": SEND, "missing": MISSING}
        files = {f"flows/{name}.yml": text for name, text in names.items()}
        files["flows.yaml"] = "flows: [" + ", ".join(f"'{name}.yml'" for name in names) + "]"
        files["rest.yaml"] = REST
        target = f"http://127.0.0.1:{cls.target.server_port}"
        files = {path: text.replace("@DIR@", str(cls.directory)).replace("@TARGET@", target)
                 for path, text in files.items()}
        answer = cls.server.request("PUT", "/v1/flows/app", {"files": files})
        if answer.status != 200:
            raise RuntimeError(f"the app is refused: {answer.body!r}")
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
        response = self.send("POST", "/api/echo", [b""], MOST_STREAM + 1)
        self.assertEqual(response.status, 413)
        # What is parsed has to be in memory.
        response = self.send("POST", "/api/echo", [b""], MEMORY_BYTES + 1, "application/json")
        self.assertEqual(response.status, 413)
        response = self.send("GET", f"/relay/{MOST_STREAM + MIB}")
        self.assertEqual((response.status, json.loads(response.read())["type"]), (502, "error"))

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
        deadline = 60 * 100
        while self.open_streams() and deadline > 0:
            deadline -= 1
            threading.Event().wait(0.01)
        self.assertEqual(self.open_streams(), [])
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


if __name__ == "__main__":
    StreamTest.sluice = find_sluice(sys.argv[sys.argv.index("--sluice") + 1])
    del sys.argv[1:]
    unittest.main()
