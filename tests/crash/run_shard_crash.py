#!/usr/bin/env python3
"""Kills a server with four shards under load, again and again: a trigger and a consumer on a collection
hear of each change once, and of those of a document in order.

Clients write documents of their own; the field `n` grows by one with each write. A trigger, which fails
by chance, notes in another collection the `n` that it got last, and whether it followed the one before.
A client polls a consumer: nothing that it knows to be acknowledged comes again, nothing is skipped.

Usage: tests/crash/run_shard_crash.py --sluice BINARY [--rounds 20] [--seed 1]
"""

import http.client
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from rounds import ask, kill_and_start, parse_arguments  # noqa: E402
from sluice_server import SluiceServer, exchange  # noqa: E402

SHARDS = 4
CLIENTS = 4
KEYS_PER_CLIENT = 6
SETTLE_S = 120

PROCEDURE = """CREATE PROCEDURE note {
local function run(text, event)
    local statement = db:prepare(text)
    statement:bind('k', event.key)
    statement:bind('n', event.new.n)
    statement:exec()
    return statement:rows_changed()
end
local function main(event)
    if math.random(30) == 1 then error('by chance') end
    if run('UPDATE seen USE KEYS $k SET broken = broken OR n + 1 != $n, n = $n', event) == 0 then
        run('INSERT INTO seen (KEY, VALUE) VALUES ($k, {"broken": $n != 1, "n": $n})', event)
    end
    return 0
end
}"""


def prepare(server):
    connection = server.connect()
    for bucket in ("docs", "seen"):
        answer = exchange(connection, "PUT", f"/v1/buckets/{bucket}")
        assert answer.status in (200, 201), answer
    ask(connection, PROCEDURE)
    ask(connection, "CREATE LUA TRIGGER note ON (TABLE docs FOR INSERT AND UPDATE)")
    ask(connection, "CREATE DEFAULT LUA CONSUMER watch ON (TABLE docs FOR INSERT AND UPDATE)")


class Writer(threading.Thread):
    """Writes documents until the server is gone. `last` is the highest acknowledged n of each key."""

    def __init__(self, server, last, chance):
        super().__init__()
        self.server, self.last, self.chance, self.problem = server, last, chance, None

    def run(self):
        try:
            connection = self.server.connect(timeout=30)
            while True:
                key = self.chance.choice(list(self.last))
                answer = exchange(connection, "PUT", f"/v1/docs/docs/{key}", {"n": self.last[key] + 1})
                if answer.status != 200:
                    raise RuntimeError(f"{key}: {answer}")
                self.last[key] += 1
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error


class Record:
    """What has become of the consumer's events, across crashes: values of n, by key."""

    def __init__(self):
        self.got = {}
        self.confirmed = {}  # known to be consumed
        self.shards = set()


class Poller(threading.Thread):
    """Polls until the server is gone, or until it gets nothing if `drain` is set."""

    def __init__(self, server, record, chance, drain=False):
        super().__init__()
        self.server, self.record, self.chance, self.drain = server, record, chance, drain
        self.problem = None

    def run(self):
        try:
            self.poll()
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error

    def poll(self):
        connection = self.server.connect(timeout=60)
        events = []
        while True:
            body = {"max": self.chance.randint(1, 50), "timeout_ms": 0 if self.drain else 10_000}
            if events:
                body["ack"] = events[-1]["id"]
            answer = exchange(connection, "POST", "/v1/consumers/watch/next", body)
            if answer.status != 200:
                raise RuntimeError(f"poll: {answer}")
            for event in events:
                self.record.confirmed[event["key"]] = event["new"]["n"]
            events = json.loads(answer.body)["events"]
            if self.drain and not events:
                return
            self.take(events)

    def take(self, events):
        if len({event["shard"] for event in events}) > 1:
            raise RuntimeError(f"events of several shards: {events}")
        for event in events:
            key, n = event["key"], event["new"]["n"]
            got, confirmed = self.record.got.get(key, 0), self.record.confirmed.get(key, 0)
            if n <= confirmed or n > got + 1:
                raise RuntimeError(f"{key}: n={n} came after {got}, of which {confirmed} are consumed")
            self.record.got[key] = max(got, n)
            self.record.shards.add(event["shard"])


def settled(server):
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        triggers = json.loads(server.request("GET", "/v1/triggers").body)["triggers"]
        if next(trigger["depth"] for trigger in triggers if trigger["name"] == "note") == 0:
            return
        time.sleep(0.02)
    raise RuntimeError(f"the trigger does not catch up: {triggers}\n{server.log()}")


def check(server, last):
    """Compares what the trigger has noted with the documents, and takes over writes whose answer was lost."""
    connection = server.connect()

    def rows(bucket):
        return {row["key"]: row["doc"]
                for row in ask(connection, f"SELECT META(d).id AS `key`, d AS doc FROM {bucket} AS d")}

    documents, seen, broken = rows("docs"), rows("seen"), []
    for key, document in documents.items():
        if seen.get(key) != {"broken": False, "n": document["n"]}:
            broken.append(f"{key}: n={document['n']}, the trigger has noted {seen.get(key)}")
    for keys in last:
        for key, acknowledged in keys.items():
            there = documents.get(key, {"n": 0})["n"]
            if there < acknowledged:
                broken.append(f"{key}: n={acknowledged} was acknowledged, it has {there}")
            keys[key] = there
    return sum(document["n"] for document in documents.values()), broken


def main():
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    server = SluiceServer(arguments.sluice, arguments=("--dev", "--storage-shards", str(SHARDS)))
    last = [{f"{client}:{key}": 0 for key in range(KEYS_PER_CLIENT)} for client in range(CLIENTS)]
    record = Record()
    changes = 0
    try:
        server.start()
        prepare(server)
        for round_number in range(1, arguments.rounds + 1):
            threads = [Writer(server, keys, random.Random(chance.random())) for keys in last]
            threads.append(Poller(server, record, random.Random(chance.random())))
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.05, 1.0))
            kill_and_start(server, threads, chance)
            settled(server)
            changes, broken = check(server, last)
            if broken:
                sys.exit(f"round {round_number}, seed {arguments.seed}:\n" + "\n".join(broken))
        rest = Poller(server, record, chance, drain=True)
        rest.poll()
        if sum(record.got.values()) != changes:
            sys.exit(f"seed {arguments.seed}: {changes} changes, the consumer gave {record.got}")
        if len(record.shards) != SHARDS:
            sys.exit(f"only these shards had events: {record.shards}")
        server.stop()
    finally:
        server.close()
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {changes} changes in {SHARDS} shards, each "
          "noted once and in order by a trigger, and consumed once")


if __name__ == "__main__":
    main()
