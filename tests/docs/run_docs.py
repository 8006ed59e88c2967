#!/usr/bin/env python3
"""Runs the commands that the documents show and compares what they print.

Usage: tests/docs/run_docs.py --sluice BINARY [FILE.md...]      (default: README.md, docs/, examples/)

Blocks fenced with ```sh are run; ```sh no-test ones are not. A line `$ command` (going on in the next
line after a backslash, or up to END after <<'END') is a command; the lines up to the next one are what it prints, standard error
included, with `…` for anything within a line and a line `…` for any lines (tests/lib/expect.py). A
command that fails must show why: printing nothing and failing is an error.

Each file gets a fresh server, a fresh working directory and one shell. `sluice` is the tested binary
and EXAMPLES names the directory examples/. The default ports in commands and output (localhost:8091,
8096 and 8100) are replaced by the ones that the server got. The server is started with --dev; a line
<!-- serve: FLAGS --> in the document replaces that.
"""

import argparse
import os
import pathlib
import re
import secrets
import selectors
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import expect  # noqa: E402
from sluice_server import ServerError, SluiceServer, add_server_options, find_sluice  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND_S = 60
DEFAULT_PORTS = {"8091": "http", "8096": "eventing", "8100": "flows"}


class TestFailure(Exception):
    pass


@dataclass
class Command:
    line: int
    text: str
    expected: list = field(default_factory=list)


def goes_on(command):
    """Whether the next line still belongs to the command."""
    here = re.search(r"<<'(\w+)'", command)
    if here:
        return here[1] not in command.splitlines()[1:]
    return command.endswith("\\")


def commands_of(text, name):
    """The commands of a document's blocks. Raises TestFailure for a block without one."""
    commands, block, opened = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if block is None:
            if line.startswith("```"):
                block, opened = line[3:].strip(), number
                count = len(commands)
        elif line.startswith("```"):
            if block == "sh" and len(commands) == count:
                raise TestFailure(f"{name}:{opened}: a sh block without a `$ command` "
                                  "(mark it `sh no-test` if it is not to be run)")
            block = None
        elif block == "sh":
            if len(commands) > count and goes_on(commands[-1].text):
                commands[-1].text += "\n" + line
            elif line.startswith("$ "):
                commands.append(Command(number, line[2:]))
            elif len(commands) == count and line.strip():
                raise TestFailure(f"{name}:{number}: output before the first command")
            elif len(commands) > count:
                commands[-1].expected.append(line)
    return commands


class Shell:
    """One bash that keeps variables and the working directory between commands."""

    def __init__(self, directory, environment):
        self.process = subprocess.Popen(["bash", "--norc"], cwd=directory, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def run(self, command):
        """(exit code, output) of one command."""
        mark = secrets.token_hex(8)
        script = f"{{ {command}\n}} </dev/null\nprintf '\\n{mark} %d\\n' $?\n"
        self.process.stdin.write(script.encode())
        self.process.stdin.flush()
        output, deadline = b"", time.monotonic() + COMMAND_S
        while not (end := re.search(rb"\n%s (\d+)\n$" % mark.encode(), output)):
            if not self.selector.select(max(0.0, deadline - time.monotonic())):
                raise TestFailure(f"did not end in {COMMAND_S} s: {output.decode(errors='replace')}")
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise TestFailure(f"ended the shell: {output.decode(errors='replace')}")
            output += chunk
        text = output[:end.start()].decode(errors="replace").replace("\r\n", "\n")
        return int(end[1]), text

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.selector.close()


def with_ports(text, ports):
    return re.sub(r"\b(localhost|127\.0\.0\.1):(8091|8096|8100)\b",
                  lambda match: f"{match[1]}:{ports[DEFAULT_PORTS[match[2]]]}", text)


def problem_of(command, shell, ports):
    """None if a command prints what the document says."""
    code, output = shell.run(with_ports(command.text, ports))
    expected = with_ports("\n".join(command.expected), ports).strip("\n").splitlines()
    actual = [line.rstrip("\r") for line in output.strip("\n").splitlines()]
    if not expect.match_lines(expected, actual, {}):
        return "expected\n{}\ngot (exit code {})\n{}".format("\n".join(expected), code, output.strip("\n"))
    if code != 0 and not expected:
        return f"failed with {code} and printed nothing"
    return None


def run_file(binary, path):
    """Runs one document; returns the number of commands."""
    text = path.read_text(encoding="utf-8")
    name = os.path.relpath(path)
    commands = commands_of(text, name)
    if not commands:
        return 0
    flags = re.search(r"^<!-- serve: (.*) -->$", text, re.MULTILINE)
    arguments = shlex.split(flags[1]) if flags else ["--dev"]
    with SluiceServer(binary, arguments=arguments) as server, \
            tempfile.TemporaryDirectory() as directory:
        os.mkdir(f"{directory}/bin")
        os.symlink(binary, f"{directory}/bin/sluice")
        os.mkdir(f"{directory}/work")
        address = f"http://127.0.0.1:{server.ports['http']}"
        shell = Shell(f"{directory}/work", {
            **os.environ, "PATH": f"{directory}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
            "EXAMPLES": str(ROOT / "examples"), "SLUICE_SERVER": address})
        try:
            for command in commands:
                if problem := problem_of(command, shell, server.ports):
                    raise TestFailure(f"{name}:{command.line}: $ {command.text}\n{problem}\n"
                                      f"{server.log(10)}")
        finally:
            shell.close()
        server.stop()
    return len(commands)


def main():
    parser = argparse.ArgumentParser(description="Runs the commands that the documents show.")
    add_server_options(parser)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    binary = find_sluice(options.sluice)
    files = options.files or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")),
                              *sorted((ROOT / "examples").rglob("*.md"))]
    failed = total = 0
    for path in files:
        try:
            total += run_file(binary, path)
        except (TestFailure, ServerError) as problem:
            print(problem)
            failed += 1
    print(f"docs: {total} commands in {len(files)} documents print what is written, "
          f"{failed} documents do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
