"""For run_function_crash.py: a function that fails by chance, and what must hold of its failures."""

import json

from sluice_server import exchange

CODE = """
function note(list, v) {
  const values = took[list] || [];
  values.push(v);
  took[list] = values;
}
function OnUpdate(doc, meta) {
  note(meta.id, doc.v);
  if (doc.v % 5 === 0) createTimer(Ring, new Date(), meta.id + ':' + doc.v, {id: meta.id, v: doc.v});
  if (Math.random() < 0.4) throw new Error('shaky');
}
function Ring(context) {
  note('ring:' + context.id, context.v);
  if (Math.random() < 0.4) throw new Error('shaky timer');
}
"""
SETTINGS = {"retry_count": 2, "retry_delay": 20, "retry_backoff": 1, "max_failures": 1000000}
FAILURES = "/api/v1/functions/shaky/failures"


def ask(server, method, path):
    answer = server.request(method, path, listener="eventing")
    if answer.status != 200:
        raise RuntimeError(f"{method} {path}: {answer.status}: {answer.body[:500]}")
    return json.loads(answer.body)


def waiting(server):
    return ask(server, "GET", "/api/v1/stats/shaky")["failures"]["waiting"]


def replay_all(server):
    ask(server, "POST", FAILURES + "/replay")


def took(server, name):
    answer = server.request("GET", f"/v1/docs/took/{name}")
    return json.loads(answer.body) if answer.status == 200 else []


class Failures:
    """What the list has had. An event's data do not change, so they are read once."""

    def __init__(self):
        self.events = {}  # by id: the name of the list that the event belongs to, and its value
        self.kept = 0
        self.replayed = 0

    def listed(self, server):
        ids = []
        path = FAILURES + "?limit=10000"
        while path:
            page = ask(server, "GET", path)
            ids += [failure["id"] for failure in page["failures"]]
            path = f"{FAILURES}?limit=10000&from={page['next']}" if "next" in page else None
        return ids

    def read(self, connection, failure):
        if failure not in self.events:
            answer = exchange(connection, "GET", f"{FAILURES}/{failure}")
            event = json.loads(answer.body)["event"]
            timer = event["operation"] == "timer"
            self.events[failure] = (("ring:" + event["context"]["id"], event["context"]["v"]) if timer
                                    else (event["key"], event["document"]["v"]))
        return self.events[failure]

    def check(self, server, versions):
        """Every event of a key is where it belongs once: it took effect, or it is listed."""
        connection = server.connect(listener="eventing")
        failed = {}
        ids = self.listed(server)
        for failure in ids:
            name, value = self.read(connection, failure)
            failed.setdefault(name, []).append(value)
        connection.close()
        self.kept = len(ids)
        self.replayed = max(self.replayed, len(self.events) - len(ids))
        broken = []
        for key, version in versions.items():
            for name, expected in ((key, list(range(1, version + 1))),
                                   (f"ring:{key}", None)):
                done = took(server, name)
                if expected is None:
                    expected = [value for value in took(server, key) if value % 5 == 0]
                if sorted(done + failed.get(name, [])) != sorted(expected):
                    broken.append(f"{name}: took effect {sorted(done)}, listed "
                                  f"{sorted(failed.get(name, []))}, expected {sorted(expected)}")
        return broken

    def told(self):
        return (f"of those that failed three times {self.kept} are listed, each once, and "
                f"{self.replayed} took effect later, each once")
