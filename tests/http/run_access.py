#!/usr/bin/env python3
"""A server with users: the first password, what others on the machine can read, what ends when rights end, and what
bodies of strangers may take.

Usage: tests/http/run_access.py --sluice BINARY
"""

import base64
import http.client
import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

from devtools import Closed, DevTools  # noqa: E402
from sluice_server import SluiceServer, find_sluice  # noqa: E402

LONGEST_S = 60  # for what the server does within a second or so, however loaded the machine is

APP = {
    "tasks/say.hello.js": "function handleEvent() { return 'hello'; }",
    "tasks/never.guard.js": "function handleEvent() { return false; }",
    "rest.yaml": "rest:\n"
                 "  - {service: say.hello, methods: [POST], url: /open, authentication: none}\n"
                 "  - {service: say.hello, methods: [POST], url: /forgotten}\n"
                 "  - {service: say.hello, methods: [POST], url: /users, authentication: sluice.users}\n"
                 "  - {service: say.hello, methods: [POST], url: /guarded, authentication: never.guard}\n",
}


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


class AccessTest(unittest.TestCase):
    sluice = None

    @classmethod
    def setUpClass(cls):
        os.umask(0o022)
        cls.server = SluiceServer(
            cls.sluice, arguments=["--http-max-body", "64KiB", "--http-max-bodies", "1MiB"]).start()
        cls.printed = (cls.server.log_path.parent / "stdout").read_text()
        cls.password_file = cls.server.data / "first-admin-password"
        cls.admin = basic("admin", cls.password_file.read_text().strip())
        for bucket in ("pub", "secret"):  # roles are of buckets that are there
            cls.server.request("PUT", f"/v1/buckets/{bucket}", headers=cls.admin)

    @classmethod
    def tearDownClass(cls):
        try:
            cls.server.stop()
        finally:
            cls.server.close()

    def ask(self, method, path, body=None, headers=None, listener="http"):
        return self.server.request(method, path, body, headers or self.admin, listener)

    def expect(self, status, *request, **more):
        answer = self.ask(*request, **more)
        self.assertEqual(answer.status, status, answer.body)
        return answer

    def add_user(self, name, *roles):
        self.ask("DELETE", f"/v1/users/{name}")
        self.expect(201, "PUT", f"/v1/users/{name}", {"password": "long enough", "roles": roles})
        return basic(name, "long enough")

    # --- what others on the machine see ---

    def test_the_first_password_is_in_a_file_of_its_own(self):
        self.assertEqual(stat.S_IMODE(self.password_file.stat().st_mode), 0o600)
        password = self.password_file.read_text().strip()
        self.assertIn(str(self.password_file), self.printed)
        self.assertNotIn(password, self.printed + self.server.log(10_000))

    def assert_closed_to_others(self, directory):
        self.assertEqual(stat.S_IMODE(directory.stat().st_mode) & 0o077, 0, directory)
        for path in directory.rglob("*"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)

    def test_data_and_backups_are_closed_to_others(self):
        backup = self.server.data.parent / "backup"
        self.expect(201, "POST", "/v1/backup", {"directory": str(backup)})
        self.assert_closed_to_others(self.server.data)
        self.assert_closed_to_others(backup)

    def test_a_backup_that_fails_leaves_nothing(self):
        self.expect(400, "POST", "/v1/backup", {"directory": str(self.server.data.parent / "x") + "\0y"})
        self.assertFalse((self.server.data.parent / "x").exists())

    # --- what ends ---

    def follow(self, headers):
        """A feed that has begun; `ended` is set at its end."""
        connection = self.server.connect(timeout=LONGEST_S)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/feed/secret", headers=headers)
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        self.assertIn(b"ready", response.readline() + response.readline())
        return response

    def assert_ends(self, response):
        try:
            while response.read(1):
                pass
        except http.client.IncompleteRead:
            pass
        except TimeoutError:
            self.fail("the feed goes on")

    def lose(self, change):
        self.ask("PUT", "/v1/buckets/secret")
        reader = self.add_user("rd", "reader:secret", "query:secret")
        feed = self.follow(reader)
        other = self.follow(self.admin)
        change()
        self.assert_ends(feed)
        self.expect(200, "PUT", f"/v1/docs/secret/k{time.monotonic_ns()}", {"n": 1})
        while b"insert" not in other.readline():  # it goes on
            pass

    def test_a_deleted_users_feed_ends(self):
        self.lose(lambda: self.expect(204, "DELETE", "/v1/users/rd"))

    def test_a_feed_ends_with_the_role(self):
        self.lose(lambda: self.expect(200, "PUT", "/v1/users/rd", {"roles": ["query:secret"]}))

    def test_a_feed_ends_with_the_password(self):
        self.lose(lambda: self.expect(200, "PUT", "/v1/users/rd", {"password": "another one"}))

    def test_a_feed_goes_on_when_others_change(self):
        self.ask("PUT", "/v1/buckets/secret")
        feed = self.follow(self.add_user("rd", "reader:secret"))
        self.expect(200, "PUT", "/v1/users/rd", {"roles": ["reader:secret", "query:secret"]})
        self.add_user("somebody", "reader:secret")
        self.expect(204, "DELETE", "/v1/users/somebody")
        time.sleep(1)  # several rounds of looking
        self.expect(200, "PUT", f"/v1/docs/secret/k{time.monotonic_ns()}", {"n": 1})
        while b"insert" not in feed.readline():
            pass

    def test_a_revoked_tokens_feed_ends(self):
        self.ask("PUT", "/v1/buckets/secret")
        reader = self.add_user("rd", "reader:secret")
        token = json.loads(self.expect(201, "POST", "/v1/tokens", {"name": "t"}, reader).body)
        feed = self.follow({"Authorization": "Bearer " + token["token"]})
        self.expect(204, "DELETE", "/v1/tokens/" + token["id"])
        self.assert_ends(feed)

    def test_a_poll_of_a_consumer_ends(self):
        for statement in ("CREATE TABLE IF NOT EXISTS t (i INT)",
                          "CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)"):
            self.ask("POST", "/query/service", {"statement": statement})
        reader = self.add_user("rd", "reader:_tables")
        answers = []

        def poll():
            answers.append(self.ask("POST", "/v1/consumers/watch/next", {"timeout_ms": 300_000}, reader))

        thread = threading.Thread(target=poll)
        thread.start()
        deadline = time.monotonic() + LONGEST_S
        while not any(each["taken"] for each in json.loads(self.ask("GET", "/v1/consumers").body)["consumers"]):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.expect(204, "DELETE", "/v1/users/rd")
        thread.join(LONGEST_S)
        self.assertEqual([answer.status for answer in answers], [503])

    def test_a_websocket_ends(self):
        user = self.add_user("rd", "query:*")
        client = socket.create_connection(("127.0.0.1", self.server.ports["http"]), timeout=LONGEST_S)
        self.addCleanup(client.close)
        client.sendall(("GET /query/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                        f"Authorization: {user['Authorization']}\r\n\r\n").encode())
        head = client.recv(4096)
        self.assertIn(b"101 Switching", head)
        self.expect(204, "DELETE", "/v1/users/rd")
        while client.recv(4096):  # up to the end
            pass

    def debugger_of(self, headers):
        """The address of a started debugger, as it is told to somebody."""
        url = self.expect(200, "GET", "/getDebuggerUrl?name=f", headers=headers, listener="eventing").body.decode()
        return "ws://" + url.split("ws=")[1]

    def test_a_debuggers_socket_ends(self):
        for bucket in ("secret", "meta"):
            self.ask("PUT", f"/v1/buckets/{bucket}")
        self.ask("POST", "/api/v1/config", {"enable_debugger": True}, listener="eventing")
        self.expect(200, "POST", "/api/v1/functions/f",
                    {"appname": "f", "appcode": "function OnUpdate(doc, meta) {}",
                     "depcfg": {"source_bucket": "secret", "metadata_bucket": "meta"}}, listener="eventing")
        self.expect(200, "POST", "/api/v1/functions/f/deploy", listener="eventing")
        for change in (lambda: self.expect(204, "DELETE", "/v1/users/dev"),
                       lambda: self.expect(200, "PUT", "/v1/users/dev", {"roles": ["reader:secret"]}),
                       lambda: self.expect(200, "PUT", "/v1/users/dev", {"password": "another one"})):
            user = self.add_user("dev", "function_manager:secret")
            self.expect(200, "POST", "/startDebugger?name=f", headers=user, listener="eventing")
            own, admins = self.debugger_of(user), self.debugger_of(self.admin)
            self.assertEqual(own, self.debugger_of(user))
            self.assertNotEqual(own, admins)
            with DevTools(own) as client:
                client.call("Runtime.enable")
                change()
                with self.assertRaises(Closed):
                    client.wait("none", seconds=LONGEST_S)
            with self.assertRaises(Closed), DevTools(own) as client:  # nor does the address work any more
                client.call("Runtime.enable")
            deadline = time.monotonic() + LONGEST_S
            while json.loads(self.ask("GET", "/api/v1/functions/f/debugger", listener="eventing").body)["connected"]:
                self.assertLess(time.monotonic(), deadline)
            with DevTools(admins) as other:  # the debugger goes on for others
                other.call("Runtime.enable")
            self.expect(200, "POST", "/stopDebugger?name=f", listener="eventing")
        self.expect(200, "POST", "/api/v1/functions/f/undeploy", listener="eventing")

    def test_a_consumer_is_for_those_who_read_its_tables(self):
        for statement in ("CREATE TABLE ledger (i INT)", "INSERT INTO ledger VALUES (1)",
                          "CREATE DEFAULT LUA CONSUMER book ON (TABLE ledger FOR INSERT)",
                          "INSERT INTO ledger VALUES (2)"):
            self.ask("POST", "/query/service", {"statement": statement})
        (self.server.data.parent / "password").write_text("long enough")

        def consume(*roles):
            self.add_user("rd", *roles)
            return subprocess.run([self.sluice, "--server", f"http://127.0.0.1:{self.server.ports['http']}",
                                   "--user", "rd", "--password-file", self.server.data.parent / "password",
                                   "consume", "book", "--max", "1", "--timeout", "5000"],
                                  capture_output=True, text=True, timeout=LONGEST_S)

        refused = consume("query:*", "reader:pub")
        self.assertIn("there is no consumer 'book'", refused.stderr)
        self.assertEqual(refused.stdout, "")
        self.assertIn('"i":2', consume("query:*", "reader:_tables").stdout)  # the event is still there

    # --- who sees what ---

    def test_numbers_are_for_those_who_read_everything(self):
        nobody = self.add_user("nobody")
        reader = self.add_user("rd", "reader:pub", "query:*")
        everything = self.add_user("everything", "reader:*")
        prometheus = self.add_user("prometheus", "metrics")
        for path in ("/metrics", "/v1/status"):
            self.expect(403, "GET", path, None, nobody)
            self.expect(403, "GET", path, None, reader)
            self.expect(200, "GET", path, None, everything)
            self.expect(200, "GET", path, None, prometheus)
            self.expect(200, "GET", path)
        self.ask("PUT", "/v1/buckets/pub")
        for path in ("/v1/docs/pub/a", "/v1/docs/pub", "/v1/users", "/v1/types", "/v1/indexes/pub",
                     "/v1/feed/pub", "/v1/triggers"):
            self.expect(403, "GET", path, None, prometheus)
        # Everybody may ask for statements, and sees their own.
        own = self.expect(200, "GET", "/admin/active_requests", None, prometheus)
        self.assertEqual(own.body.strip(), b"[]")
        answer = self.ask("POST", "/query/service", {"statement": "SELECT 1"}, prometheus)
        self.assertEqual(answer.status, 401, answer.body)

    def rows(self, statement, headers=None):
        answer = json.loads(self.ask("POST", "/query/service", {"statement": statement}, headers).body)
        self.assertEqual(answer["status"], "success", answer)
        return answer["results"]

    def test_system_tables_show_what_one_may_see(self):
        for statement in ("CREATE TABLE IF NOT EXISTS hidden (i INT)",
                          "CREATE PROCEDURE p VERSION 'a' {local function main() return 1 end}"):
            self.ask("POST", "/query/service", {"statement": statement})
        self.ask("PUT", "/v1/buckets/pub")
        some = self.add_user("some", "query:*", "reader:pub")
        tables = self.add_user("tables", "query:*", "reader:_tables")
        every = self.add_user("every", "query:*", "reader:*")
        admins = self.rows("SELECT * FROM comdb2_procedures")
        self.assertIn("local function main", json.dumps(admins))
        for name in ("tables", "columns", "procedures", "triggers", "queues", "keys"):
            self.assertEqual(self.rows(f"SELECT * FROM comdb2_{name}", some), [], name)
        self.assertIn("hidden", json.dumps(self.rows("SELECT * FROM COMDB2_tables", tables)))
        self.assertEqual(self.rows("SELECT * FROM comdb2_procedures", tables), [])
        self.assertNotIn("local function", json.dumps(self.rows("SELECT * FROM comdb2_procedures", every)))
        self.assertEqual(len(self.rows("SELECT * FROM comdb2_procedures", every)), len(admins))

    def test_errors_name_only_what_one_may_see(self):
        self.ask("PUT", "/v1/buckets/vault")
        self.ask("PUT", "/v1/buckets/vault/scopes/treasure")
        self.ask("PUT", "/v1/buckets/pub")
        some = self.add_user("some", "query:*", "reader:pub")

        def message(keyspace, headers=None):
            return str(self.ask("POST", "/query/service", {"statement": f"SELECT * FROM {keyspace}"},
                                headers).body)

        self.assertIn("treasure", message("vault.sc.c"))
        for keyspace in ("vault.sc.c", "vault.treasure.c"):
            self.assertNotIn("there are", message(keyspace, some))
        self.assertIn("there are", message("pub.sc.c", some))

    def assert_told_alike(self, user, method, path, body=None, listener="http"):
        """`hush` stands for a name in all of a request. What is forbidden and what is not there are answered alike."""
        def answer(name):
            text = json.dumps(body).replace("hush", name) if body else None
            got = self.ask(method, path.replace("hush", name), text and json.loads(text), user, listener)
            return got.status, re.sub(r'"(requestID|request_id|executionTime|elapsedTime)": ?"[^"]*"', "",
                                      got.body.decode()).replace(name, "hush")

        for missing in ("nonexistent", "elsewhere"):
            self.assertEqual(answer("vault"), answer(missing), f"{method} {path} {body}")

    def test_what_one_may_not_see_is_not_told_to_be_there(self):
        for bucket in ("pub", "vault"):
            self.ask("PUT", f"/v1/buckets/{bucket}")
        self.ask("PUT", "/v1/buckets/vault/scopes/sc")
        self.ask("PUT", "/v1/buckets/vault/scopes/sc/collections/c")
        for statement in ("CREATE INDEX ix ON vault(n)", "CREATE TABLE vault_table (i INT)",
                          "PREPARE vault_plan FROM SELECT * FROM vault",
                          "CREATE DEFAULT LUA CONSUMER vault_queue ON (TABLE vault_table FOR INSERT)"):
            self.ask("POST", "/query/service", {"statement": statement})
        function = {"appname": "vault", "appcode": "function OnUpdate(doc, meta) {}",
                    "depcfg": {"source_bucket": "vault", "metadata_bucket": "pub"}}
        self.expect(200, "POST", "/api/v1/functions/vault", function, listener="eventing")
        for user in (self.add_user("nobody"), self.add_user("some", "query:*", "reader:pub"),
                     self.add_user("one", "query:pub", "writer:pub", "function_manager:pub"),
                     self.add_user("tables", "query:_tables", "reader:_tables")):
            for statement in (
                    "SELECT * FROM hush", "SELECT * FROM hush.sc.c", "SELECT * FROM hush.none.c",
                    "SELECT * FROM hush USE INDEX (ix)", "SELECT * FROM pub p JOIN hush h ON p.a = h.a",
                    "SELECT (SELECT RAW 1 FROM hush) FROM pub", "INFER hush", "EXPLAIN SELECT * FROM hush",
                    "PREPARE FROM SELECT * FROM hush", "UPSERT INTO hush VALUES ('a', 1)", "UPDATE hush SET x = 1",
                    "DELETE FROM hush", "MERGE INTO hush USING pub ON hush.a = pub.a WHEN MATCHED THEN DELETE",
                    "CREATE INDEX i2 ON hush(n)", "DROP INDEX hush.ix", "BUILD INDEX ON hush(ix)",
                    "CREATE SCOPE hush.sc", "DROP COLLECTION hush.sc.c", "DROP BUCKET hush",
                    "CREATE LUA TRIGGER t ON (TABLE hush FOR INSERT)", "EXECUTE hush_plan"):
                self.assert_told_alike(user, "POST", "/query/service", {"statement": statement})
            for context in ("default:hush", "default:hush.sc", "default:hush.none"):
                self.assert_told_alike(user, "POST", "/query/service",
                                       {"statement": "SELECT * FROM c", "query_context": context})
            for path in ("/v1/buckets/hush", "/v1/docs/hush/k", "/v1/docs/hush.sc.c/k", "/v1/docs/hush.none.c/k",
                         "/v1/scan/hush", "/v1/feed/hush", "/v1/indexes/hush", "/v1/buckets/hush/scopes",
                         "/_p/event/api/v1/functions/hush", "/_p/event/api/v1/functions/x?bucket=hush&scope=sc",
                         "/_p/event/getAppLog?name=hush"):
                self.assert_told_alike(user, "GET", path)
            self.assert_told_alike(user, "POST", "/_p/event/api/v1/functions/hush/deploy")
            self.assert_told_alike(user, "POST", "/v1/batch/get", {"keyspace": "hush", "keys": ["k"]})
            for source, metadata in (("hush", "pub"), ("pub", "hush")):
                definition = {**function, "appname": "mine",
                              "depcfg": {"source_bucket": source, "metadata_bucket": metadata}}
                self.assert_told_alike(user, "POST", "/api/v1/functions/mine", definition, "eventing")
        # Names of tables, too, to those who may not read tables.
        for user in (self.add_user("some", "query:*", "reader:pub"), self.add_user("one", "query:pub", "writer:pub")):
            for statement in ("SELECT * FROM hush_table", "INSERT INTO hush_table VALUES (1)",
                              "UPDATE hush_table SET i = 1", "DELETE FROM hush_table", "DROP TABLE hush_table",
                              "CREATE LUA TRIGGER t ON (TABLE hush_table FOR INSERT)"):
                self.assert_told_alike(user, "POST", "/query/service", {"statement": statement})
            self.assert_told_alike(user, "POST", "/v1/consumers/hush_queue/next", {"max": 1})
        # What somebody may see is told as it is.
        one = self.add_user("one", "query:pub", "writer:pub", "function_manager:pub")
        self.assertIn(b"there is no scope", self.ask("POST", "/query/service",
                                                     {"statement": "SELECT * FROM pub.none.c"}, one).body)
        taken = self.expect(403, "POST", "/api/v1/functions/vault",
                            {**function, "depcfg": {"source_bucket": "pub", "metadata_bucket": "meta"}}, one,
                            listener="eventing")
        self.assertNotIn(b"bucket vault", taken.body)

    def test_a_functions_statements_tell_of_its_own_buckets_only(self):
        for bucket in ("pub", "vault", "meta"):
            self.ask("PUT", f"/v1/buckets/{bucket}")
        one = self.add_user("one", "function_manager:pub", "writer:pub", "reader:meta")
        code = ("function OnUpdate(doc, meta) { const told = []; for (const name of ['vault', 'nonexistent']) {"
                " try { N1QL('SELECT * FROM ' + name); } catch (e) { told.push(e.message.replace(name, '')); } }"
                " out['told'] = told; }")
        self.expect(200, "POST", "/api/v1/functions/probe", {
            "appname": "probe", "appcode": code,
            "depcfg": {"source_bucket": "pub", "metadata_bucket": "meta",
                       "buckets": [{"alias": "out", "bucket_name": "pub", "access": "rw"}]}}, one, listener="eventing")
        self.expect(200, "POST", "/api/v1/functions/probe/deploy", headers=one, listener="eventing")
        self.expect(200, "PUT", "/v1/docs/pub/event", {"n": 1})
        deadline = time.monotonic() + LONGEST_S
        while (told := self.ask("GET", "/v1/docs/pub/told")).status != 200:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        forbidden, missing = json.loads(told.body)
        self.assertIn("may not read bucket", forbidden)
        self.assertEqual(forbidden, missing)
        self.expect(200, "POST", "/api/v1/functions/probe/undeploy", headers=one, listener="eventing")

    # --- endpoints ---

    def apply(self):
        answer = self.expect(200, "PUT", "/v1/flows/app", {"files": APP})
        return json.loads(answer.body)["problems"]

    def test_open_endpoints_are_told_of(self):
        problems = self.apply()
        self.assertEqual([(each["severity"], each["id"], each["line"]) for each in problems],
                         [("warning", "rest.open_endpoint", 3)])
        self.assertIn("POST /forgotten", problems[0]["message"])
        self.server.stop()
        self.server.start()
        self.assertIn("rest.open_endpoint", self.server.log(10_000))

    def test_the_guard_knows_users(self):
        self.apply()
        anybody = {"X-None": "1"}
        self.expect(200, "POST", "/open", "x", anybody, listener="flows")
        refused = self.expect(401, "POST", "/users", "x", anybody, listener="flows")
        self.assertIn("Basic", refused.headers["WWW-Authenticate"])
        self.expect(200, "POST", "/users", "x", self.add_user("nobody"), listener="flows")

    # --- bodies ---

    def begin(self, path, size, sent):
        client = socket.create_connection(("127.0.0.1", self.server.ports["flows"]), timeout=LONGEST_S)
        self.addCleanup(client.close)
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode())
        try:
            client.sendall(b"x" * sent)
        except OSError:
            pass  # it was refused
        return client

    @staticmethod
    def status_of(client):
        return int(client.recv(4096).split()[1])

    def test_who_is_not_let_in_need_not_send_a_body(self):
        self.apply()
        for path, status in (("/none", 404), ("/guarded", 401), ("/users", 401)):
            self.assertEqual(self.status_of(self.begin(path, 60_000, 10)), status, path)
        client = socket.create_connection(("127.0.0.1", self.server.ports["flows"]), timeout=LONGEST_S)
        self.addCleanup(client.close)
        client.sendall(b"PUT /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        self.assertEqual(self.status_of(client), 405)

    def test_all_bodies_together_are_bounded(self):
        self.apply()
        clients = [self.begin("/open", 60_000, 59_000) for _ in range(40)]
        refused = 0
        for client in clients:
            client.settimeout(1)
            try:
                refused += self.status_of(client) == 503
            except (TimeoutError, ConnectionResetError):
                pass
        self.assertGreater(refused, 10)
        # Ordinary requests go on.
        self.expect(200, "POST", "/open", "x" * 10_000, {"X-None": "1"}, listener="flows")
        for client in clients:
            client.close()
        deadline = time.monotonic() + LONGEST_S
        while self.ask("POST", "/open", "x" * 60_000, {"X-None": "1"}, listener="flows").status != 200:
            self.assertLess(time.monotonic(), deadline, "what bodies took is not given back")
            time.sleep(0.1)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--sluice"]:
        AccessTest.sluice = find_sluice(arguments[1])
        arguments = arguments[2:]
    else:
        AccessTest.sluice = find_sluice()
    unittest.main(argv=[sys.argv[0], *arguments])


if __name__ == "__main__":
    main()
