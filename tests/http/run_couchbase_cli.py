#!/usr/bin/env python3
"""The requests of `couchbase-cli eventing-function-setup`, and what it makes of the answers.

Usage: tests/http/run_couchbase_cli.py --sluice BINARY

Cli below does what version 7.6 of the tool does: it asks /pools, /pools/default and
/pools/default/nodeServices first, sends bucket and scope with every function, empty ones too, and
tells by the code, the content type and the words of an answer how it went.
"""

import base64
import http.client
import json
import pathlib
import sys
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

from sluice_server import SluiceServer, find_sluice  # noqa: E402

USER, PASSWORD = "Administrator", "password"
APP_NOT_FOUND = 13
APP_DEPLOYED = 20
CODE = "function OnUpdate(doc, meta) {\n  dst[meta.id] = doc;\n}\n"


class CliError(Exception):
    """What the tool prints before it ends with 1."""


class Cli:
    def __init__(self, port):
        self.host = f"127.0.0.1:{port}"

    # --- requests, as its HTTP library sends them ---

    def send(self, host, method, path, body=None):
        token = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        headers = {"User-Agent": "couchbase-cli  7.6.0-0000", "Accept-Encoding": "gzip, deflate",
                   "Accept": "*/*", "Connection": "keep-alive", "Authorization": f"Basic {token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        elif method in ("POST", "DELETE"):
            headers["Content-Length"] = "0"
        connection = http.client.HTTPConnection(host, timeout=60)
        try:
            connection.request(method, path, body, headers)
            return self.result(connection.getresponse())
        finally:
            connection.close()

    @staticmethod
    def result(response):
        """(value, errors)"""
        text = response.read()
        kind = response.headers["Content-Type"]
        if response.status in (200, 202, 204):
            if kind is None or not text:
                return "", None
            return (json.loads(text) if "application/json" in kind else text.decode()), None
        if response.status in (400, 404, 405, 409):
            if kind is None:
                return None, ["Not a Couchbase Server, please check hostname and port"]
            errors = json.loads(text) if "application/json" in kind else text.decode()
            return None, errors if isinstance(errors, list) else [errors]
        if response.status in (406, 422, 423):
            return None, [json.loads(text)["description"]]
        if response.status == 207:
            return None, [error["info"] for error in json.loads(text)
                          if error.get("code") == APP_DEPLOYED]
        return None, [f"Received unexpected status {response.status}"]

    def must(self, host, method, path, body=None):
        value, errors = self.send(host, method, path, body)
        if errors:
            raise CliError(errors)
        return value

    # --- what comes before every subcommand ---

    def check_cluster(self):
        pools = self.must(self.host, "GET", "/pools")
        if not pools["pools"]:
            raise CliError("the cluster is not initialised")
        pools["isEnterprise"], int(pools["implementationVersion"].split(".")[0])

    def min_version(self):
        pool = self.must(self.host, "GET", "/pools/default")
        return min(tuple(map(int, node["version"].split("-")[0].split(".")))
                   for node in pool["nodes"])

    def eventing(self):
        data = self.must(self.host, "GET", "/pools/default/nodeServices")
        hosts = []
        for node in data["nodesExt"]:
            name = node.get("hostname", self.host.split(":")[0])
            if "eventingAdminPort" in node["services"]:
                hosts.append(f"{name}:{node['services']['eventingAdminPort']}")
        if not hosts:
            raise CliError("Service eventing not available in target cluster")
        return hosts[0]

    def check_scope(self, bucket, scope):
        if bucket and self.min_version() < (7, 1, 0):
            raise CliError("--bucket/--scope can only be used against >= 7.1.0 clusters")

    @staticmethod
    def path(name, what, bucket, scope):
        quote = urllib.parse.quote_plus
        return (f"/api/v1/functions/{quote(name)}{what}"
                f"?bucket={quote(bucket)}&scope={quote(scope)}")

    # --- subcommands ---

    def import_functions(self, definitions):
        self.check_cluster()
        self.must(self.eventing(), "POST", "/api/v1/import", definitions)
        return "Events imported"

    def export_all(self):
        self.check_cluster()
        return self.must(self.eventing(), "GET", "/api/v1/export")

    def export(self, name, bucket="", scope=""):
        self.check_cluster()
        self.check_scope(bucket, scope)
        where = {"bucket": bucket or "*", "scope": scope or "*"}
        found = [one for one in self.must(self.eventing(), "GET", "/api/v1/export")
                 if one["appname"] == name and one["function_scope"] == where]
        if len(found) != 1:
            raise CliError(f"{len(found)} functions match")
        return found

    def delete(self, name, bucket="", scope=""):
        self.check_cluster()
        self.check_scope(bucket, scope)
        _, errors = self.send(self.eventing(), "DELETE", self.path(name, "", bucket, scope))
        self.fail_if(errors)
        return "Request to delete the function was accepted"

    def deploy(self, name, bucket="", scope="", deploy=True):
        self.check_cluster()
        if deploy and self.min_version() < (6, 6, 2):
            raise CliError("--boundary is needed to deploy a function")
        self.check_scope(bucket, scope)
        what, state = ("/deploy", "deployed") if deploy else ("/undeploy", "undeployed")
        _, errors = self.send(self.eventing(), "POST", self.path(name, what, bucket, scope), {})
        if errors and isinstance(errors[0], str) and errors[0].endswith(f"already in {state} state."):
            return f"Function is already in {state} state"
        self.fail_if(errors)
        return f"Request to {what[1:]} the function was accepted"

    def undeploy(self, name, bucket="", scope=""):
        return self.deploy(name, bucket, scope, deploy=False)

    def pause(self, name, bucket="", scope="", what="/pause"):
        self.check_cluster()
        self.check_scope(bucket, scope)
        _, errors = self.send(self.eventing(), "POST", self.path(name, what, bucket, scope))
        self.fail_if(errors)
        return f"Function was {what[1:]}d"

    def resume(self, name, bucket="", scope=""):
        return self.pause(name, bucket, scope, what="/resume")

    def list(self):
        self.check_cluster()
        eventing = self.eventing()
        functions = self.must(eventing, "GET", "/api/v1/functions")
        statuses = self.must(eventing, "GET", "/api/v1/status")
        if statuses["apps"] is None:
            return "The cluster has no functions"

        def path(function, name):
            where = function["function_scope"]
            return name if where["bucket"] == "*" else f"{where['bucket']}/{where['scope']}/{name}"
        states = {path(app, app["name"]): app["composite_status"] for app in statuses["apps"]}
        lines = []
        for function in functions:
            name, cfg = path(function, function["appname"]), function["depcfg"]
            lines += [name, f" Status: {states[name]}"]
            for title, key in (("Source", "source"), ("Metadata", "metadata")):
                keyspace = ".".join(cfg[f"{key}_{part}"] for part in ("bucket", "scope", "collection"))
                lines.append(f" {title}: {keyspace}")
        return "\n".join(lines)

    @staticmethod
    def fail_if(errors):
        if errors and isinstance(errors[0], dict) and errors[0].get("code") == APP_NOT_FOUND:
            raise CliError("Function does not exist")
        if errors:
            raise CliError(errors)


def definition(name, bucket="*", scope="*"):
    return {"appname": name, "appcode": CODE, "version": "evt-7.2.0-5325-ee",
            "function_scope": {"bucket": bucket, "scope": scope},
            "depcfg": {"source_bucket": "src", "source_scope": "_default",
                       "source_collection": "_default", "metadata_bucket": "meta",
                       "metadata_scope": "_default", "metadata_collection": "_default",
                       "buckets": [{"alias": "dst", "bucket_name": "dst", "access": "rw"}],
                       "curl": None, "constants": None},
            "settings": {"deployment_status": False, "processing_status": False,
                         "dcp_stream_boundary": "everything", "cluster_stats": None}}


class CouchbaseCliTest(unittest.TestCase):
    sluice = None

    def setUp(self):
        self.server = SluiceServer(self.sluice)
        self.addCleanup(self.server.close)
        self.server.start()
        for bucket in ("src", "dst", "meta"):
            self.assertIn(self.server.request("PUT", f"/v1/buckets/{bucket}").status, (200, 201))
        made = self.server.request("PUT", f"/v1/users/{USER}", {"password": PASSWORD, "roles": ["admin"]})
        self.assertEqual(made.status, 201)
        self.cli = Cli(self.server.ports["http"])

    def walk(self, where):
        cli, name = self.cli, "f"
        shown = f"{where[0]}/{where[1]}/{name}" if where else name
        self.assertEqual(cli.list(), "The cluster has no functions")
        self.assertEqual(cli.import_functions([definition(name, *where)]), "Events imported")
        self.assertIn(f"{shown}\n Status: undeployed\n Source: src._default._default", cli.list())
        exported = cli.export(name, *where)
        self.assertEqual(exported[0]["appcode"], CODE)
        self.assertEqual(exported, cli.export_all())
        self.assertEqual(cli.undeploy(name, *where), "Function is already in undeployed state")
        self.assertEqual(cli.deploy(name, *where), "Request to deploy the function was accepted")
        self.assertEqual(cli.deploy(name, *where), "Function is already in deployed state")
        self.assertIn("Status: deployed", cli.list())
        self.assertEqual(cli.pause(name, *where), "Function was paused")
        self.assertIn("Status: paused", cli.list())
        self.assertEqual(cli.resume(name, *where), "Function was resumed")
        with self.assertRaises(CliError) as refused:
            cli.delete(name, *where)
        self.assertIn("which does not allow it to be deleted", str(refused.exception))
        self.assertEqual(cli.undeploy(name, *where), "Request to undeploy the function was accepted")
        self.assertEqual(cli.delete(name, *where), "Request to delete the function was accepted")
        with self.assertRaisesRegex(CliError, "Function does not exist"):
            cli.deploy(name, *where)
        # What was exported comes back as it was.
        self.assertEqual(cli.import_functions(exported), "Events imported")
        self.assertEqual(cli.export(name, *where)[0]["depcfg"], exported[0]["depcfg"])
        self.server.stop()

    def test_functions_without_a_scope(self):
        self.walk(())

    def test_functions_of_a_scope(self):
        self.walk(("src", "_default"))


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--sluice"]
    CouchbaseCliTest.sluice = find_sluice(arguments[0] if arguments else None)
    unittest.main(argv=[sys.argv[0]])
