"""Live calls of a server's API: each answer must be as the OpenAPI document says.

scenario(api) makes something of every kind, asks for it, and takes it away again. An answer whose
status the document does not name, or that is not as its schema says, is a problem.
"""

import json
import re
import time
import urllib.parse

from schema_check import problems_in

FUNCTION = {
    "appname": "copy",
    "appcode": "function OnUpdate(doc, meta) { dst[meta.id] = doc; }\n",
    "depcfg": {
        "source_bucket": "shop",
        "metadata_bucket": "meta",
        "buckets": [{"alias": "dst", "bucket_name": "copies", "access": "rw"}],
    },
    "settings": {},
}
APP = {
    "files": {
        "flows.yaml": "flows: ['hello.yml']\n",
        "flows/hello.yml": """
flow: {id: hello, description: says hello, ttl: 10s}
first.task: greet
tasks:
  - input: ['input.body.name -> name']
    process: greet
    output: ['result -> output.body']
    description: greets
    execution: end
""",
        "tasks/greet.js": "function handleEvent(headers, input, instance) {"
                          " return {text: 'hello ' + input.name}; }\n",
    },
}


class Api:
    """Sends requests and compares their answers with the document."""

    def __init__(self, server, document):
        self.server = server
        self.document = document
        self.problems = []
        self.called = set()

    def __call__(self, method, path, body=None, query="", headers=None, **parameters):
        """The parsed answer to the operation `method path`, whose parameters are named."""
        names = set(re.findall(r"{([^}]*)}", path))
        target = path
        for name in names:
            target = target.replace("{%s}" % name, urllib.parse.quote(str(parameters[name]), ""))
        sent = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        answer = self.server.request(method, target + (f"?{query}" if query else ""), body,
                                     headers=sent)
        self.called.add((method.lower(), path))
        return self._checked(method, path, answer)

    def _checked(self, method, path, answer):
        where = f"{method} {path}: {answer.status}"
        text = answer.body.decode("utf-8", "replace")
        operation = self.document["paths"].get(path, {}).get(method.lower())
        if operation is None:
            self.problems.append(f"{where}: the document has no such operation")
            return None
        if answer.status >= 400:
            self.problems.append(f"{where}: {text[:300]}")
            return None
        described = operation["responses"].get(str(answer.status))
        if described is None:
            self.problems.append(f"{where}: the document does not name this status")
            return None
        kinds = described.get("content", {})
        kind = (answer.headers.get("Content-Type") or "").split(";")[0].strip()
        if not text:
            if kinds and "text/plain" not in kinds:
                self.problems.append(f"{where}: no body, but the document has one")
            return None
        if kind not in kinds:
            self.problems.append(f"{where}: answers {kind}, the document says {sorted(kinds)}")
            return None
        value = json.loads(text) if kind.endswith("json") else text
        for problem in problems_in(value, kinds[kind].get("schema", {}), self.document):
            self.problems.append(f"{where}: {problem}\n  in {text[:400]}")
        return value


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("a state that the test waits for did not come")
        time.sleep(0.05)


def keyspaces(api):
    scope = "/v1/buckets/{bucket}/scopes/{scope}"
    collection = scope + "/collections/{collection}"
    names = {"bucket": "b", "scope": "s", "collection": "c"}
    api("GET", "/")
    for _ in range(2):
        api("PUT", "/v1/buckets/{bucket}", **names)
        api("PUT", scope, **names)
        api("PUT", collection, {"max_expiry": "1d"}, **names)
    api("GET", "/v1/buckets")
    api("GET", "/v1/buckets/{bucket}", **names)
    api("GET", scope, **names)
    api("GET", collection, **names)
    api("PATCH", collection, {"max_expiry": "2d"}, **names)
    api("POST", collection + "/flush", **names)
    api("DELETE", collection, **names)
    api("DELETE", scope, **names)
    api("DELETE", "/v1/buckets/{bucket}", **names)


def documents(api):
    for bucket in ("shop", "meta", "copies"):
        api("PUT", "/v1/buckets/{bucket}", bucket=bucket)
    one = "/v1/docs/{keyspace}/{key}"
    where = {"keyspace": "shop", "key": "a/1"}
    api("PUT", one, {"n": 1, "tags": ["x"]}, **where)
    api("PUT", one, {"n": 2, "tags": ["x"]}, **where)
    api("POST", one, {"n": 3}, keyspace="shop", key="b")
    api("POST", "/v1/docs/{keyspace}", {"n": 4}, keyspace="shop")
    api("PATCH", one, {"specs": [{"op": "upsert", "path": "m", "value": 5}]}, **where)
    api("GET", one, **where)
    api("GET", "/v1/docs/{keyspace}", query="limit=2", keyspace="shop")
    api("POST", one + "/touch", {"expiry": "1h"}, **where)
    api("POST", one + "/counter", {"delta": 2, "initial": 1}, keyspace="shop", key="count")
    api("POST", "/v1/batch/get", {"keyspace": "shop", "keys": ["b", "none"]})
    api("POST", "/v1/batch/put", {"writes": [
        {"keyspace": "shop", "key": "c", "value": {"n": 6}}]})
    api("POST", "/v1/import/{keyspace}", '{"key":"d","value":{"n":7}}\n', keyspace="shop",
        headers={"Content-Type": "application/x-ndjson"})
    api("DELETE", one, keyspace="shop", key="d")
    index = "/v1/indexes/{keyspace}/{name}"
    for _ in range(2):
        api("PUT", index, {"parts": [{"path": "n"}]}, keyspace="shop", name="by_n")
    api("GET", index, keyspace="shop", name="by_n")
    api("GET", "/v1/indexes/{keyspace}", keyspace="shop")
    api("GET", index + "/scan", query="limit=1", keyspace="shop", name="by_n")
    api("DELETE", index, keyspace="shop", name="by_n")
    api("GET", "/v1/advice/{keyspace}", keyspace="shop")
    api("GET", "/v1/advice/{keyspace}/observed", keyspace="shop")


def types(api):
    path = "/v1/types/{type}"
    order = {"type": "order", "properties": {"version": "_ver"}, "keyspace": "shop", "match": {"key": "order:{id}"}, "schema": "1.0",
             "revisions": {"keep": 3}}
    for _ in range(2):
        api("PUT", path, order, type="order")
    api("GET", path, type="order")
    api("GET", "/v1/types")
    one = "/v1/docs/{keyspace}/{key}"
    where = {"keyspace": "shop", "key": "order:1"}
    api("PUT", one, {"id": 1, "n": 1}, **where)
    api("PUT", one, {"id": 1, "n": 2}, **where)
    history = one + "/history"
    listed = api("GET", history, **where)
    version = listed["revisions"][0]["version"] if listed else 1
    api("GET", history + "/{version}", version=version, **where)
    api("GET", history + "/{version}/diff", version=version, **where)
    api("POST", history + "/{version}/restore", version=version, **where)
    api("DELETE", history, **where)
    order["properties"]["schema"] = "_schema"
    order["schema"] = "2.0"
    order["migrations"] = [{"from": "1.0", "to": "2.0", "steps": [{"rename": {"n": "m"}}]}]
    api("PUT", path, order, type="order")
    api("POST", path + "/migration", {"rate": 1000}, type="order")
    api("GET", path + "/migration", type="order")
    api("DELETE", path, type="order")


def accounts(api):
    user = {"password": "a long password", "roles": ["reader:shop"]}
    for _ in range(2):
        api("PUT", "/v1/users/{name}", user, name="ann")
    api("GET", "/v1/users/{name}", name="ann")
    api("GET", "/v1/users")
    api("GET", "/v1/whoami")
    token = api("POST", "/v1/tokens", {"name": "t", "user": "ann", "expiry": "1h"})
    api("GET", "/v1/tokens")
    if token:
        api("DELETE", "/v1/tokens/{id}", id=token["id"])
    api("DELETE", "/v1/users/{name}", name="ann")


def operations(api, directory):
    for path in ("/v1/status", "/livez", "/readyz", "/healthz", "/metrics", "/admin/ping",
                 "/admin/active_requests", "/admin/completed_requests", "/pools",
                 "/pools/default", "/pools/default/nodeServices"):
        api("GET", path)
    api("POST", "/v1/admin/expire")
    api("POST", "/v1/backup", {"directory": str(directory / "backup")})
    api("POST", "/query/service", {"statement": "PREPARE p AS SELECT n FROM shop LIMIT 1"})
    api("GET", "/query/service", query=urllib.parse.urlencode({"statement": "SELECT 1 AS one"}))
    api("GET", "/admin/prepareds")
    api("DELETE", "/admin/prepareds/{name}", name="p")


def triggers(api):
    for statement in (
            "CREATE TABLE t(i int)",
            "CREATE PROCEDURE bad VERSION 'one' {local function main(event)\nerror('no')\nend}",
            "CREATE LUA TRIGGER bad ON (TABLE t FOR INSERT)",
            "CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)",
            "INSERT INTO t VALUES (1), (2)"):
        api("POST", "/query/service", {"statement": statement})
    path = "/v1/triggers/{name}"
    api("GET", "/v1/triggers")
    api("GET", path, name="bad")
    wait_until(lambda: api("GET", path, name="bad")["failures"] > 0)
    api("POST", path + "/hold", name="bad")
    head = lambda: (api("GET", path, name="bad") or {}).get("head", {}).get("id", "")
    api("POST", path + "/dead-letter", {"event": head()}, name="bad")
    api("POST", path + "/skip", {"event": head()}, name="bad")
    listed = api("GET", path + "/failures", name="bad")
    first = listed["failures"][0]["id"] if listed and listed["failures"] else 0
    api("GET", path + "/failures/{id}", name="bad", id=first)
    api("DELETE", path + "/failures/{id}", name="bad", id=first)
    api("POST", path + "/resume", name="bad")
    api("DELETE", path + "/failures", name="bad")
    api("GET", "/v1/consumers")
    for prefix in ("/v1", ""):
        api("POST", prefix + "/consumers/{name}/next", {"client": "c", "max": 1}, name="watch")


def flows(api):
    api("PUT", "/v1/flows/app", APP)
    api("GET", "/v1/flows/app")
    api("GET", "/v1/flows")
    api("GET", "/v1/flows/{id}/graph", id="hello")
    api("POST", "/v1/flows/{id}/run", {"body": {"name": "Ann"}}, id="hello")
    api("GET", "/v1/flows/runs")
    traces = api("GET", "/v1/flows/traces")
    for trace in (traces or {}).get("traces", [])[:1]:
        api("GET", "/v1/flows/traces/{trace}", trace=trace["trace"])


def functions(api):
    root = "/_p/event/api/v1"
    one = root + "/functions/{name}"
    api("POST", one, FUNCTION, name="copy")
    api("POST", one + "/check", FUNCTION, name="copy")
    api("POST", one + "/deploy", name="copy")
    state = lambda: api("GET", root + "/status/{name}", name="copy")["app"]["composite_status"]
    wait_until(lambda: state() == "deployed")
    for path in (root + "/functions", root + "/status", root + "/stats", root + "/export",
                 root + "/backup", root + "/list/functions", root + "/list/functions/query",
                 root + "/config"):
        api("GET", path)
    for path in ("getStatus", "getExecutionStats", "getFailureStats", "getLatencyStats",
                 "getDcpEventsRemaining", "getAppLog", "getInsight"):
        api("GET", "/_p/event/" + path, query="name=copy")
    for path in ("_prometheusMetrics", "_prometheusMetricsHigh", "getErrorCodes", "version",
                 "uuid", "getUserInfo", "getAnnotations", "logFileLocation", "debug/vars",
                 "getCpuCount", "getWorkerCount", "getDeployedApps", "getLocallyDeployedApps",
                 "getRunningApps", "getBootstrappingApps", "getPausingApps", "getBootstrapStatus",
                 "getAggBootstrapStatus", "getAggBootstrappingApps", "getAggRebalanceProgress",
                 "getAggRebalanceStatus", "json", "json/list", "json/version"):
        api("GET", "/_p/event/" + path)
    for path in ("", "/appcode", "/appcode/checksum", "/settings", "/config", "/timers",
                 "/failures"):
        api("GET", one + path, name="copy")
    api("GET", root + "/stats/{name}", name="copy")
    api("POST", root + "/config", {"ram_quota": 256})
    api("POST", one + "/pause", name="copy")
    wait_until(lambda: state() == "paused")
    api("POST", one + "/settings", {"log_level": "DEBUG"}, name="copy")
    api("POST", one + "/resume", name="copy")
    wait_until(lambda: state() == "deployed")
    api("POST", one + "/undeploy", name="copy")
    wait_until(lambda: state() == "undeployed")
    api("POST", one + "/appcode", FUNCTION["appcode"], name="copy",
        headers={"Content-Type": "application/json"})
    api("POST", one + "/config", FUNCTION["depcfg"], name="copy")
    exported = api("GET", root + "/export")
    api("POST", root + "/import", exported)
    api("DELETE", one, name="copy")
    api("POST", root + "/functions", [FUNCTION])
    api("DELETE", root + "/functions")


def scenario(api, directory):
    keyspaces(api)
    documents(api)
    types(api)
    accounts(api)
    operations(api, directory)
    triggers(api)
    flows(api)
    functions(api)
