#!/usr/bin/env python3
"""Kills a server that migrates typed documents under writers, again and again.

Each round writes documents of versions 1.0 and 2.0, sets their type, and starts a mass migration while
writers count in random documents. After the kill the migration must go on by itself and end. Then
every document is stored in version 3.0 with what it had; its count is what was acknowledged, give or take
the one write whose acknowledgement was lost; its version is one more than its count; and its revisions
are the last ones before it, as many as the type keeps, each with the count of its time.

Usage: tests/crash/run_type_crash.py --sluice BINARY [--rounds 20] [--seed 1]
"""

import http.client
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from rounds import kill_and_start, parse_arguments  # noqa: E402
from sluice_server import SluiceServer, exchange  # noqa: E402

WRITERS = 4
DOCUMENTS = 400
KEEP = 3
SETTLE_S = 120

BY_INDEX = "SELECT RAW META(a).id FROM app AS a USE INDEX (by_name) WHERE a.lastName > ''"
TYPE = {
    "type": "user", "keyspace": "app", "match": {"key": "user:{userId}"},
    "properties": {"type": "_type", "schema": "_schema", "version": "_ver"},
    "schema": "3.0",
    "migrations": [
        {"from": "1.0", "to": "2.0",
         "steps": [{"split": {"from": "name", "to": ["firstName", "lastName"], "by": " "}}]},
        {"file": "user.migrations.js",
         "code": "module.exports = {'2.0 -> 3.0'(doc) { const {phone, ...rest} = doc; "
                 "return {...rest, _schema: '3.0', phones: [{number: phone}]}; }};"}],
    "revisions": {"keep": KEEP},
}


def document(number):
    """What a client wrote before there was a type."""
    body = {"_type": "user", "_schema": "1.0", "userId": number, "name": f"Joe {number}", "phone": str(number),
            "n": 0}
    if number % 2 == 1:
        del body["name"]
        body |= {"_schema": "2.0", "firstName": "Joe", "lastName": str(number)}
    return body


class Writer(threading.Thread):
    """Counts in documents of its own until the server is gone. `counts` are those acknowledged; `open` is
    the document whose acknowledgement was lost."""

    def __init__(self, server, numbers, chance):
        super().__init__()
        self.server, self.chance = server, chance
        self.counts = dict.fromkeys(numbers, 0)
        self.open = None
        self.problem = None

    def run(self):
        try:
            connection = self.server.connect()
            while True:
                self.open = self.chance.choice(list(self.counts))
                answer = exchange(connection, "PATCH", f"/v1/docs/app/user:{self.open}",
                                  {"specs": [{"op": "counter", "path": "n", "delta": 1}]})
                if answer.status != 200:
                    raise RuntimeError(f"user:{self.open}: {answer.status} {answer.body[:500]!r}")
                self.counts[self.open] += 1
                self.open = None
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error


def put(server, path, body, expected):
    answer = server.request("PUT", path, body)
    if answer.status not in expected:
        raise RuntimeError(f"PUT {path}: {answer.status} {answer.body[:500]!r}")


def begin(server, numbers):
    """Documents of old versions, then their type, then the migration."""
    if json.loads(server.request("GET", "/v1/types").body)["types"]:
        server.request("DELETE", "/v1/types/user")
    writes = [{"keyspace": "app", "key": f"user:{number}", "value": document(number)} for number in numbers]
    answer = server.request("POST", "/v1/batch/put", {"writes": writes})
    if answer.status != 200:
        raise RuntimeError(f"batch: {answer.status} {answer.body[:500]!r}")
    put(server, "/v1/types/user", TYPE, (200, 201))
    answer = server.request("POST", "/v1/types/user/migration", {"rate": 1500})
    if answer.status != 202:
        raise RuntimeError(f"migration: {answer.status} {answer.body[:500]!r}")


def settle(server):
    """Waits until the migration, which goes on by itself, has ended."""
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        job = json.loads(server.request("GET", "/v1/types/user/migration").body)
        if job["state"] != "running":
            break
        time.sleep(0.02)
    if job["state"] != "done" or job["failed"]:
        raise RuntimeError(f"the migration did not end well: {job}\n{server.log()}")


def check_document(server, number, lowest, highest):
    """What is wrong with one."""
    name = f"user:{number}"
    stored = json.loads(server.request("GET", f"/v1/docs/app?stored=true&prefix={name}&limit=1").body)
    body = stored["documents"][0]["value"]
    count = body["n"]
    if not lowest <= count <= highest:
        return [f"{name}: counted {count}, acknowledged {lowest} to {highest}"]
    expected = {"_type": "user", "_schema": "3.0", "userId": number, "firstName": "Joe", "lastName": str(number),
                "phones": [{"number": str(number)}], "n": count}
    if count > 0:
        expected["_ver"] = count + 1
    broken = [] if body == expected else [f"{name}: {body}, expected {expected}"]
    history = json.loads(server.request("GET", f"/v1/docs/app/{name}/history?values=true").body)["revisions"]
    kept = [(revision["version"], revision["value"]["n"]) for revision in history]
    right = [(version, version - 1) for version in range(max(1, count + 1 - KEEP), count + 1)]
    if kept != right:
        broken.append(f"{name}: revisions and their counts {kept}, expected {right}")
    return broken


def main():
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    server = SluiceServer(arguments.sluice)
    writes = 0
    try:
        server.start()
        put(server, "/v1/buckets/app", None, (201,))
        put(server, "/v1/indexes/app/by_name", {"parts": [{"path": "lastName"}]}, (201,))
        for round_number in range(1, arguments.rounds + 1):
            first = round_number * 1000
            numbers = range(first, first + DOCUMENTS)
            begin(server, numbers)
            writers = [Writer(server, numbers[at::WRITERS], random.Random(chance.random()))
                       for at in range(WRITERS)]
            for writer in writers:
                writer.start()
            time.sleep(chance.uniform(0.0, 0.3))
            kill_and_start(server, writers, chance)
            settle(server)
            broken = []
            for writer in writers:
                writes += sum(writer.counts.values())
                for number, count in writer.counts.items():
                    broken += check_document(server, number, count, count + int(writer.open == number))
            found = json.loads(server.request("POST", "/query/service", {"statement": BY_INDEX}).body)["results"]
            missing = {f"user:{number}" for number in numbers} - set(found)
            if missing:
                broken.append(f"not in the index: {sorted(missing)[:10]}")
            if broken:
                sys.exit(f"round {round_number}, seed {arguments.seed}:\n" + "\n".join(broken[:40]))
        server.stop()
    finally:
        server.close()
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {arguments.rounds * DOCUMENTS} documents migrated "
          f"once under {writes} writes, revisions as the type says")


if __name__ == "__main__":
    main()
