#!/usr/bin/env python3
"""Flows over HTTP: requests per second of flows of JavaScript functions against an empty route of the
same server in the same run, and memory over many requests.

Load comes from wrk, as in http_bench.py. Every comparison alternates between the two sides and takes
medians. Prints one JSON line a measurement.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/lib"), str(ROOT / "bench")]
from http_bench import CONNECTIONS, compare, rss_bytes, value, wrk  # noqa: E402
from sluice_server import SluiceServer  # noqa: E402

INSTANCES = 4
MEMORY_ROUNDS = 4
# Of memory, over all rounds but the first. A JavaScript heap may still take a step or two of some MB.
MAX_GROWTH = 1.1

TASK = "function handleEvent(headers, input, instance) { return { n: input.n + 1, user: input.user }; }"

ONE = """
flow: {id: one, description: one task, ttl: 10s}
first.task: step.one
tasks:
  - process: step.one
    input: ['int(0) -> n', 'input.path_parameter.user -> user']
    output: ['result -> output.body']
    description: counts
    execution: end
"""

THREE = """
flow: {id: three, description: three tasks, ttl: 10s}
first.task: step.one
tasks:
  - process: step.one
    input: ['int(0) -> n', 'input.path_parameter.user -> user']
    output: ['result -> model.a']
    description: counts
    execution: sequential
    next: [step.two]
  - process: step.two
    input: ['model.a -> *']
    output: ['result -> model.b']
    description: counts
    execution: sequential
    next: [step.three]
  - process: step.three
    input: ['model.b -> *']
    output: ['result -> output.body']
    description: counts
    execution: end
"""

FORK = """
flow: {id: fork, description: a fork of three, ttl: 10s}
first.task: begin
tasks:
  - name: begin
    process: no.op
    description: begins
    execution: fork
    next: [step.one, step.two, step.three]
    join: joined
""" + "".join(f"""
  - process: step.{name}
    input: ['int({n}) -> n', 'input.path_parameter.user -> user']
    output: ['result.n -> model.{name}']
    description: counts
    execution: sink
""" for n, name in enumerate(("one", "two", "three"))) + """
  - name: joined
    process: no.op
    input: ['model.one -> one', 'model.two -> two', 'model.three -> three']
    output: ['result -> output.body']
    description: all of them
    execution: end
"""

LOOP = """
flow: {id: loop, description: a loop of ten, ttl: 10s}
first.task: begin
tasks:
  - name: begin
    process: no.op
    input: ['int(0) -> model.a.n']
    description: begins
    execution: pipeline
    loop: {statement: 'for (model.i = 0; model.i < 10; model.i++)'}
    pipeline: [step.one]
    next: [done]
  - process: step.one
    input: ['model.a -> *']
    output: ['result -> model.a']
    description: counts
    execution: sink
  - name: done
    process: no.op
    input: ['model.a.n -> n']
    output: ['result -> output.body']
    description: how many
    execution: end
"""

DURABLE = THREE.replace("{id: three, description: three tasks,", "{id: durable, description: d, durable: true,")

FLOWS = {"one": ONE, "three": THREE, "fork": FORK, "loop": LOOP, "durable": DURABLE}
ANSWERS = {"one": {"n": 1, "user": "me"}, "three": {"n": 3, "user": "me"}, "durable": {"n": 3, "user": "me"},
           "fork": {"one": 1, "two": 2, "three": 3}, "loop": {"n": 10}}
MEASURED = (("flow of one task", "one", None), ("flow of three tasks", "three", 0.5),
            ("flow that forks to three tasks", "fork", None), ("flow that loops ten times", "loop", None),
            ("durable flow of three tasks", "durable", 0.1))


def app():
    files = {"flows.yaml": "flows: [" + ", ".join(f"{name}.yml" for name in FLOWS) + "]"}
    files |= {f"flows/{name}.yml": text for name, text in FLOWS.items()}
    steps = ("step.one", "step.two", "step.three")
    files |= {f"tasks/{step}.js": TASK for step in steps}
    files["sluice.yaml"] = "tasks:\n" + "".join(f"  {step}: {{instances: {INSTANCES}}}\n" for step in steps)
    entries = [f"  - {{service: http.flow.adapter, flow: {name}, methods: [GET], url: '/{name}/{{user}}'}}\n"
               for name in FLOWS] + ["  - {service: no.op, methods: [GET], url: '/nothing/{user}'}\n"]
    files["rest.yaml"] = "rest:\n" + "".join(entries)
    return json.dumps({"files": files}).encode()


def set_up(server):
    answer = server.request("PUT", "/v1/flows/app", app())
    if answer.status != 200:
        raise RuntimeError(f"the app: {answer.status} {answer.body[:2000]}")
    for name, expected in ANSWERS.items():
        answer = server.request("GET", f"/{name}/me", listener="flows")
        if answer.status != 200 or json.loads(answer.body) != expected:
            raise RuntimeError(f"{name}: {answer.status} {answer.body[:500]}")


def bench_rates(server):
    pids = [server.process.pid]
    empty = f"http://127.0.0.1:{server.ports['http']}/livez"
    for title, name, goal in MEASURED:
        url = f"http://127.0.0.1:{server.ports['flows']}/{name}/me"
        compare(title, lambda: wrk(url, pids), lambda: wrk(empty, pids), "empty route of the same server",
                goal)


def bench_built_in(server):
    """What of the distance is the way to any function of an app: threads, endpoint, request and answer as values."""
    pids = [server.process.pid]
    base = f"http://127.0.0.1:{server.ports['flows']}"
    compare("flow of three tasks, behind an endpoint", lambda: wrk(f"{base}/three/me", pids),
            lambda: wrk(f"{base}/nothing/me", pids), "route no.op behind an endpoint", None)


def bench_memory(server, requests):
    """How much memory there is after all rounds of requests, as a part of what there was after the first."""
    url = f"http://127.0.0.1:{server.ports['flows']}/three/me"
    measured, done = [], 0
    for _ in range(MEMORY_ROUNDS):
        goal = done + requests // MEMORY_ROUNDS
        while done < goal:
            output = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", "-d2s", url], capture_output=True,
                                    text=True, check=True).stdout
            done += int(output.split(" requests in")[0].split()[-1])
        measured.append(rss_bytes(server.process.pid))
    value(f"memory after {done} runs of a flow, of that after {done // MEMORY_ROUNDS}",
          round(measured[-1] / measured[0], 3), f"of {measured[0] / 1e6:.0f} MB", f"<= {MAX_GROWTH}")


def main():
    scratch = ROOT / "build/bench-flows"
    shutil.rmtree(scratch, ignore_errors=True)
    server = SluiceServer(os.environ.get("SLUICE", str(ROOT / "build/sluice")), data=scratch)
    try:
        server.start()
        set_up(server)
        bench_rates(server)
        bench_built_in(server)
        bench_memory(server, 1_000_000 if "--full" in sys.argv else 100_000)
        server.stop()
    finally:
        server.close()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
