#!/usr/bin/env python3
"""Kills a server with triggers under load, again and again: every change is audited once and in order.

Clients insert, update and delete rows of their own, one at a time and several by a statement or a
transaction. The field `v` of a row's key grows by one with each insert and update, also across
deletions. Two triggers write audits: one as it gets its events, the other one fails by chance and is
tried again. When they have caught up after a restart, the events of each key must be a chain, an
update's old `v` the one before, numbered without a gap, and end with the row that is there now.

Three consumers hear of the same changes: a client asks for each row, one is sent rows ahead of its
acknowledgements, one takes whole transactions. Nothing that was acknowledged comes again, nothing is
skipped, and what they got is what the audits have.

Usage: tests/crash/run_trigger_crash.py --sluice BINARY [--rounds 20] [--seed 1]
"""

import http.client
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from consuming import CONSUMERS, Consumer, Record, compare  # noqa: E402
from rounds import ask, kill_and_start, parse_arguments  # noqa: E402
from sluice_server import SluiceServer, exchange  # noqa: E402

CLIENTS = 6
KEYS_PER_CLIENT = 4
SETTLE_S = 120
AUDITS = ("audit", "shaky")

PROCEDURE = """CREATE PROCEDURE %(name)s {
local function main(event)
    if %(fails)s then error('by chance') end
    local new, old = event.new or {}, event.old or {}
    return db:table('%(name)s_rows'):insert({
        s = db:get_event_sequence(event), type = event.type, k = new.k or old.k, v = new.v, old_v = old.v})
end
}"""


def prepare(server):
    connection = server.connect()
    ask(connection, "CREATE TABLE t(c int, k int, v int)")
    for name, fails in zip(AUDITS, ("false", "math.random(30) == 1")):
        ask(connection, f"CREATE TABLE {name}_rows(s longlong, type cstring(4), k int, v int, old_v int)")
        ask(connection, PROCEDURE % {"name": name, "fails": fails})
        ask(connection, f"CREATE LUA TRIGGER {name} WITH SEQUENCE ON "
                        "(TABLE t FOR INSERT AND UPDATE AND DELETE)")
    for name in CONSUMERS:
        ask(connection, f"CREATE DEFAULT LUA CONSUMER {name} WITH SEQUENCE ON "
                        "(TABLE t FOR INSERT AND UPDATE AND DELETE)")


class Client(threading.Thread):
    """Changes the rows of its own keys until the server is gone. `last` is the highest v of each key
    that was acknowledged, `there` the keys that have a row."""

    def __init__(self, server, number, last, there, chance):
        super().__init__()
        self.server, self.number, self.last, self.there, self.chance = (
            server, number, last, there, chance)
        self.problem = None

    def run(self):
        try:
            self.connection = self.server.connect(timeout=30)
            while True:
                self.chance.choice((self.one, self.one, self.all, self.transaction))()
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error

    def step(self, key, txid=None):
        """One change of one key, to be noted when it is acknowledged."""
        if key not in self.there:
            v = self.last[key] + 1
            ask(self.connection, f"INSERT INTO t VALUES ({self.number}, {key}, {v})", txid)
            return lambda: (self.last.update({key: v}), self.there.add(key))
        if self.chance.random() < 0.3:
            ask(self.connection, f"DELETE FROM t WHERE k = {key}", txid)
            return lambda: self.there.discard(key)
        ask(self.connection, f"UPDATE t SET v = v + 1 WHERE k = {key}", txid)
        return lambda: self.last.update({key: self.last[key] + 1})

    def one(self):
        self.step(self.chance.choice(list(self.last)))()

    def all(self):
        ask(self.connection, f"UPDATE t SET v = v + 1 WHERE c = {self.number}")
        for key in self.there:
            self.last[key] += 1

    def transaction(self):
        txid = ask(self.connection, "BEGIN WORK")[0]["txid"]
        notes = [self.step(key, txid) for key in self.last]
        if self.chance.random() < 0.2:
            ask(self.connection, "ROLLBACK", txid)
            return
        try:
            ask(self.connection, "COMMIT", txid)
        except RuntimeError as error:
            if "17007" in str(error):  # somebody else changed the table meanwhile
                return
            raise
        for note in notes:
            note()


def settled(server):
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        triggers = json.loads(server.request("GET", "/v1/triggers").body)["triggers"]
        if len(triggers) != len(AUDITS) + len(CONSUMERS):
            raise RuntimeError(f"triggers are gone: {triggers}")
        if all(trigger["depth"] == 0 for trigger in triggers):
            return
        time.sleep(0.02)
    raise RuntimeError(f"the triggers do not catch up: {triggers}\n{server.log()}")


def follow(rows):
    """(problems, last v by key, keys that have a row) of an audit's rows."""
    broken, last, there = [], {}, {}
    for number, row in enumerate(rows, 1):
        key, kind, v, old = row["k"], row["type"], row["v"], row["old_v"]
        if row["s"] != number:
            broken.append(f"event {number} has the number {row['s']}: {row}")
        before = there.get(key)
        good = (before, old, v) == {"add": (None, None, last.get(key, 0) + 1),
                                    "upd": (old, before, (before or 0) + 1),
                                    "del": (old, before, None)}[kind]
        if not good:
            broken.append(f"{row} follows v={before}, last {last.get(key)}")
        there.pop(key, None)
        if kind != "del":
            there[key] = last[key] = v
    return broken, last, there


def check(server, clients, records):
    """Compares the audits with the table, and takes over changes whose answer was lost."""
    connection = server.connect()
    table = {row["k"]: row["v"] for row in ask(connection, "SELECT k, v FROM t")}
    broken, events = [], 0
    for name in AUDITS:
        rows = ask(connection, f"SELECT s, type, k, v, old_v FROM {name}_rows")
        problems, last, there = follow(rows)
        events = len(rows)
        broken += [f"{name}: {problem}" for problem in problems[:20]]
        if there != table:
            broken.append(f"{name} ends with {there}, the table has {table}")
        for client in clients:
            for key, acknowledged in client.last.items():
                if last.get(key, 0) < acknowledged:
                    broken.append(f"{name}: v={acknowledged} of {key} was acknowledged, "
                                  f"the audit has {last.get(key)}")
    broken += compare(records, rows)
    for client in clients:
        for key in client.last:
            client.last[key] = last.get(key, 0)
        client.there.clear()
        client.there.update(key for key in client.last if key in table)
    return events, broken


def start_consumers(server, records, chance):
    consumers = [Consumer(server, name, record, random.Random(chance.random()))
                 for name, record in records.items()]
    for consumer in consumers:
        consumer.start()
    return consumers


def main():
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    server = SluiceServer(arguments.sluice)
    states = [({client * 100 + key: 0 for key in range(KEYS_PER_CLIENT)}, set())
              for client in range(CLIENTS)]
    records = {name: Record() for name in CONSUMERS}
    events = 0
    try:
        server.start()
        prepare(server)
        consumers = start_consumers(server, records, chance)
        for round_number in range(1, arguments.rounds + 1):
            clients = [Client(server, number, *states[number], random.Random(chance.random()))
                       for number in range(CLIENTS)]
            for client in clients:
                client.start()
            time.sleep(chance.uniform(0.05, 1.0))
            kill_and_start(server, clients + consumers, chance)
            consumers = start_consumers(server, records, chance)
            settled(server)
            events, broken = check(server, clients, records)
            if broken:
                sys.exit(f"round {round_number}, seed {arguments.seed}:\n" + "\n".join(broken))
        server.stop()
        for consumer in consumers:
            consumer.join()
            if consumer.problem:
                raise consumer.problem
    finally:
        server.close()
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {events} changes, each audited once and "
          "in order, by two triggers, and consumed by three clients")


if __name__ == "__main__":
    main()
