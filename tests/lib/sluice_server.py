"""A real server for tests: started on free ports, stopped, killed, and started again on its data.

    with SluiceServer("build/sluice") as server:
        answer = server.request("GET", "/livez")

One thread at a time starts and stops a server; any thread may send requests.

Servers inherit the environment, so SLUICE_STORAGE_SHARDS=4 in front of any driver, or of ctest, gives them
four shards; the drivers with add_server_options do so with --shards 4.
"""

import ctypes
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
from typing import NamedTuple

START_S = 60
STOP_S = 60
LISTENERS = ("http", "eventing", "flows")


class ServerError(Exception):
    """The server did not start or stop as it must; the message ends with its log."""


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class SluiceServer:
    """`command` is the binary or a list that starts with it. `data` is kept if it is given, else a
    temporary directory that goes away with this object."""

    def __init__(self, command, data=None, arguments=("--dev",)):
        self.command = [command] if isinstance(command, (str, pathlib.Path)) else list(command)
        self.arguments = list(arguments)
        self._scratch = pathlib.Path(tempfile.mkdtemp(prefix="sluice-test-"))
        self.data = pathlib.Path(data) if data else self._scratch / "data"
        self.log_path = self._scratch / "log"
        self.ports = {}
        self.process = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends whatever still runs and removes temporary files."""
        if self.process is not None:
            self.kill()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _launch(self):
        """Starts the process; returns the file that its standard output goes to."""
        out_path = self._scratch / "stdout"
        listeners = [word for name in LISTENERS for word in (f"--{name}", "127.0.0.1:0")]
        with open(out_path, "wb") as out, open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.command, "serve", "--data", self.data, *listeners, *self.arguments,
                 "--print-ports"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=log, preexec_fn=_die_with_parent)
        return out_path

    def start_and_kill(self, seconds):
        """Starts the server and kills it after so many seconds, ready or not."""
        self._launch()
        time.sleep(seconds)
        self.kill()

    def start(self):
        """Starts the server and returns when it has said which ports it listens on."""
        ports_path = self._launch()
        deadline = time.monotonic() + START_S
        while not (printed := ports_path.read_text()).endswith("\n"):
            if self.process.poll() is not None:
                code, self.process = self.process.returncode, None
                raise ServerError(f"the server ended with {code} while starting\n{self.log()}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServerError(f"the server printed no ports in {START_S} s\n{self.log()}")
            time.sleep(0.005)
        self.ports = json.loads(printed.splitlines()[0])
        return self

    def stop(self):
        """Asks the server to end, as a person would; it must end with 0."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerError(f"the server did not stop in {STOP_S} s\n{self.log()}") from None
        self.process = None
        if code != 0:
            raise ServerError(f"the server ended with {code}\n{self.log()}")

    def kill(self):
        """Ends the server at once, as a power cut would end it."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def log(self, lines=40):
        """The end of what the server wrote to standard error."""
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return "\n".join(["--- the server's log"] + text.splitlines()[-lines:])

    def connect(self, listener="http", timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.ports[listener], timeout=timeout)

    def request(self, method, path, body=None, headers=None, listener="http"):
        """One request on a connection of its own."""
        connection = self.connect(listener)
        try:
            return exchange(connection, method, path, body, headers)
        finally:
            connection.close()


class Headers(dict):
    """Of a request, as they are sent: a name may come more than once."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.pairs = list(pairs)

    def items(self):
        return self.pairs


def exchange(connection, method, path, body=None, headers=None):
    """One request on a connection that is kept. A dict or list as body is sent as JSON."""
    if not isinstance(headers, Headers):
        headers = dict(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    if isinstance(body, str):
        body = body.encode()
    try:
        connection.request(method, path, body, headers)
    except (BrokenPipeError, ConnectionResetError):
        pass  # a server that refuses a body answers before it has read all of it
    response = connection.getresponse()
    return Answer(response.status, response.headers, response.read())


def add_server_options(parser):
    """--sluice, for find_sluice, and --shards, which counts for all servers of this process."""
    def use(text):
        os.environ["SLUICE_STORAGE_SHARDS"] = str(int(text))
        return int(text)
    parser.add_argument("--sluice", help="the binary to test")
    parser.add_argument("--shards", type=use, help="of the data directories that servers make")


def find_sluice(argument=None):
    """The binary to test: the argument, or what `make build` left."""
    binary = pathlib.Path(argument or os.environ.get("SLUICE", "build/sluice")).resolve()
    if not binary.exists():
        raise SystemExit(f"{binary} does not exist (make build)")
    return binary
