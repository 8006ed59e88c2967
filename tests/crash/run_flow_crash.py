#!/usr/bin/env python3
"""Kills a server with durable flows under load, again and again: each task's commit counts once.

Clients start runs of a durable flow: a task in JavaScript, a fork of one in Lua and one in SQL++, a
task after a delay, which also appends to two files, and one that ends it. Each writes something that
tells how often it was committed.
After a restart all runs that were stored must end, as completed, and everything must be there once:
of every run that was acknowledged, and of those whose acknowledgement was lost all of it or nothing.
One file gets the name of each run, the other one the same line from all of them.

Usage: tests/crash/run_flow_crash.py --sluice BINARY [--rounds 20] [--seed 1]
"""

import collections
import http.client
import json
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from rounds import ask, kill_and_start, parse_arguments  # noqa: E402
from sluice_server import SluiceServer, exchange  # noqa: E402

CLIENTS = 6
SETTLE_S = 120

FLOW = """flow:
  id: 'counted'
  description: 'Each task counts once'
  ttl: 10m
  durable: true
first.task: 'begin'
tasks:
  - name: 'begin'
    process: 'count.js'
    input: ['input.body.id -> id', 'text(begin) -> task']
    output: []
    description: 'counts in JavaScript'
    execution: fork
    next: ['in.lua', 'in.sql']
    join: 'later'
  - name: 'in.lua'
    process: 'count.lua'
    input: ['input.body.id -> id']
    output: []
    description: 'counts in Lua'
    execution: sink
  - name: 'in.sql'
    process: 'count.sql'
    input: ['input.body.id -> id']
    output: []
    description: 'inserts, which succeeds once'
    execution: sink
  - name: 'later'
    process: 'count.js'
    input: ['input.body.id -> id', 'text(later) -> task']
    output: ['result.line -> file(append:DIRECTORY/names)', 'result.same -> file(append:DIRECTORY/same)']
    description: 'counts after a delay'
    delay: 20
    execution: sequential
    next: ['finish']
  - name: 'finish'
    process: 'count.js'
    input: ['input.body.id -> id', 'text(finish) -> task']
    output: ['result -> output.body']
    description: 'counts at the end'
    execution: end
"""

APP = {
    "flows.yaml": "flows: ['counted.yml']",
    "flows/counted.yml": FLOW,
    "tasks/count.js.js": """function handleEvent(headers, input) {
      const key = `${input.id}:${input.task}`;
      counts[key] = (counts[key] || 0) + 1;
      counts.total = (counts.total || 0) + 1;
      if (input.task !== 'later') return { id: input.id };
      return { id: input.id, line: input.id + '\\n', same: 'done\\n' };
    }""",
    "tasks/count.lua.lua": """local function main(headers, input)
      local stmt = db:prepare('INSERT INTO seen(id) VALUES (?)')
      stmt:bind(1, input.id)
      stmt:exec()
      return {id = input.id}
    end""",
    "tasks/count.sql.sql": 'INSERT INTO inserted (KEY, VALUE) VALUES ($id, {"n": 1})',
    "sluice.yaml": "tasks: {count.js: {instances: 6, keyspaces: {counts: counts}}, "
                   "count.lua: {instances: 3}, count.sql: {instances: 3}}",
    "rest.yaml": "rest:\n  - {service: http.flow.adapter, flow: counted, methods: [POST], url: '/start', "
                 "timeout: 60s}\n",
}
TASKS = ("begin", "later", "finish")


def prepare(server, directory):
    for bucket in ("counts", "inserted"):
        server.request("PUT", f"/v1/buckets/{bucket}")
    ask(server.connect(), "CREATE TABLE seen(id cstring(40))")
    files = dict(APP, **{"flows/counted.yml": FLOW.replace("DIRECTORY", str(directory))})
    answer = server.request("PUT", "/v1/flows/app", {"files": files})
    if answer.status != 200:
        raise RuntimeError(f"the app is refused: {answer.body!r}")


class Client(threading.Thread):
    """Starts runs until the server is gone. `begun` are the ids that were sent, `done` those that were
    acknowledged: by the flow's answer, or by the id of a run that is only started."""

    def __init__(self, server, number, chance):
        super().__init__()
        self.server, self.number, self.chance = server, number, chance
        self.begun, self.done = set(), set()
        self.problem = None

    def run(self):
        try:
            admin = self.server.connect(timeout=60)
            flows = self.server.connect(timeout=60, listener="flows")
            while True:
                name = f"{self.number}-{self.chance.getrandbits(60):x}"
                self.begun.add(name)
                # A large input is a row of its own.
                body = {"id": name, "note": "x" * self.chance.choice((0, 4000))}
                if self.chance.random() < 0.5:
                    answer = exchange(flows, "POST", "/start", body)
                    good = answer.status == 200 and json.loads(answer.body) == {"id": name}
                else:
                    answer = exchange(admin, "POST", "/v1/flows/counted/run?wait=false",
                                      {"body": body})
                    good = answer.status == 202
                if not good:
                    raise RuntimeError(f"{name}: {answer.status} {answer.body[:500]!r}")
                self.done.add(name)
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error


def settled(server):
    """All runs, when none of them runs any more."""
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        running = json.loads(server.request("GET", "/v1/flows/runs?state=running").body)["runs"]
        if not running:
            return json.loads(server.request("GET", "/v1/flows/runs?limit=10000").body)["runs"]
        time.sleep(0.02)
    raise RuntimeError(f"runs do not end: {running[:3]}\n{server.log()}")


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def check(server, directory, begun, done, known):
    """What is wrong. `known` are the runs of earlier rounds, to which those of this one are added."""
    runs = [run for run in settled(server) if run["id"] not in known]
    known.update(run["id"] for run in runs)
    broken = [f"{run}" for run in runs if run["state"] != "completed"]
    connection = server.connect()
    counts = {row["k"]: row["n"] for row in ask(connection, "SELECT META(c).id AS k, c AS n FROM counts AS c")}
    lua = [row["id"] for row in ask(connection, "SELECT id FROM seen")]
    sql = {row["k"] for row in ask(connection, "SELECT META(i).id AS k FROM inserted AS i")}
    names = collections.Counter(lines_of(directory / "names"))
    total = counts.pop("total", 0)
    for name in sorted(begun):
        times = [counts.pop(f"{name}:{task}", 0) for task in TASKS]
        times += [lua.count(name), int(name in sql), names[name]]
        if times not in ([1] * 6, [0] * 6) or (name in done and not times[0]):
            broken.append(f"{name}: begin, later, finish, in.lua, in.sql, the file were written {times} times")
    if counts:
        broken.append(f"counted for nobody: {counts}")
    if total != len(sql) * len(TASKS):
        broken.append(f"the total is {total}, with {len(sql)} runs of {len(TASKS)} tasks")
    same = lines_of(directory / "same")
    if same != ["done"] * len(known):
        broken.append(f"{len(same)} lines were appended by {len(known)} runs")
    if len(runs) != len(sql):
        broken.append(f"{len(runs)} runs are listed, {len(sql)} were made")
    return broken


def main():
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-flow-crash-"))
    server = SluiceServer(arguments.sluice, arguments=("--dev", "--flows-directories", str(directory)))
    known = set()
    try:
        server.start()
        prepare(server, directory)
        for round_number in range(1, arguments.rounds + 1):
            clients = [Client(server, number, random.Random(chance.random())) for number in range(CLIENTS)]
            for client in clients:
                client.start()
            time.sleep(chance.uniform(0.05, 0.8))
            kill_and_start(server, clients, chance)
            broken = check(server, directory, set().union(*(client.begun for client in clients)),
                           set().union(*(client.done for client in clients)), known)
            if broken:
                sys.exit(f"round {round_number}, seed {arguments.seed}:\n" + "\n".join(broken[:40]))
            # What was looked at is not looked at again.
            connection = server.connect()
            for statement in ("DELETE FROM counts", "DELETE FROM inserted", "DELETE FROM seen"):
                ask(connection, statement)
        server.stop()
    finally:
        server.close()
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {len(known)} runs, each task committed once")


if __name__ == "__main__":
    main()
