#!/usr/bin/env python3
"""Runs a test file of commands and what they must print against a fresh server.

Usage: tests/cli/run_cli.py --sluice BINARY [--shards N] FILE.test...

    # A comment. Each step is a command and what must come of it.
    $ sluice kv get shop a
    {"n":1}

    $ sluice kv get shop b
    2> error: there is no document 'b' in shop (document.not_found)
    => 3

- `$ ` starts a command for bash; `> ` lines after it are its standard input. The lines that follow are
  its standard output, those with `2> ` its standard error, `=> N` its exit code (0 if there is none).
  Standard error that no line speaks of is not looked at, unless the command fails.
- An empty line ends a step. tests/lib/expect.py tells about `…` and {{captures}}; `$name` is a capture
  in the environment of later commands.
- `sluice` is the tested binary, SLUICE_SERVER the server's address. The working directory is a new
  one, and the environment variables ROOT (the source tree) and DATA (the server's data directory) are
  set.
- `!serve FLAGS` as the first step replaces the default flag --dev; `!none` starts no server.
- `!stop` and `!start` stop and start the server; `!need COMMAND` skips the rest of the file, with
  what the command printed as the reason, if the command fails.

At the end the server is stopped and must end with 0.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import expect  # noqa: E402
from sluice_server import ServerError, SluiceServer, add_server_options, find_sluice  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND_S = 120


class TestFailure(Exception):
    pass


class Skipped(Exception):
    pass


@dataclass
class Step:
    line: int
    text: str
    stdin: list = field(default_factory=list)
    stdout: list = field(default_factory=list)
    stderr: list = field(default_factory=list)
    code: int = 0


def steps_of(text, name):
    """The steps of a test file. Raises TestFailure for a line that belongs to none."""
    steps, current = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            current = None
        elif line.startswith(("$ ", "!")):
            current = Step(number, line.removeprefix("$ "))
            steps.append(current)
        elif current is None:
            raise TestFailure(f"{name}:{number}: a line that belongs to no command")
        elif line.startswith("> "):
            current.stdin.append(line[2:])
        elif line.startswith("2> "):
            current.stderr.append(line[3:])
        elif line.startswith("=> "):
            current.code = int(line[3:])
        else:
            current.stdout.append(line)
    return steps


class Runner:
    """Runs the steps of one file."""

    def __init__(self, name, sluice, directory):
        self.name = name
        self.sluice = sluice
        self.directory = pathlib.Path(directory)
        self.captures = {}
        self.server = None

    def run(self, steps):
        flags = ["--dev"]
        if steps and steps[0].text.startswith(("!serve", "!none")):
            first = steps.pop(0).text
            flags = None if first == "!none" else shlex.split(first[len("!serve"):])
        try:
            if flags is not None:
                self.server = SluiceServer(self.sluice, arguments=self.filled(flags))
                self.server.start()
            for step in steps:
                self.run_step(step)
            if self.server is not None and self.server.process is not None:
                self.server.stop()
        finally:
            if self.server is not None:
                self.server.close()

    def filled(self, flags):
        return [flag.replace("$PWD", str(self.directory)) for flag in flags]

    def run_step(self, step):
        if step.text == "!stop":
            self.server.stop()
        elif step.text == "!start":
            self.server.start()
        elif step.text.startswith("!need "):
            done = self.shell(step.text[len("!need "):], "")
            if done.returncode != 0:
                raise Skipped((done.stdout + done.stderr).strip())
        elif step.text.startswith("!"):
            raise TestFailure(f"{self.name}:{step.line}: unknown {step.text.split()[0]}")
        else:
            self.check(step, self.shell(step.text, "".join(f"{line}\n" for line in step.stdin)))

    def shell(self, command, stdin):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("SLUICE")}
        environment |= self.captures | {
            "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}", "ROOT": str(ROOT)}
        if self.server is not None:
            environment["DATA"] = str(self.server.data)
            environment["SLUICE_SERVER"] = f"http://127.0.0.1:{self.server.ports['http']}"
        return subprocess.run(["bash", "-c", command], cwd=self.directory / "work", text=True,
                              input=stdin, env=environment, timeout=COMMAND_S,
                              capture_output=True, errors="replace")

    def check(self, step, done):
        problems = []
        if done.returncode != step.code:
            problems.append(f"exit code {done.returncode}, expected {step.code}")
        if not expect.match_lines(step.stdout, done.stdout.splitlines(), self.captures):
            problems.append("standard output differs; expected:\n" + indented(step.stdout))
        if step.stderr and not expect.match_lines(step.stderr, done.stderr.splitlines(),
                                                  self.captures):
            problems.append("standard error differs; expected:\n" + indented(step.stderr))
        if step.code != 0 and not step.stderr and done.stderr:
            problems.append("standard error of a command that fails must be expected")
        if problems:
            log = self.server.log() if self.server is not None else ""
            raise TestFailure(
                f"{self.name}:{step.line}: {step.text}\n" + "\n".join(problems)
                + "\n--- standard output\n" + done.stdout + "--- standard error\n" + done.stderr
                + log)


def indented(lines):
    return "\n".join(f"  {line}" for line in lines)


def run_file(path, sluice):
    """Returns how many steps were run. Raises TestFailure, ServerError or Skipped."""
    steps = steps_of(path.read_text(encoding="utf-8"), path.name)
    with tempfile.TemporaryDirectory(prefix="sluice-cli-") as directory:
        for name in ("bin", "work"):
            (pathlib.Path(directory) / name).mkdir()
        (pathlib.Path(directory) / "bin" / "sluice").symlink_to(sluice)
        Runner(path.name, sluice, directory).run(list(steps))
    return len(steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_server_options(parser)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    sluice, failed = find_sluice(options.sluice), False
    for path in options.files:
        try:
            print(f"{path.name}: {run_file(path, sluice)} steps as expected")
        except Skipped as reason:
            print(f"{path.name}: skipped from here on: {reason}")
        except (TestFailure, ServerError, subprocess.TimeoutExpired) as failure:
            print(failure)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
