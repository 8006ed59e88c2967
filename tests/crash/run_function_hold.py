#!/usr/bin/env python3
"""A function that ends the server's process is held after three crashes, and the server stays up.

V8 ends the process when one call makes an array that is too large. The event is still the next one
after a restart, so the server would end again and again. So it would with a task of a durable run:
that is not called again after three crashes, and has failed. Also: --hold-functions starts without any
function running, and a handler that nothing can stop does not keep the server from ending.

Usage: tests/crash/run_function_hold.py --sluice BINARY
"""

import argparse
import http.client
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from sluice_server import SluiceServer, find_sluice  # noqa: E402

CODE = """function OnUpdate(doc, meta) {
  if (doc.crash) 'x'.repeat(2 ** 28).split('');
  dst[meta.id] = doc;
}"""
STUCK = """function OnUpdate(doc, meta) {
  if (doc.stuck) Array.prototype.includes.call({length: 2 ** 53 - 1}, 1);
}"""
FLOW = """flow: {id: 'poison', description: 'One task ends the server', ttl: 1h, durable: true}
first.task: 'good'
tasks:
  - {name: 'good', process: 'no.op', input: [], output: [], description: 'd', execution: sequential, next: ['bad']}
  - {name: 'bad', process: 'bad.task', input: ['input.body.crash -> crash'], output: ['result -> output.body'],
     description: 'd', delay: 100, execution: end}
"""
TASK = """function handleEvent(headers, input) {
  if (input.crash) 'x'.repeat(2 ** 28).split('');
  return 'fine';
}"""
FIXED_TASK = "function handleEvent(headers, input) { return 'fixed'; }"
FIXED = "function OnUpdate(doc, meta) { dst[meta.id] = 'fixed'; }"
WAIT_S = 60


def definition(code):
    return {"appname": "f", "appcode": code,
            "depcfg": {"source_bucket": "src", "metadata_bucket": "meta",
                       "buckets": [{"alias": "dst", "bucket_name": "dst", "access": "rw"}]},
            "settings": {"worker_count": 1, "execution_timeout": 3600}}


def call(server, method, path, body=None, listener="http", expected=(200, 201, 204)):
    answer = server.request(method, path, None if body is None else json.dumps(body), listener=listener)
    if expected and answer.status not in expected:
        raise AssertionError(f"{method} {path}: {answer.status} {answer.body}")
    return answer


def eventually(condition, what):
    until = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"not within {WAIT_S} s: {what}")
        time.sleep(0.02)


def status(server):
    return json.loads(call(server, "GET", "/api/v1/status/f", listener="eventing").body)["app"]


def wait_for_crash(server):
    code = server.process.wait(WAIT_S)
    server.process = None
    if code == 0:
        raise AssertionError("the server has ended well, but should have crashed")


def app(task):
    return {"files": {"sluice.yaml": "", "flows.yaml": "flows: ['poison.yml']", "flows/poison.yml": FLOW,
                      "tasks/bad.task.js": task}}


def show(server, run_id):
    return json.loads(call(server, "GET", f"/v1/flows/runs/{run_id}").body)


def run_flow(sluice):
    """A durable run whose task ends the process."""
    with SluiceServer(sluice) as server:
        call(server, "PUT", "/v1/flows/app", app(TASK))
        call(server, "POST", "/v1/flows/poison/run", {"body": {"crash": False}})
        try:
            call(server, "POST", "/v1/flows/poison/run", {"body": {"crash": True}}, expected=None)
        except (OSError, http.client.HTTPException):
            pass
        wait_for_crash(server)
        for _ in range(2):
            server.start()
            wait_for_crash(server)
        server.start()
        runs = json.loads(call(server, "GET", "/v1/flows/runs").body)["runs"]
        (poison,) = [each["id"] for each in runs if each["state"] != "completed"]
        eventually(lambda: show(server, poison)["state"] == "failed", "the run has failed")
        failed = show(server, poison)
        assert failed["status"] == 500, failed
        assert "route 'bad.task' is not called again" in failed["message"], failed
        assert "each of the last 3 times" in failed["message"], failed
        assert "the server gives up a call of a run" in server.log(), server.log()

        # With other code it goes on.
        call(server, "PUT", "/v1/flows/app", app(FIXED_TASK))
        call(server, "POST", f"/v1/flows/runs/{poison}/retry", {})
        eventually(lambda: show(server, poison)["state"] == "completed", "the run that was retried")
        server.stop()
    print("a task was not called again after 3 crashes, and the run was retried")


def run(sluice):
    with SluiceServer(sluice) as server:
        for bucket in ("src", "dst", "meta"):
            call(server, "PUT", f"/v1/buckets/{bucket}")
        call(server, "POST", "/api/v1/functions/f", definition(CODE), "eventing")
        call(server, "POST", "/api/v1/functions/f/deploy", None, "eventing")
        call(server, "PUT", "/v1/docs/src/good", {"n": 1})
        eventually(lambda: call(server, "GET", "/v1/docs/dst/good", expected=None).status == 200,
                   "the first event")
        call(server, "PUT", "/v1/docs/src/poison", {"crash": True})
        wait_for_crash(server)
        for _ in range(2):
            server.start()
            wait_for_crash(server)
        server.start()
        held = status(server)
        assert held["composite_status"] == "paused", held
        assert "'poison' was under way at each of the last 3 times" in held["failure"], held
        log = call(server, "GET", "/getAppLog?name=f", listener="eventing").body.decode()
        assert "held: document 'poison'" in log, log
        assert "a function is held" in server.log(), server.log()

        # It stays so, until somebody changes the code and resumes it.
        server.stop()
        server.start()
        assert status(server)["failure"] == held["failure"]
        call(server, "POST", "/api/v1/functions/f", definition(FIXED), "eventing")
        call(server, "POST", "/api/v1/functions/f/resume", None, "eventing")
        eventually(lambda: call(server, "GET", "/v1/docs/dst/poison", expected=None).body == b'"fixed"',
                   "the event that was held")
        server.stop()

        server.arguments.append("--hold-functions")
        server.start()
        assert status(server)["composite_status"] == "paused", status(server)
        call(server, "PUT", "/v1/docs/src/later", {"n": 2})
        server.stop()
        server.arguments.remove("--hold-functions")
        server.start()
        eventually(lambda: call(server, "GET", "/v1/docs/dst/later", expected=None).status == 200,
                   "the function goes on after --hold-functions")

        # What V8 can't end does not keep the server from ending.
        call(server, "POST", "/api/v1/functions/f/undeploy", None, "eventing")
        call(server, "POST", "/api/v1/functions/f", definition(STUCK), "eventing")
        call(server, "POST", "/api/v1/functions/f/deploy", None, "eventing")
        call(server, "PUT", "/v1/docs/src/stuck", {"stuck": True})
        eventually(lambda: json.loads(call(server, "GET", "/getDcpEventsRemaining?name=f",
                                           listener="eventing").body)["dcp_backlog"] >= 1, "it is stuck")
        time.sleep(1)
        server.process.terminate()
        code = server.process.wait(WAIT_S)
        server.process = None
        assert code == 1, code
        assert "the stop takes too long" in server.log(), server.log()
    print("held after 3 crashes, resumed, held by --hold-functions, ended though stuck")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sluice", default=None)
    sluice = find_sluice(parser.parse_args().sluice)
    run(sluice)
    run_flow(sluice)


if __name__ == "__main__":
    main()
