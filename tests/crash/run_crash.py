#!/usr/bin/env python3
"""Kills the server at random moments under concurrent clients and checks what it promised.

Usage: tests/crash/run_crash.py --sluice BINARY [--rounds 20] [--clients 8] [--sql-clients 4]
                               [--seed 1] [--keep DIR]

A round: start the server on the data of the rounds before (sometimes kill it while it starts), let the
clients commit for a random moment (over REST, and with SQL++ statements and transactions), kill -9, start it again and check that
- no acknowledged write is lost: every document has its last acknowledged value and CAS,
- no commit is there in part: one under way at the kill is there as a whole or not at all,
- counters are exact: acknowledged steps count once, those under way at most once, and no two steps
  were answered with the same value,
- the change feed, continued after each crash by the id of its last event, is in order without a
  repetition, has delivered only what is durable, and at the end every document's last change.
Every tenth round and at the end all documents are checked, otherwise those of the round. At the end
the server is stopped in good order. A kill ends the process, not the machine: what the operating system
has taken is kept, so this proves the commit path, not the disk.
"""

import argparse
import pathlib
import random
import shutil
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]

from client import COUNTERS, KEYSPACE, Client, Unexpected, read_document  # noqa: E402
from follower import Follower  # noqa: E402
from ledger import Counter  # noqa: E402
from sql_client import SQL_COUNTERS, SqlClient, counter_name, query  # noqa: E402
from sluice_server import ServerError, SluiceServer, find_sluice  # noqa: E402

LOAD_S = (0.02, 0.6)
FULL_CHECK_EVERY = 10


class CrashTest:
    def __init__(self, server, clients, sql_clients, seed, patience_s):
        self.server = server
        self.random = random.Random(seed)
        self.counters = {f"counter-{i}": Counter() for i in range(COUNTERS)}
        self.sql_counters = [counter_name(i) for i in range(SQL_COUNTERS if sql_clients else 0)]
        self.counters |= {name: Counter() for name in self.sql_counters}
        lock = threading.Lock()
        self.clients = [Client(i, seed, self.counters, lock) for i in range(clients)]
        self.clients += [SqlClient(clients + i, seed, self.counters, lock)
                         for i in range(sql_clients)]
        self.follower = Follower(patience_s)

    def prepare(self):
        self.server.start()
        answer = self.server.request("PUT", f"/v1/buckets/{KEYSPACE}")
        if answer.status not in (200, 201, 204, 409):
            raise Unexpected(f"creating the bucket: {answer.status} {answer.body!r}")
        connection = self.server.connect()
        for name in self.sql_counters:
            query(connection, f"INSERT INTO {KEYSPACE} VALUES ($1, {{'n': 0}})", [name])
        connection.close()

    def round(self, everything):
        """One kill and what was broken by it, as texts."""
        threads = [party.start(self.server) for party in [self.follower, *self.clients]]
        time.sleep(self.random.uniform(*LOAD_S))
        if self.server.process.poll() is not None:
            raise ServerError(f"the server ended by itself\n{self.server.log()}")
        self.server.kill()
        for thread in threads:
            thread.join()
        if self.random.random() < 0.15:
            self.server.start_and_kill(self.random.uniform(0, 0.1))
        self.server.start()
        return self.check(everything)

    def check(self, everything):
        found = [client.problem for client in self.clients if client.problem]
        connection = self.server.connect()
        try:
            for client in self.clients:
                found += client.ledger.violations(lambda key: read_document(connection, key), everything)
            for name, counter in self.counters.items():
                stored = read_document(connection, name)
                value = stored.value if stored else 0
                found += counter.violations(name, value["n"] if isinstance(value, dict) else value)
        finally:
            connection.close()
        return found + self.follower.violations(self.documents())

    def documents(self):
        """What all clients have written, as it was last found."""
        return {key: stored for client in self.clients
                for key, stored in client.ledger.documents.items()}

    def acknowledged(self):
        return sum(client.ledger.acknowledged for client in self.clients)


def run(test, rounds):
    """The texts of the first round that broke a promise; empty if none did."""
    test.prepare()
    for number in range(1, rounds + 1):
        everything = number % FULL_CHECK_EVERY == 0 or number == rounds
        if violations := test.round(everything):
            return [f"round {number}"] + violations
        if number % FULL_CHECK_EVERY == 0:
            print(f"crash: {number} rounds, {test.acknowledged()} commits acknowledged, "
                  f"{test.follower.delivered} changes delivered", flush=True)
    if violations := test.follower.finish(test.server, test.documents()):
        return violations
    test.server.stop()
    return []


def main():
    parser = argparse.ArgumentParser(description="Kills the server and checks what it promised.")
    parser.add_argument("--sluice", help="the server's binary")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--sql-clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=60,
                        help="seconds that the feed may take to deliver what is left at the end")
    parser.add_argument("--keep", type=pathlib.Path, default="build/crash-data",
                        help="where to copy the data directory to when a promise is broken")
    options = parser.parse_args()

    server = SluiceServer(find_sluice(options.sluice))
    test = CrashTest(server, options.clients, options.sql_clients, options.seed, options.patience)
    try:
        violations = run(test, options.rounds)
        for violation in violations[:20]:
            print(f"crash: {violation}")
        if violations:
            shutil.rmtree(options.keep, ignore_errors=True)
            shutil.copytree(server.data, options.keep)
            print(f"crash: the data directory is kept at {options.keep}\n{server.log()}")
    except (ServerError, Unexpected) as problem:
        print(f"crash: {problem}")
        violations = [problem]
    finally:
        server.close()
    print(f"crash: {options.rounds} kills, seed {options.seed}, {test.acknowledged()} commits "
          f"acknowledged, {test.follower.delivered} changes delivered, "
          f"{len(violations)} promises broken")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
