#!/usr/bin/env python3
"""Kills a server whose flows start by themselves, again and again: each cause starts exactly one run.

Clients insert documents that a durable flow follows, and call tasks in JavaScript and Lua that write
something and start a flow in the same commit; another flow runs every second. Each run counts, under the
name of what started it. After a restart there must be one run for each document, for each call whose
writes are there (every acknowledged one among them), and for no time of the schedule two.

Usage: tests/crash/run_flow_start_crash.py --sluice BINARY [--rounds 10] [--seed 1]
"""

import http.client
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from rounds import ask, kill_and_start, parse_arguments  # noqa: E402
from sluice_server import SluiceServer, exchange  # noqa: E402

CLIENTS = 6
SETTLE_S = 120


def flow(head, name):
    """A durable flow of one task, which counts."""
    return f"""flow: {{id: {name}, description: d, ttl: 10m, durable: true{head}}}
first.task: count
tasks:
  - name: count
    process: count.it
    input: ['text({name}) -> flow', 'input.body -> body']
    output: ['result -> output.body']
    description: d
    execution: end
"""


APP = {
    "flows.yaml": "flows: ['changed.yml', 'called.yml', 'ticked.yml']",
    "flows/changed.yml": flow(", on: orders, filter: \"operation = 'insert'\"", "changed"),
    "flows/called.yml": flow("", "called"),
    "flows/ticked.yml": flow(", every: 1s", "ticked"),
    "tasks/count.it.js": """function handleEvent(headers, input) {
      const body = input.body;
      const key = `${input.flow}:${body.key || body.id || body.due_ms}`;
      counts[key] = (counts[key] || 0) + 1;
      return key;
    }""",
    "tasks/ask.js.js": """function handleEvent(headers, input) {
      const id = input.body.id;
      asked[id] = { by: 'js' };
      startFlow('called', { body: { id } });
      return id;
    }""",
    "tasks/ask.lua.lua": """local function main(headers, input)
      local id = input.body.id
      local stmt = db:prepare('INSERT INTO wanted(id) VALUES (?)')
      stmt:bind(1, id)
      stmt:exec()
      db:start_flow('called', {body = {id = id}})
      return id
    end""",
    "sluice.yaml": "tasks: {count.it: {instances: 6, keyspaces: {counts: counts}}, "
                   "ask.js: {instances: 3, keyspaces: {asked: asked}}, ask.lua: {instances: 3}}",
    "rest.yaml": "rest:\n"
                 "  - {service: ask.js, methods: [POST], url: '/ask/js', timeout: 60s}\n"
                 "  - {service: ask.lua, methods: [POST], url: '/ask/lua', timeout: 60s}\n",
}


def prepare(server):
    for bucket in ("orders", "asked", "counts"):
        server.request("PUT", f"/v1/buckets/{bucket}")
    ask(server.connect(), "CREATE TABLE wanted(id cstring(60))")
    answer = server.request("PUT", "/v1/flows/app", {"files": APP})
    if answer.status != 200:
        raise RuntimeError(f"the app is refused: {answer.body!r}")


class Client(threading.Thread):
    """Makes causes until the server is gone. `done` are those that were acknowledged."""

    def __init__(self, server, number, chance):
        super().__init__()
        self.server, self.number, self.chance = server, number, chance
        self.done = set()
        self.problem = None

    def run(self):
        try:
            admin = self.server.connect(timeout=60)
            flows = self.server.connect(timeout=60, listener="flows")
            while True:
                name = f"{self.number}-{self.chance.getrandbits(60):x}"
                kind = self.chance.choice(("orders", "js", "lua"))
                if kind == "orders":
                    answer = exchange(admin, "PUT", f"/v1/docs/orders/{name}", {"n": 1})
                else:
                    answer = exchange(flows, "POST", f"/ask/{kind}", {"id": name})
                if answer.status not in (200, 201):
                    raise RuntimeError(f"{kind} {name}: {answer.status} {answer.body[:500]!r}")
                self.done.add(("changed:" if kind == "orders" else "called:") + name)
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error


def causes(connection):
    """What must have started one run each, by the name under which it counts."""
    found = {f"changed:{row['k']}" for row in ask(connection, "SELECT META(o).id AS k FROM orders AS o")}
    found |= {f"called:{row['k']}" for row in ask(connection, "SELECT META(a).id AS k FROM asked AS a")}
    return found | {f"called:{row['id']}" for row in ask(connection, "SELECT id FROM wanted")}


def counted(connection):
    rows = ask(connection, "SELECT META(c).id AS k, c AS n FROM counts AS c")
    return {row["k"]: row["n"] for row in rows}


def check(server, done):
    """What is wrong, once everything that was to start has run."""
    connection = server.connect()
    wanted = causes(connection)
    deadline = time.monotonic() + SETTLE_S
    while True:
        counts = counted(connection)
        if wanted <= counts.keys() or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    broken = [f"{name} was acknowledged and is gone" for name in sorted(done - wanted)]
    broken += [f"{name} started nothing" for name in sorted(wanted - counts.keys())]
    broken += [f"{name} counted {n} times" for name, n in sorted(counts.items()) if n != 1]
    broken += [f"{name} was started by nobody" for name in sorted(counts.keys() - wanted)
               if not name.startswith("ticked:")]
    return broken, len(wanted), sum(name.startswith("ticked:") for name in counts)


def main():
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    server = SluiceServer(arguments.sluice)
    runs = ticks = 0
    try:
        server.start()
        prepare(server)
        for round_number in range(1, arguments.rounds + 1):
            clients = [Client(server, number, random.Random(chance.random())) for number in range(CLIENTS)]
            for client in clients:
                client.start()
            time.sleep(chance.uniform(0.05, 1.2))
            kill_and_start(server, clients, chance)
            broken, started, ticked = check(server, set().union(*(client.done for client in clients)))
            if broken:
                sys.exit(f"round {round_number}, seed {arguments.seed}:\n" + "\n".join(broken[:40]))
            runs, ticks = runs + started, ticks + ticked
            # What was looked at is not looked at again; a time of the schedule must not come twice.
            connection = server.connect()
            for statement in ("DELETE FROM orders", "DELETE FROM asked", "DELETE FROM wanted",
                              "DELETE FROM counts WHERE META().id NOT LIKE 'ticked:%'"):
                ask(connection, statement)
        server.stop()
    finally:
        server.close()
    if not ticks:
        sys.exit("the schedule started nothing")
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {runs} causes, one run each")


if __name__ == "__main__":
    main()
