#!/usr/bin/env python3
"""Runs a test file of HTTP requests and expected answers against a fresh server.

Usage: tests/http/run_http.py --sluice BINARY [--shards N] FILE.test...

A file is a list of requests, each followed by what must come back:

    # A document's ETag is its CAS.
    PUT /v1/docs/shop/a
    Content-Type: application/json

    {"n": 1}

    => 201
    ETag: {{cas}}

    GET /v1/docs/shop/a

    => 200
    ETag: {{cas}}
    !Retry-After

    {"n": 1}

- A request is METHOD /path, headers, an empty line and a body; the last three may be left out. It
  goes to the main listener; `GET eventing:/path` and `GET flows:/path` go to the others.
- `=> STATUS` starts the expectation: headers that must be there (others may be), `!Name` for one that
  must not, an empty line and the body. Without a body, the body is not looked at; `(empty)` is none.
- `=> STATUS within 5s` sends the request again until everything is as expected or the time is over.
- A body that is JSON is compared as JSON, any other as text; tests/lib/expect.py tells about `…` and
  {{captures}}, which are also filled in in later requests. {{port}} is the main listener's. {{repeat 300 k}} is a long text, and a
  body `hex: 00 ff` is given in bytes.
- `!restart` stops the server (it must end with 0) and starts it on the same data; `!kill` does so
  with kill -9. `!serve FLAGS` as the first step replaces the default flag --dev.
- A line that starts with # is a comment, everywhere.

At the end the server is stopped and must end with 0.
"""

import argparse
import pathlib
import re
import shlex
import sys
import time
from dataclasses import dataclass, field
from http.client import HTTPException

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import expect  # noqa: E402
from sluice_server import (  # noqa: E402
    Headers, ServerError, SluiceServer, add_server_options, exchange, find_sluice)

REQUEST = re.compile(r"([A-Z]+) (?:(eventing|flows):)?(/(?:\{\{[^}]*\}\}|\S)*)$")
EXPECTATION = re.compile(r"=> (\d{3})(?: within (\d+)s)?$")
COMMAND = re.compile(r"!(restart|kill|serve)\b ?(.*)$")
HEADER = re.compile(r"([A-Za-z][\w-]*): ?(.*)$")


class TestFailure(Exception):
    pass


@dataclass
class Part:
    """A request or an expectation: the headers and the body below its first line."""
    line: int
    first: re.Match
    headers: list = field(default_factory=list)
    absent: list = field(default_factory=list)
    body: str = None


@dataclass
class Step:
    """`request` and `expected` are Parts, or `command` is a command's name with its argument."""
    line: int
    request: Part = None
    expected: Part = None
    command: tuple = None


def parse(text, name):
    """The steps of a test file. Raises TestFailure with file and line."""
    steps, part, in_body = [], None, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if first := COMMAND.match(line) or REQUEST.match(line) or EXPECTATION.match(line):
            part, in_body = start_part(steps, number, first, name), False
        elif in_body:
            part.body += line + "\n"
        elif part is None:
            if line.strip():
                raise TestFailure(f"{name}:{number}: expected a request or a command: {line}")
        elif not line.strip():
            in_body, part.body = True, ""
        elif header := HEADER.match(line):
            part.headers.append((header[1], header[2]))
        elif line.startswith("!"):
            part.absent.append(line[1:])
        else:
            raise TestFailure(f"{name}:{number}: expected a header or an empty line: {line}")
    for step in steps:
        if step.request and not step.expected:
            raise TestFailure(f"{name}:{step.line}: a request without an expectation")
        for part in filter(None, (step.request, step.expected)):
            part.body = (part.body or "").strip("\n") or None
    return steps


def start_part(steps, number, first, name):
    """Adds the step or expectation that a line starts; returns where the next lines belong."""
    if first.re is COMMAND:
        steps.append(Step(number, command=(first[1], first[2])))
        return None
    part = Part(number, first)
    if first.re is REQUEST:
        steps.append(Step(number, request=part))
    elif not steps or steps[-1].request is None or steps[-1].expected is not None:
        raise TestFailure(f"{name}:{number}: an expectation without a request")
    else:
        steps[-1].expected = part
    return part


def body_bytes(text, captures):
    if text is None:
        return None
    if text.startswith("hex:"):
        return bytes.fromhex(text[4:])
    return expect.fill(text, captures).encode()


def body_problem(expected, actual, captures):
    if expected is None:
        return None
    if expected == "(empty)":
        return None if not actual else f"expected no body, got {actual!r}"
    if expected.startswith("hex:"):
        return None if bytes.fromhex(expected[4:]) == actual else f"got the bytes {actual.hex(' ')}"
    text = actual.decode(errors="replace")
    try:
        wanted = expect.parse_json(expected)
    except ValueError:
        agrees = expect.match_lines(expected.splitlines(), text.strip("\n").splitlines(), captures)
        return None if agrees else f"expected the text\n{expected}\ngot\n{text}"
    try:
        return expect.json_difference(wanted, expect.parse_json(text), captures)
    except ValueError:
        return f"expected JSON, got {text!r}"


def answer_problem(expected, answer, captures):
    """None if the answer is as expected; captures are added even if a later line differs."""
    if answer.status != int(expected.first[1]):
        return f"expected status {expected.first[1]}, got {answer.status}: {answer.body[:2000]!r}"
    for name, wanted in expected.headers:
        got = answer.headers.get(name)
        if got is None:
            return f"expected a header {name}"
        if not expect.match_line(wanted, got, captures):
            return f"expected {name}: {wanted}, got {got}"
    for name in expected.absent:
        if name in answer.headers:
            return f"expected no header {name}, got {answer.headers[name]}"
    return body_problem(expected.body, answer.body, captures)


class Runner:
    def __init__(self, server):
        self.server = server
        self.captures = {}
        self.connections = {}

    def connection(self, listener):
        if listener not in self.connections:
            self.connections[listener] = self.server.connect(listener)
        return self.connections[listener]

    def run(self, step):
        if step.command:
            self.connections = {}
            self.server.stop() if step.command[0] == "restart" else self.server.kill()
            self.server.start()
            return
        seconds = int(step.expected.first[2] or 0)
        deadline = time.monotonic() + seconds
        self.captures["port"] = str(self.server.ports["http"])
        while True:
            captures = dict(self.captures)
            problem = answer_problem(step.expected, self.send(step.request), captures)
            if problem is None:
                self.captures = captures
                return
            if time.monotonic() >= deadline:
                late = f" (for {seconds} s)" if seconds else ""
                raise TestFailure(f"{step.request.first[0]}: {problem}{late}")
            time.sleep(0.05)

    def send(self, request):
        method, listener, path = request.first.groups()
        headers = Headers([(name, expect.fill(value, self.captures)) for name, value in request.headers])
        connection = self.connection(listener or "http")
        return exchange(connection, method, expect.fill(path, self.captures),
                        body_bytes(request.body, self.captures), headers)


def run_file(command, path):
    """Runs one file; raises TestFailure or ServerError."""
    steps = parse(path.read_text(encoding="utf-8"), path.name)
    if not steps:
        raise TestFailure(f"{path.name}:1: no requests")
    flags = ["--dev"]
    if steps[0].command and steps[0].command[0] == "serve":
        flags = shlex.split(steps.pop(0).command[1])
    with SluiceServer(command, arguments=flags) as server:
        runner = Runner(server)
        for step in steps:
            try:
                runner.run(step)
            except KeyError as name:
                raise TestFailure(f"{path.name}:{step.line}: {{{{{name}}}}} was not captured") from None
            except (TestFailure, ServerError, OSError, HTTPException) as error:
                raise TestFailure(f"{path.name}:{step.line}: {error}\n{server.log()}") from error
        server.stop()
    return sum(step.request is not None for step in steps)


def main():
    parser = argparse.ArgumentParser(description="Runs HTTP test files against a fresh server each.")
    add_server_options(parser)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = 0
    for path in options.files:
        try:
            print(f"{path.name}: {run_file(find_sluice(options.sluice), path)} requests as expected")
        except (TestFailure, ServerError) as problem:
            print(problem)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
