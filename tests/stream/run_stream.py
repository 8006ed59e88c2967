#!/usr/bin/env python3
"""Talks to a real server's /query/stream, as docs/reference/stream.md says.

Usage: tests/stream/run_stream.py --sluice BINARY
"""

import argparse
import json
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from devtools import Closed, WebSocket  # noqa: E402
from sluice_server import SluiceServer, find_sluice  # noqa: E402

SETTLE_S = 30
FOR_EVER = ("SELECT RAW x FROM ARRAY_RANGE(0, 100000) AS x UNNEST ARRAY_RANGE(0, 100000) AS y "
            "WHERE x + y < 0")


class Stream:
    def __init__(self, server):
        self.socket = WebSocket(f"ws://127.0.0.1:{server.ports['http']}/query/stream")

    def post(self, **message):
        self.socket.send(json.dumps(message))

    def receive(self):
        return json.loads(self.socket.receive())

    def ask(self, **message):
        self.post(**message)
        return self.receive()

    def run(self, statement, **parameters):
        """All rows and the end of a statement."""
        answer = self.ask(id="run", statement=statement, next=100, **parameters)
        rows = answer.get("rows", [])
        while "done" not in answer:
            answer = self.ask(id="run", next=100)
            rows += answer.get("rows", [])
        return rows, answer["done"]

    def rows(self, statement, **parameters):
        rows, done = self.run(statement, **parameters)
        assert done["status"] == "success", done
        return rows

    def close(self):
        self.socket.close()


class StreamTest(unittest.TestCase):
    sluice = None

    def setUp(self):
        self.server = SluiceServer(self.sluice)
        self.server.__enter__()
        self.addCleanup(self.server.close)
        self.stream = self.connect()

    def connect(self):
        stream = Stream(self.server)
        self.addCleanup(stream.close)
        return stream

    def running(self):
        return json.loads(self.server.request("GET", "/admin/active_requests").body)

    def settle(self, condition):
        end = time.monotonic() + SETTLE_S
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not come to that")
            time.sleep(0.02)

    # --- rows as they are asked for ---

    def test_rows_come_as_they_are_asked_for(self):
        first = self.stream.ask(id=1, statement="SELECT RAW a FROM [1, 2, 3, 4] AS a")
        self.assertEqual(first["rows"], [1])
        self.assertEqual((first["id"], first["signature"]), (1, "json"))
        self.assertEqual(self.running()[0]["requestId"], first["requestID"])
        self.assertEqual(self.stream.ask(id=1, next=2), {"id": 1, "rows": [2, 3]})
        last = self.stream.ask(id=1, next=10)
        self.assertEqual(last["rows"], [4])
        self.assertEqual((last["done"]["status"], last["done"]["metrics"]["resultCount"]),
                         ("success", 4))
        self.assertEqual(self.running(), [])

    def test_nothing_is_pulled_before_it_is_asked_for(self):
        self.stream.rows("CREATE TABLE t(i int)")
        self.stream.rows("INSERT INTO t VALUES(1)")
        begun = self.stream.ask(id=1, statement="SELECT * FROM t", next=0)
        self.assertEqual(sorted(begun), ["id", "requestID", "signature"])
        self.assertNotIn("done", begun)
        self.assertEqual(self.stream.ask(id=1, next=9)["rows"], [{"i": 1}])

    def test_parameters(self):
        self.assertEqual(self.stream.rows("SELECT RAW $1 + $n", args=[1], **{"$n": 2}), [3])
        done = self.stream.run("SELECT 1", metrics=False)[1]
        self.assertEqual(done, {"status": "success"})
        self.assertEqual(self.stream.rows("SELECT 'a' AS x", row_format="cdb2"), ["(x='a')"])

    def test_errors_of_statements(self):
        done = self.stream.run("SELEC 1")[1]
        self.assertEqual(done["status"], "fatal")
        self.assertEqual((done["errors"][0]["code"], done["errors"][0]["id"]),
                         (3000, "query.syntax"))
        self.assertEqual(self.stream.run("SELECT 1", wrong=1)[1]["errors"][0]["code"], 1065)
        self.assertEqual(self.stream.run("SELECT 1", txid="x")[1]["errors"][0]["code"], 1065)
        self.assertEqual(self.stream.run(FOR_EVER, timeout="50ms")[1]["status"], "timeout")
        self.assertEqual(self.stream.rows("SELECT RAW 1"), [1])

    def test_large_results_and_statements(self):
        rows = self.stream.rows("SELECT RAW RPAD('', 20000, 'x') FROM ARRAY_RANGE(0, 100) AS a")
        self.assertEqual((len(rows), len(rows[99])), (100, 20000))
        text = "y" * 6_000_000
        self.assertEqual(self.stream.rows("SELECT RAW LENGTH($t)", **{"$t": text}), [len(text)])

    def test_one_statement_at_a_time(self):
        self.stream.ask(id=1, statement="SELECT RAW a FROM [1, 2] AS a")
        refused = self.stream.ask(id="two", statement="SELECT 1")
        self.assertEqual(refused["id"], "two")
        self.assertEqual(refused["done"]["errors"][0]["id"], "stream.busy")
        self.assertEqual(self.stream.ask(id=1, next=1)["rows"], [2])
        self.assertIn("done", self.stream.ask(id=1, next=1))
        unknown = self.stream.ask(id=1, next=1)
        self.assertEqual(unknown["done"]["errors"][0]["id"], "stream.no_statement")

    # --- consumers ---

    def make_consumer(self):
        self.stream.rows("CREATE TABLE t(i int)")
        self.stream.rows("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)")
        self.stream.rows("INSERT INTO t VALUES(1),(2),(3)")

    def receive_rows(self, stream, count):
        rows = []
        while len(rows) < count:
            rows += stream.receive().get("rows", [])
        return [row["i"] for row in rows]

    def receive_acknowledged(self, stream, count):
        while stream.receive().get("acknowledged") != count:
            pass

    def test_rows_come_ahead_of_their_acknowledgements(self):
        self.make_consumer()
        client = self.connect()
        client.post(id=1, statement="EXEC PROCEDURE watch()", ahead=2)
        self.assertEqual(self.receive_rows(client, 2), [1, 2])
        client.post(id=1, next=1)
        self.assertEqual(self.receive_rows(client, 1), [3])
        client.post(id=1, next=1)
        self.receive_acknowledged(client, 2)
        client.socket.socket.close()  # without a word
        again = self.connect()
        again.post(id=1, statement="EXEC PROCEDURE watch()", ahead=2)
        self.assertEqual(self.receive_rows(again, 1), [3])
        self.stream.rows("INSERT INTO t VALUES(4)")
        self.assertEqual(self.receive_rows(again, 1), [4])
        again.post(id=1, close=True)
        while "closed" not in (answer := again.receive()):
            self.assertEqual(answer["done"]["status"], "stopped")
        again.post(id=1, next=1)  # crosses the end: no answer
        self.assertEqual(again.rows("SELECT RAW 1"), [1])

    def test_a_plain_statement_ahead(self):
        self.stream.post(id=1, statement="SELECT RAW a FROM [1, 2, 3, 4, 5] AS a", ahead=2)
        self.assertEqual(self.stream.receive()["rows"], [1, 2])
        self.stream.post(id=1, next=2)
        self.assertEqual(self.stream.receive()["rows"], [3, 4])
        self.stream.post(id=1, next=2)
        rows = []
        while "done" not in (answer := self.stream.receive()):
            rows += answer["rows"]
        self.assertEqual(rows + answer.get("rows", []), [5])
        self.assertEqual(answer["done"]["status"], "success")
        self.assertEqual(self.stream.rows("SELECT RAW a FROM ARRAY_RANGE(0, 300) AS a"),
                         list(range(300)))

    def test_wrong_ahead(self):
        for wrong in ({"ahead": 0}, {"ahead": "2"}, {"ahead": 2, "next": 1}):
            stream = self.connect()
            stream.post(id=1, statement="SELECT 1", **wrong)
            with self.assertRaises(Closed) as closed:
                stream.receive()
            self.assertIn("stream.bad_message", str(closed.exception))
        stream = self.connect()
        stream.post(id=1, statement="SELECT RAW a FROM [1, 2] AS a", ahead=1)
        stream.receive()
        stream.post(id=1, next=2)
        with self.assertRaises(Closed) as closed:
            while True:
                stream.receive()
        self.assertIn("acknowledges 2 rows", str(closed.exception))

    def test_asking_for_the_next_row_acknowledges(self):
        self.make_consumer()
        first = self.connect()
        exec_watch = {"id": 1, "statement": "EXEC PROCEDURE watch()", "next": 100}
        self.assertEqual([row["i"] for row in first.ask(**exec_watch)["rows"]], [1])
        again = first.ask(id=1, next=100)["rows"]
        self.assertEqual([row["i"] for row in again], [2])
        first.close()
        second = self.connect()
        self.assertEqual(second.ask(**exec_watch)["rows"], again)  # with the same id
        # Closing a statement acknowledges nothing either.
        second.ask(id=1, close=True)
        self.assertEqual(second.ask(**exec_watch)["rows"], again)
        self.assertEqual([row["i"] for row in second.ask(id=1, next=1)["rows"]], [3])

    def test_another_client_takes_over(self):
        self.make_consumer()
        first, second = self.connect(), self.connect()
        exec_watch = {"id": 1, "statement": "EXEC PROCEDURE watch()", "next": 1}
        self.assertEqual(first.ask(**exec_watch)["rows"][0]["i"], 1)
        second.post(**exec_watch)
        self.assertEqual(first.ask(id=1, next=1)["rows"][0]["i"], 2)
        first.close()
        self.assertEqual(second.receive()["rows"][0]["i"], 2)

    def test_rows_are_sent_as_they_come(self):
        self.make_consumer()
        reader = self.connect()
        reader.ask(id=1, statement="EXEC PROCEDURE watch()")
        reader.ask(id=1, next=1)
        reader.ask(id=1, next=1)
        reader.post(id=1, next=1)
        self.settle(lambda: self.stream.rows(
            "SELECT RAW depth FROM comdb2_queues WHERE spname = 'watch'") == [0])
        self.stream.rows("INSERT INTO t VALUES(4)")
        self.assertEqual(reader.receive()["rows"][0]["i"], 4)

    # --- ends ---

    def test_close_ends_a_statement(self):
        self.stream.ask(id=1, statement="SELECT RAW a FROM [1, 2] AS a")
        self.assertEqual(self.stream.ask(id=1, close=True), {"id": 1, "closed": True})
        self.assertEqual(self.running(), [])
        self.assertEqual(self.stream.rows("SELECT RAW 1"), [1])

    def test_close_ends_one_that_waits(self):
        self.stream.post(id=1, statement=FOR_EVER)
        self.stream.post(id=1, close=True)
        self.assertEqual(self.stream.receive()["done"]["status"], "stopped")
        self.assertEqual(self.stream.receive(), {"id": 1, "closed": True})

    def test_a_client_that_leaves_ends_its_statement(self):
        self.stream.post(id=1, statement=FOR_EVER)
        self.settle(lambda: len(self.running()) == 1)
        self.stream.close()
        self.settle(lambda: self.running() == [])

    def test_a_procedure_ends_with_its_client(self):
        other = self.connect()
        other.rows("CREATE TABLE t(i int)")
        other.rows("CREATE PROCEDURE slow VERSION 'a' { local function main() "
                   "db:emit('begun') while true do db:sleep(1) end end }")
        self.assertEqual(self.stream.ask(id=1, statement="EXEC PROCEDURE slow()", next=10)["rows"],
                         [{"$0": "begun"}])
        self.stream.post(id=1, next=1)
        self.settle(lambda: len(self.running()) == 1)
        self.stream.close()
        self.settle(lambda: self.running() == [])

    def test_stopping_the_server_ends_it(self):
        self.stream.post(id=1, statement=FOR_EVER)
        self.settle(lambda: len(self.running()) == 1)
        self.server.stop()

    # --- sessions ---

    def test_a_transaction_belongs_to_its_connection(self):
        other = self.connect()
        other.rows("CREATE TABLE t(i int)")
        self.stream.rows("BEGIN")
        self.stream.rows("INSERT INTO t VALUES(1)")
        self.assertEqual(self.stream.rows("SELECT * FROM t"), [{"i": 1}])
        self.assertEqual(other.rows("SELECT * FROM t"), [])
        self.stream.rows("COMMIT")
        self.assertEqual(other.rows("SELECT * FROM t"), [{"i": 1}])
        self.assertEqual(self.stream.run("COMMIT")[1]["errors"][0]["code"], 17001)

    def test_leaving_rolls_back(self):
        other = self.connect()
        other.rows("CREATE TABLE t(i int)")
        other.rows("INSERT INTO t VALUES(1)")
        self.stream.rows("BEGIN")
        self.stream.rows("DELETE FROM t")
        self.stream.close()
        other.rows("UPDATE t SET i = 2")
        self.assertEqual(other.rows("SELECT * FROM t"), [{"i": 2}])

    def test_set(self):
        self.server.request("PUT", "/v1/buckets/shop")
        self.stream.rows("SET query_context = 'shop._default'")
        self.stream.rows("SET row_format cdb2;")
        self.stream.rows("INSERT INTO `_default` (KEY, VALUE) VALUES ('a', {'n': 1})")
        self.assertEqual(self.stream.rows("SELECT n FROM `_default`"), ["(n=1)"])
        self.assertEqual(self.stream.rows("SELECT n FROM `_default`", row_format="json"), [{"n": 1}])
        self.assertEqual(self.stream.run("SET nothing 1")[1]["errors"][0]["code"], 1065)
        self.assertEqual(self.stream.run("SET timeout soon")[1]["errors"][0]["code"], 1070)
        self.stream.rows("SET readonly true")
        self.assertEqual(self.stream.run("CREATE TABLE t(i int)")[1]["errors"][0]["code"], 1000)

    def test_versions_of_procedures(self):
        for version in ("a", "b"):
            self.stream.rows(f"CREATE PROCEDURE p VERSION '{version}' {{local function main() "
                             f"db:emit('{version}') end}}")
        self.stream.rows("CREATE PROCEDURE p {local function main() db:emit('1') end}")
        self.stream.rows("CREATE PROCEDURE wrapping { local function main() local p = db:sp('p') p() "
                         "db:exec('EXEC PROCEDURE p()'):emit() end}")
        run = "EXEC PROCEDURE p()"
        self.assertEqual(self.stream.rows(run), [{"$0": "a"}])
        self.stream.rows("SET SPVERSION p 'b'")
        self.assertEqual(self.stream.rows(run), [{"$0": "b"}])
        self.assertEqual(self.stream.rows("EXEC PROCEDURE wrapping()"), [{"$0": "b"}, {"$0": "b"}])
        self.assertEqual(self.connect().rows(run), [{"$0": "a"}])
        self.assertEqual(self.stream.rows(run, spversion={"p": "a"}), [{"$0": "a"}])
        self.stream.rows("set spversion p 1;")
        self.assertEqual(self.stream.rows(run), [{"$0": "1"}])
        self.stream.rows("SET SPVERSION p DEFAULT")
        self.assertEqual(self.stream.rows(run), [{"$0": "a"}])
        self.stream.rows("SET SPVERSION p 'none'")
        error = self.stream.run(run)[1]["errors"][0]
        self.assertIn('procedure \'p\' has no version "none"', error["msg"])
        for wrong in ("", "p", "p b", "p 'b", "p ''", "p 'b' c"):
            error = self.stream.run("SET SPVERSION " + wrong)[1]["errors"][0]
            self.assertEqual(error["code"], 1070, wrong)

    def test_a_version_for_a_consumer(self):
        self.stream.rows("CREATE TABLE t(i int)")
        self.stream.rows("CREATE DEFAULT LUA CONSUMER c ON (TABLE t FOR INSERT)")
        self.stream.rows("CREATE PROCEDURE c VERSION 'short' {local function main() local c = "
                         "db:consumer() while true do c:emit(c:get().new.i) c:consume() end end}")
        self.stream.rows("INSERT INTO t VALUES (7)")
        self.stream.rows("SET SPVERSION c 'short'")
        answer = self.stream.ask(id=1, statement="EXEC PROCEDURE c()", next=1)
        self.assertEqual(answer["rows"], [{"$0": 7}])

    # --- what is no message ---

    def closes_with(self, payload, opcode=1):
        stream = self.connect()
        stream.socket.send(payload, opcode)
        with self.assertRaises(Closed) as closed:
            stream.receive()
        return closed.exception

    def test_wrong_messages_close_the_connection(self):
        wrong = ["no JSON", "[]", '{"statement":"SELECT 1"}', '{"id":null,"next":1}', '{"id":1}',
                 '{"id":1,"close":false}', '{"id":1,"next":0}', '{"id":1,"next":"x"}',
                 '{"id":1,"next":1,"close":true}', json.dumps({"id": "x" * 200, "next": 1})]
        for text in wrong:
            closed = self.closes_with(text)
            self.assertEqual(closed.code, 1008, text)
            self.assertIn("stream.bad_message", str(closed), text)
        self.assertEqual(self.closes_with(b'{"id":1,"next":1}', 2).code, 1008)

    def test_too_many_messages_close_the_connection(self):
        self.stream.post(id=1, statement=FOR_EVER)
        with self.assertRaises((Closed, OSError)) as closed:
            for _ in range(200):
                self.stream.post(id=1, next=1)
            self.stream.receive()
        if isinstance(closed.exception, Closed):
            self.assertIn("stream.too_many_messages", str(closed.exception))
        self.settle(lambda: self.running() == [])

    def test_a_plain_request_is_told(self):
        answer = self.server.request("GET", "/query/stream")
        self.assertEqual(answer.status, 426)


class AccessTest(unittest.TestCase):
    sluice = None

    def test_it_wants_to_know_who_asks(self):
        with SluiceServer(self.sluice, arguments=()) as server:
            with self.assertRaises(Closed) as closed:
                Stream(server)
            self.assertIn("401", str(closed.exception))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sluice")
    options, rest = parser.parse_known_args()
    StreamTest.sluice = AccessTest.sluice = find_sluice(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
