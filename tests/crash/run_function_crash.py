#!/usr/bin/env python3
"""Kills a server with deployed functions under load, again and again: every event takes effect once.

Clients write documents whose field `v` grows by one with each write. One function counts, per
document, the events it got, in a second bucket, together with the last `v` it saw; with several
workers, and all events also in one common counter. When the functions have caught up after a
restart, a document with v = n must have had exactly n events, in order, and the common counter must
be their sum. A second function enriches its own source: its writes must not come back to it. A third
one makes a timer of every event, due a little later: each must ring exactly once. A fourth one throws
by chance, from events and from timers, and tries again; its failures are also replayed under load: each
event and each timer took effect exactly once or is exactly once on the list (shaky.py).

Usage: tests/crash/run_function_crash.py --sluice BINARY [--rounds 20] [--seed 1]
"""

import http.client
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from rounds import parse_arguments  # noqa: E402
from sluice_server import SluiceServer, exchange  # noqa: E402
import shaky  # noqa: E402

CLIENTS = 8
KEYS_PER_CLIENT = 5
SETTLE_S = 120

COUNT = """
function OnUpdate(doc, meta) {
  const old = seen[meta.id] || {v: 0, events: 0, late: 0};
  const late = old.late + (doc.v === old.v + 1 ? 0 : 1);
  seen[meta.id] = {v: doc.v, events: old.events + 1, late};
  couchbase.increment(seen, {id: 'all'});
}
"""
ENRICH = """
function OnUpdate(doc, meta) {
  own[meta.id] = {v: doc.v, enriched: (doc.enriched || 0) + 1};
}
"""

REMIND = """
function OnUpdate(doc, meta) {
  createTimer(Ring, new Date(Date.now() + (doc.v * 37) % 300), meta.id + ':' + doc.v, meta.id);
}
function Ring(id) {
  couchbase.increment(rung, {id});
  couchbase.increment(rung, {id: 'all'});
}
"""


def definition(name, code, source, binding, workers, settings=None):
    return {"appname": name, "appcode": code,
            "depcfg": {"source_bucket": source, "metadata_bucket": "meta",
                       "buckets": [{"alias": binding, "bucket_name": binding, "access": "rw"}]},
            "settings": {"worker_count": workers, "dcp_stream_boundary": "everything",
                         **(settings or {})}}


def must(answer, *statuses):
    if answer.status not in (statuses or (200, 201)):
        raise RuntimeError(f"{answer.status}: {answer.body[:500]}")
    return answer


def prepare(server):
    for bucket in ("src", "seen", "own", "rung", "took", "meta"):
        must(server.request("PUT", f"/v1/buckets/{bucket}"))
    for one in (definition("count", COUNT, "src", "seen", 3),
                definition("enrich", ENRICH, "own", "own", 1),
                definition("remind", REMIND, "src", "rung", 2),
                definition("shaky", shaky.CODE, "src", "took", 2, shaky.SETTINGS)):
        path = f"/api/v1/functions/{one['appname']}"
        must(server.request("POST", path, one, listener="eventing"))
        must(server.request("POST", path + "/deploy", listener="eventing"))


def read(server, bucket, key):
    answer = must(server.request("GET", f"/v1/docs/{bucket}/{key}"), 200, 404)
    return json.loads(answer.body) if answer.status == 200 else None


class Client(threading.Thread):
    """Writes its own keys in turn until the server is gone."""

    def __init__(self, server, number, versions):
        super().__init__()
        self.server, self.versions, self.number = server, versions, number
        self.written = 0

    def run(self):
        try:
            connection = self.server.connect(timeout=10)
            while True:
                for key in list(self.versions):
                    version = self.versions[key] + 1
                    for bucket in ("src", "own"):
                        must(exchange(connection, "PUT", f"/v1/docs/{bucket}/{key}", {"v": version}))
                    self.versions[key] = version
                    self.written += 1
        except (OSError, http.client.HTTPException):
            pass  # killed


def settled(server):
    """Waits until the functions have handled everything and no timer or retry is left."""
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        answer = must(server.request("GET", "/api/v1/status", listener="eventing"))
        apps = json.loads(answer.body)["apps"]
        for app in apps:
            if app["failure"]:
                raise RuntimeError(f"{app['name']}: {app['failure']}")
        waiting = [must(server.request("GET", f"/api/v1/functions/{name}/timers?limit=1",
                                       listener="eventing")) for name in ("remind", "shaky")]
        timers = [timer for answer in waiting for timer in json.loads(answer.body)["timers"]]
        if all(app["caught_up"] for app in apps) and not timers and not shaky.waiting(server):
            return
        time.sleep(0.02)
    raise RuntimeError(f"the functions do not catch up: {apps}\n{server.log()}")


def check(server, versions):
    """Compares documents with what the functions made of them; also takes over writes whose answer
    was lost."""
    broken = []
    total = 0
    for key in versions:
        stored = read(server, "src", key)
        versions[key] = stored["v"] if stored else 0
        total += versions[key]
        seen = read(server, "seen", key) or {"v": 0, "events": 0, "late": 0}
        expected = {"v": versions[key], "events": versions[key], "late": 0}
        if seen != expected:
            broken.append(f"{key}: expected {expected}, the function has {seen}")
        rung = (read(server, "rung", key) or {"count": 0})["count"]
        if rung != versions[key]:
            broken.append(f"{key}: {versions[key]} timers, {rung} rang")
        own = read(server, "own", key)
        if own is not None and own.get("enriched") != 1:
            broken.append(f"{key}: enriched {own.get('enriched')} times")
    counted = (read(server, "seen", "all") or {"count": 0})["count"]
    if counted != total:
        broken.append(f"{total} events, the common counter has {counted}")
    return total, broken


def main():
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    server = SluiceServer(arguments.sluice)
    versions = [{f"c{client}k{key}": 0 for key in range(KEYS_PER_CLIENT)}
                for client in range(CLIENTS)]
    total = 0
    failures = shaky.Failures()
    try:
        server.start()
        prepare(server)
        for round_number in range(1, arguments.rounds + 1):
            clients = [Client(server, number, versions[number]) for number in range(CLIENTS)]
            for client in clients:
                client.start()
            time.sleep(chance.uniform(0.05, 0.8))
            if chance.random() < 0.5:
                shaky.replay_all(server)
                time.sleep(chance.uniform(0, 0.05))
            server.kill()
            for client in clients:
                client.join()
            if chance.random() < 0.3:  # and while it starts
                server.start_and_kill(chance.uniform(0.01, 0.3))
            server.start()
            settled(server)
            everything = {key: version for part in versions for key, version in part.items()}
            total, broken = check(server, everything)
            broken += failures.check(server, everything)
            if broken:
                sys.exit(f"round {round_number}, seed {arguments.seed}:\n" + "\n".join(broken))
            for part in versions:
                for key in part:
                    part[key] = everything[key]
        server.stop()
    finally:
        server.close()
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {total} events, each once and in order, "
          f"and as many timers, each once; {failures.told()}")


if __name__ == "__main__":
    main()
