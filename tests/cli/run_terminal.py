#!/usr/bin/env python3
"""Drives `sluice sql` at a pseudo terminal: prompts, completion, history and Ctrl-C.

Usage: tests/cli/run_terminal.py --sluice BINARY
"""

import argparse
import os
import pathlib
import pty
import select
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

from sluice_server import SluiceServer, find_sluice  # noqa: E402

WAIT_S = 60
LEAKS = pathlib.Path(__file__).resolve().parent.parent / "lsan.supp"  # under AddressSanitizer
TAB, CTRL_C, CTRL_D, CTRL_U, UP, ENTER = b"\t", b"\x03", b"\x04", b"\x15", b"\x1b[A", b"\r"


class Terminal:
    """A shell and what it has shown."""

    def __init__(self, sluice, server, home):
        self.shown = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            environment = {key: value for key, value in os.environ.items()
                           if not key.startswith(("SLUICE", "XDG"))}
            os.execve(sluice, [sluice, "sql"], environment | {
                "SLUICE_SERVER": server, "HOME": home, "TERM": "xterm",
                "LSAN_OPTIONS": f"suppressions={LEAKS}:print_suppressions=0"})

    def type(self, *pieces):
        for piece in pieces:
            os.write(self.fd, piece if isinstance(piece, bytes) else piece.encode())

    def expect(self, text):
        """Waits until the text is shown, and forgets what is before it."""
        end = time.monotonic() + WAIT_S
        while text.encode() not in self.shown:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"expected {text!r}, shown since: {self.shown!r}")
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                raise AssertionError(f"expected {text!r}, ended after: {self.shown!r}")
            self.shown += piece
        self.shown = self.shown.split(text.encode(), 1)[1]

    def ends_well(self, key=b""):
        """Waits for the end. `key` is pressed again and again: libedit shows its prompt before it
        takes the terminal over, and a Ctrl-D in between is swallowed by the terminal, or becomes a
        character of the line; so the line is emptied first."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.read_what_is_there()
            if pid != 0:
                code = os.waitstatus_to_exitcode(status)
                assert code == 0, f"the shell ended with {code}, shown since: {self.shown!r}"
                return
            if key:
                os.write(self.fd, CTRL_U + key)
            time.sleep(0.1)
        raise AssertionError(f"the shell did not end, shown since: {self.shown!r}")

    def read_what_is_there(self):
        while select.select([self.fd], [], [], 0)[0]:
            try:
                self.shown += os.read(self.fd, 65536)
            except OSError:  # it has ended
                return


def check_statements(terminal):
    terminal.expect("sluice> ")
    terminal.type("CREATE BUCKET market;", ENTER)
    terminal.expect("sluice> ")
    terminal.type("SELECT 'grün' AS colour,", ENTER)
    terminal.expect("-> ")
    terminal.type("1 AS n;", ENTER)
    terminal.expect("grün    1")
    terminal.expect("sluice> ")
    terminal.type("SELEC;", ENTER)
    terminal.expect("error: line ")
    terminal.expect("sluice> ")


def check_completion(terminal):
    terminal.type("sele", TAB, "raw 41 + coun", TAB, TAB)
    terminal.expect("count(  countn(")
    terminal.type("(*) fr", TAB, "mar", TAB, ";", ENTER)
    terminal.expect("   41")
    terminal.expect("sluice> ")
    terminal.type("\\c market._default", ENTER)
    terminal.expect("market._default> ")
    terminal.type("\\c", ENTER)
    terminal.expect("sluice> ")


def check_transaction(terminal):
    terminal.type("BEGIN WORK;", ENTER)
    terminal.expect("sluice (transaction)> ")
    terminal.type("COMMIT;", ENTER)
    terminal.expect("sluice> ")


def check_interrupts(terminal):
    terminal.type("SELECT 'half", ENTER)
    terminal.expect("-> ")
    terminal.type(CTRL_C)
    terminal.expect("sluice> ")
    terminal.type("SELECT RAW COUNT(*) FROM ARRAY_RANGE(0, 1000) a, ARRAY_RANGE(0, 1000) b, "
                  "ARRAY_RANGE(0, 1000) c;", ENTER)
    time.sleep(0.5)
    terminal.type(CTRL_C)
    terminal.expect("(query.cancelled)")
    terminal.expect("sluice> ")
    terminal.type("SELECT RAW 6 * 7;", ENTER)
    terminal.expect("   42")
    terminal.expect("sluice> ")


def check_history(terminal):
    terminal.expect("sluice> ")
    terminal.type(UP, UP, ENTER)  # the last line is \q
    terminal.expect("   42")
    terminal.expect("sluice> ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sluice")
    sluice = str(find_sluice(parser.parse_args().sluice))
    server = SluiceServer(sluice, arguments=["--dev"])
    try:
        server.start()
        address = f"http://127.0.0.1:{server.ports['http']}"
        with tempfile.TemporaryDirectory(prefix="sluice-terminal-") as home:
            terminal = Terminal(sluice, address, home)
            check_statements(terminal)
            check_completion(terminal)
            check_transaction(terminal)
            check_interrupts(terminal)
            terminal.type("\\q", ENTER)
            terminal.ends_well()
            history = pathlib.Path(home) / ".local/state/sluice/sql_history"
            assert history.stat().st_mode & 0o777 == 0o600, "others may read the history"
            second = Terminal(sluice, address, home)
            check_history(second)
            second.ends_well(CTRL_D)
        server.stop()
    finally:
        server.close()
    print("the shell's terminal: as expected")


if __name__ == "__main__":
    main()
