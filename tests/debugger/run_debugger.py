#!/usr/bin/env python3
"""Debugs functions of a real server with a client of the DevTools protocol.

Usage: tests/debugger/run_debugger.py --sluice BINARY
"""

import argparse
import json
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from devtools import Closed, DevTools, WebSocket  # noqa: E402
from sluice_server import SluiceServer, find_sluice  # noqa: E402

CODE = """function OnUpdate(doc, meta) {
  const twice = doc.n * factor;
  const known = SELECT RAW COUNT(*) FROM dst;
  log('at work', meta.id);
  dst[meta.id] = {twice, sum: Add(twice, 1)};
}
function Add(a, b) {
  return a + b;
}
function OnDelete(meta) { dst['deleted'] = meta.id; }
"""
URL = "function:///f.js"
SETTLE_S = 30


class DebuggerTest(unittest.TestCase):
    sluice = None

    def setUp(self):
        self.server = SluiceServer(self.sluice)
        self.server.__enter__()
        self.addCleanup(self.server.close)
        for bucket in ("src", "dst", "meta"):
            self.ask("PUT", f"/v1/buckets/{bucket}", listener="http")
        self.define("f", CODE)

    # --- what the tests say ---

    def ask(self, method, path, body=None, status=200, listener="eventing"):
        answer = self.server.request(method, path, body, listener=listener)
        allowed = (200, 201, 204) if status == 200 else (status,)
        self.assertIn(answer.status, allowed, f"{method} {path}: {answer.body[:500]}")
        return answer.body.decode()

    def define(self, name, code, **settings):
        self.ask("POST", f"/api/v1/functions/{name}", {
            "appname": name, "appcode": code,
            "depcfg": {"source_bucket": "src", "metadata_bucket": "meta",
                       "buckets": [{"alias": "dst", "bucket_name": "dst", "access": "rw"},
                                   {"alias": "seen", "bucket_name": "dst", "access": "r"}],
                       "constants": [{"value": "factor", "literal": "2"}]},
            "settings": {"execution_timeout": 1, **settings}})
        self.ask("POST", f"/api/v1/functions/{name}/deploy")

    def start(self):
        """Enables and starts the debugger; returns the address of its WebSocket."""
        self.ask("POST", "/api/v1/config", {"enable_debugger": True})
        self.ask("POST", "/startDebugger/?name=f")
        url = self.ask("GET", "/getDebuggerUrl/?name=f")
        self.assertTrue(url.startswith("devtools://devtools/bundled/inspector.html?"), url)
        return "ws://" + url.split("ws=")[1]

    def attach(self, url):
        client = DevTools(url)
        self.addCleanup(client.close)
        client.call("Runtime.enable")
        client.call("Debugger.enable")
        client.post("Runtime.runIfWaitingForDebugger")
        return client

    def put(self, key, document):
        self.ask("PUT", f"/v1/docs/src/{key}", json.dumps(document), listener="http")

    def trap(self, client, key, document):
        """Writes until an event is trapped: one that comes while the one before is not quite done
        with goes to the workers."""
        for _ in range(SETTLE_S):
            self.put(key, document)
            try:
                return client.wait("Debugger.paused", seconds=1)
            except TimeoutError:
                pass
        self.fail("no event was trapped")

    def document(self, key):
        answer = self.server.request("GET", f"/v1/docs/dst/{key}")
        return json.loads(answer.body) if answer.status == 200 else None

    def await_document(self, key, wanted):
        deadline = time.monotonic() + SETTLE_S
        while self.document(key) != wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.document(key), wanted)

    def await_log(self, line):
        """Lines are written once their event is committed."""
        deadline = time.monotonic() + SETTLE_S
        while line not in self.ask("GET", "/getAppLog?name=f") and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertIn(line, self.ask("GET", "/getAppLog?name=f"))

    def statistics(self):
        return json.loads(self.ask("GET", "/api/v1/stats/f"))["execution_stats"]

    def place(self, paused):
        frame = paused["callFrames"][0]
        return frame["functionName"], frame["location"]["lineNumber"]

    def evaluate(self, client, paused, expression):
        frame = paused["callFrames"][0]["callFrameId"]
        answer = client.call("Debugger.evaluateOnCallFrame", callFrameId=frame,
                             expression=expression, returnByValue=True)
        return answer["result"].get("value", answer["result"].get("description"))

    def close_code(self, url):
        """What a socket is closed with that should not have been let in."""
        web_socket = WebSocket(url)
        self.addCleanup(web_socket.close)
        with self.assertRaises(Closed) as closed:
            web_socket.receive()
        return closed.exception.code

    # --- the tests ---

    def test_a_walk_through_an_event(self):
        client = self.attach(self.start())
        self.put("a", {"n": 4})
        paused = client.wait("Debugger.paused")
        self.assertEqual(self.place(paused), ("OnUpdate", 1))
        self.assertEqual(self.evaluate(client, paused, "meta.id + doc.n"), "a4")
        client.call("Debugger.stepOver")
        paused = client.wait("Debugger.paused")
        self.assertEqual(self.place(paused), ("OnUpdate", 2))
        self.assertEqual(self.evaluate(client, paused, "twice"), 8)
        locals_ = client.call("Runtime.getProperties", ownProperties=True,
                              objectId=paused["callFrames"][0]["scopeChain"][0]["object"]["objectId"])
        values = {one["name"]: one["value"].get("value") for one in locals_["result"]}
        self.assertEqual(values["twice"], 8)
        client.call("Debugger.setBreakpointByUrl", lineNumber=7, url=URL)
        time.sleep(1.5)  # longer than the function may run
        client.call("Debugger.resume")
        paused = client.wait("Debugger.paused")
        self.assertEqual(self.place(paused), ("Add", 7))
        self.assertEqual(self.evaluate(client, paused, "a += 100"), 108)
        self.assertIsNone(self.document("a"))
        client.call("Debugger.resume")
        self.await_document("a", {"twice": 8, "sum": 109})
        self.await_log('"at work" "a"')
        # The next event is trapped as well; one without a breakpoint goes through.
        paused = self.trap(client, "b", {"n": 1})
        self.assertEqual(self.evaluate(client, paused, "meta.id"), "b")

    def test_the_source_is_the_authors(self):
        client = DevTools(self.start())
        self.addCleanup(client.close)
        client.call("Debugger.enable")
        scripts = {one["params"]["url"]: one["params"]["scriptId"] for one in client.events
                   if one["method"] == "Debugger.scriptParsed"}
        self.assertEqual(set(scripts), {URL, URL + ".headers.js"})
        text = client.call("Debugger.getScriptSource", scriptId=scripts[URL])["scriptSource"]
        self.assertEqual(text, CODE + "\n")
        with self.assertRaisesRegex(RuntimeError, "is changed by storing it"):
            client.call("Debugger.setScriptSource", scriptId=scripts[URL], scriptSource="1")
        found = client.call("Runtime.evaluate", expression="dst['x'] = 1")
        self.assertIn("only while an event is handled", found["exceptionDetails"]["exception"]["description"])

    def test_other_events_go_on_and_the_lane_keeps_its_order(self):
        client = self.attach(self.start())
        self.put("a", {"n": 1})
        client.wait("Debugger.paused")
        for i in range(200):
            self.put(f"k{i}", {"n": i})
        self.put("a", {"n": 2})  # waits for the one before it
        lane = {key for key in (f"k{i}" for i in range(200))}
        deadline = time.monotonic() + SETTLE_S
        while time.monotonic() < deadline:
            missing = {key for key in lane if self.document(key) is None}
            if len(missing) <= 12:  # those in the lane of `a`: a 64th of them, on the average
                break
            time.sleep(0.1)
        self.assertLessEqual(len(missing), 12)
        self.assertIsNone(self.document("a"))
        self.ask("POST", "/stopDebugger/?name=f")
        self.await_document("a", {"twice": 4, "sum": 5})
        for key in missing:
            n = int(key[1:])
            self.await_document(key, {"twice": 2 * n, "sum": 2 * n + 1})
        deadline = time.monotonic() + SETTLE_S
        # A batch is counted just after its documents can be seen.
        while time.monotonic() < deadline and self.statistics()["on_update_success"] < 202:
            time.sleep(0.05)
        self.assertEqual(self.statistics()["on_update_success"], 202)

    def test_stop_leave_pause_and_the_end_of_the_server_release_the_event(self):
        ends = [lambda _: self.ask("POST", "/stopDebugger?name=f"),
                lambda client: client.close(),
                lambda _: self.ask("POST", "/api/v1/functions/f/pause")]
        for number, end in enumerate(ends):
            client = self.attach(self.start())
            self.put(f"x{number}", {"n": number})
            client.wait("Debugger.paused")
            end(client)
            if number == 2:
                with self.assertRaises(Closed):
                    client.wait("none")
                self.ask("GET", "/getDebuggerUrl?name=f", status=400)
                self.ask("POST", "/api/v1/functions/f/resume")
            self.await_document(f"x{number}", {"twice": 2 * number, "sum": 2 * number + 1})
            self.ask("POST", "/stopDebugger?name=f")
        client = self.attach(self.start())
        self.put("y", {"n": 1})
        client.wait("Debugger.paused")
        self.server.stop()
        self.server.start()
        self.await_document("y", {"twice": 2, "sum": 3})
        client = self.attach(self.start())
        self.put("z", {"n": 1})
        client.wait("Debugger.paused")
        self.server.kill()
        self.server.start()
        self.await_document("z", {"twice": 2, "sum": 3})

    def test_an_event_waits_for_its_client_and_a_client_may_come_back(self):
        url = self.start()
        self.put("a", {"n": 1})
        time.sleep(0.3)
        self.assertIsNone(self.document("a"))
        client = self.attach(url)
        client.wait("Debugger.paused")
        self.assertTrue(json.loads(self.ask("GET", "/api/v1/functions/f/debugger"))["connected"])
        self.assertEqual(self.close_code(url), 1013)
        client.close()
        self.await_document("a", {"twice": 2, "sum": 3})
        self.put("b", {"n": 1})  # nobody is there
        self.await_document("b", {"twice": 2, "sum": 3})
        client = self.attach(url)
        self.put("c", {"n": 1})
        client.wait("Debugger.paused")
        client.call("Debugger.resume")
        self.await_document("c", {"twice": 2, "sum": 3})

    def test_who_may(self):
        self.assertIn("ERR_DEBUGGER_DISABLED", self.ask("POST", "/startDebugger?name=f", status=400))
        self.ask("GET", "/getDebuggerUrl?name=f", status=400)
        url = self.start()
        self.ask("POST", "/startDebugger?name=f", status=400)
        self.ask("POST", "/startDebugger?name=none", status=404)
        for wrong in (url[:-1] + ("0" if url[-1] != "0" else "1"), url[:-2], url + "00"):
            self.assertEqual(self.close_code(wrong), 1008)
        listed = json.loads(self.ask("GET", "/json/list"))
        self.assertEqual(listed[0]["webSocketDebuggerUrl"], url)
        # The other listener has it, too, and the API of ours.
        shown = json.loads(self.ask("GET", "/_p/event/api/v1/functions/f/debugger", listener="http"))
        with DevTools(shown["websocket_url"]) as client:
            client.call("Runtime.enable")
        self.ask("DELETE", "/api/v1/functions/f/debugger")
        self.assertEqual(self.close_code(url), 1008)
        self.ask("POST", "/api/v1/functions/f/undeploy")
        self.assertIn("ERR_APP_NOT_DEPLOYED", self.ask("POST", "/startDebugger?name=f", status=406))

    def test_a_throw_a_timer_and_a_conflict(self):
        self.ask("POST", "/api/v1/functions/f/undeploy")
        self.define("f", "function OnUpdate(doc, meta) {\n"
                         "  if (doc.fail) throw new Error('no');\n"
                         "  if (doc.later) return createTimer(Ring, new Date(Date.now() + doc.later), 'r', {x: 1});\n"
                         "  const count = dst['count'];\n"
                         "  dst['count'] = {n: count ? count.n + 1 : 1};\n"
                         "}\nfunction Ring(context) {\n  dst['ring'] = context;\n}\n")
        client = self.attach(self.start())
        self.put("a", {"fail": True})
        client.wait("Debugger.paused")
        client.call("Debugger.resume")
        self.assertEqual(self.place(self.trap(client, "b", {"later": 2000}))[0], "OnUpdate")
        client.call("Debugger.resume")
        self.assertEqual(self.place(client.wait("Debugger.paused"))[0], "Ring")
        client.call("Debugger.resume")
        self.await_document("ring", {"x": 1})
        self.await_log("Error: no")
        # Somebody else writes what the event has read: it is run again.
        self.trap(client, "c", {})
        for _ in range(3):
            client.call("Debugger.stepOver")
            paused = client.wait("Debugger.paused")
        self.assertEqual(self.place(paused)[1], 4)
        self.ask("PUT", "/v1/docs/dst/count", '{"n":10}', listener="http")
        client.call("Debugger.resume")
        client.wait("Debugger.paused")
        client.call("Debugger.resume")
        self.await_document("count", {"n": 11})
        self.assertEqual(self.statistics()["on_update_failure"], 1)

    def test_a_hostile_client(self):
        url = self.start()
        client = self.attach(url)
        for garbage in ("", "{", "[]", "x" * 100_000, "[" * 50_000, '{"id":1e99,"method":"Debugger.pause"}',
                        '{"id":1,"method":"Debugger.getScriptSource","params":7}',
                        '{"id":1,"method":"HeapProfiler.collectGarbage"}', "\u00e4\u0000"):
            client.web_socket.send(garbage)
        self.assertEqual(client.call("Runtime.evaluate", expression="1+1")["result"]["value"], 2)
        # A message over the limit, one that is not text, and half of one.
        for wrong in (lambda one: one.send("x" * (5 << 20)), lambda one: one.send(b"\xd8\x5a", 2),
                      lambda one: one.socket.sendall(b"\x81\xff\x00")):
            client.close()
            deadline = time.monotonic() + SETTLE_S
            while json.loads(self.ask("GET", "/api/v1/functions/f/debugger"))["connected"]:
                self.assertLess(time.monotonic(), deadline)
            client = DevTools(url)
            try:
                wrong(client.web_socket)
                client.close()
            except (BrokenPipeError, ConnectionResetError):
                pass
        # Memory without end, in an event: the debugger ends, the server does not.
        deadline = time.monotonic() + SETTLE_S
        while json.loads(self.ask("GET", "/api/v1/functions/f/debugger"))["connected"]:
            self.assertLess(time.monotonic(), deadline)
        client = self.attach(url)
        self.put("a", {"n": 1})
        paused = client.wait("Debugger.paused")
        client.post("Debugger.evaluateOnCallFrame", callFrameId=paused["callFrames"][0]["callFrameId"],
                    expression="const all = []; while (true) all.push([1, 2, 3]);")
        try:
            client.call("Debugger.resume")
            client.wait("none")
        except Closed:
            pass
        for key in ("a", "b"):  # the first is handled by the worker now
            self.put(key, {"n": 1})
            self.await_document(key, {"twice": 2, "sum": 3})

    def test_what_stands_behind_the_api_is_not_shown(self):
        client = self.attach(self.start())
        self.put("a", {"n": 1})
        client.wait("Debugger.paused")

        def variables(name):
            """Those of the scopes that a function closes over."""
            function = client.call("Runtime.evaluate", expression=name)["result"]
            shown = client.call("Runtime.getProperties", objectId=function["objectId"])
            names = []
            for hidden in shown["internalProperties"]:
                if hidden["name"] == "[[Scopes]]":
                    scopes = client.call("Runtime.getProperties", ownProperties=True,
                                         objectId=hidden["value"]["objectId"])["result"]
                    for scope in scopes:
                        inside = client.call("Runtime.getProperties", ownProperties=True,
                                             objectId=scope["value"]["objectId"])["result"]
                        names += [one["name"] for one in inside]
            return names

        self.assertIn("factor", variables("OnUpdate"))
        for name in ("log", "createTimer", "couchbase.upsert", "N1QL", "curl"):
            self.assertNotIn("native", variables(name))
            self.assertNotIn("configuration", variables(name))

    def test_an_event_that_uses_up_the_memory(self):
        self.ask("POST", "/api/v1/functions/f/undeploy")
        self.define("f", "function OnUpdate(doc, meta) {\n  const all = [];\n"
                         "  while (doc.n) all.push([1, 2, 3]);\n  dst[meta.id] = {};\n}")
        client = self.attach(self.start())
        self.put("a", {"n": 1})
        client.wait("Debugger.paused")
        client.post("Debugger.resume")
        with self.assertRaises(Closed):
            client.wait("none")
        self.put("b", {"n": 0})
        self.await_document("b", {})
        self.assertEqual(self.statistics()["on_update_failure"], 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice")
    arguments, rest = parser.parse_known_args()
    DebuggerTest.sluice = find_sluice(arguments.sluice)
    unittest.main(argv=[sys.argv[0], *rest])
