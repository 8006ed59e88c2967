"""A client of the crash test that writes with SQL++: single statements, and transactions of several."""

import json

from client import GROUP_SIZE, GROUPS, KEYSPACE, Client, Unexpected
from ledger import Stored
from sluice_server import exchange

SQL_COUNTERS = 2
CONFLICT = 17007


class Conflict(Exception):
    """COMMIT was refused because somebody else changed what the transaction had read."""


def counter_name(number):
    return f"sql-counter-{number}"


def query(connection, statement, args=(), txid=None):
    """The rows of a statement."""
    body = {"statement": statement, "args": list(args), "metrics": False, "signature": False}
    if txid:
        body["txid"] = txid
    answer = exchange(connection, "POST", "/query/service", body)
    result = json.loads(answer.body)
    if result["status"] == "success":
        return result["results"]
    if result["errors"][0]["code"] == CONFLICT:
        raise Conflict
    raise Unexpected(f"{statement} {args}: {answer.status} {answer.body[:500]!r}")


class SqlClient(Client):
    """As Client; its keys are its own, the counters of counter_name() are shared."""

    def _steps(self):
        return ([self._upsert] * 2 + [self._update] * 2 + [self._merge] * 2 + [self._delete]
                + [self._transaction] * 4 + [self._count_in_statement, self._count_in_transaction]
                + [self._read_rows])

    def _query(self, statement, args=(), txid=None):
        return query(self.connection, statement, args, txid)

    def _write(self, changes, statement, args):
        """A statement that writes one document and returns its CAS."""
        self.ledger.begin(changes)
        rows = self._query(statement, args)
        if len(rows) != 1:
            raise Unexpected(f"{statement} {args}: {rows}")
        self.ledger.acknowledge({key: f'"{rows[0]}"' for key in changes})

    def _upsert(self):
        key, value = self._key(), self._value()
        verb = "UPSERT" if self.ledger.documents.get(key) else "INSERT"
        self._write({key: value},
                    f"{verb} INTO {KEYSPACE} AS c VALUES ($1, $2) RETURNING RAW META(c).cas", [key, value])

    def _update(self):
        key = self._key()
        known = self.ledger.documents.get(key)
        if known is None:
            return
        value = known.value | {"n": self._value()["n"]}
        self._write({key: value},
                    f"UPDATE {KEYSPACE} AS c USE KEYS $1 SET c.n = $2 RETURNING RAW META(c).cas",
                    [key, value["n"]])

    def _merge(self):
        key, value = self._key(), self._value()
        self._write({key: value},
                    f"MERGE INTO {KEYSPACE} AS c USING [$1] AS s ON KEY s.k "
                    "WHEN MATCHED THEN UPDATE SET c.client = s.v.client, c.n = s.v.n, c.padding = s.v.padding "
                    "WHEN NOT MATCHED THEN INSERT s.v RETURNING RAW META(c).cas",
                    [{"k": key, "v": value}])

    def _delete(self):
        key = self._key()
        if self.ledger.documents.get(key) is None:
            return
        self.ledger.begin({key: None})
        rows = self._query(f"DELETE FROM {KEYSPACE} AS c USE KEYS $1 RETURNING RAW META(c).id", [key])
        if rows != [key]:
            raise Unexpected(f"DELETE {key}: {rows}")
        self.ledger.acknowledge({})

    def _transaction(self):
        """Several documents in one commit: all of them or none. What is rolled back never shows."""
        group = self.random.randrange(GROUPS)
        keys = [f"c{self.number}-g{group}-{i}" for i in range(GROUP_SIZE)]
        changes = {key: self._value() for key in keys}
        txid = self._query("BEGIN")[0]["txid"]
        returning = "RETURNING META(c).id, META(c).cas"
        rows = [{"k": key, "v": value} for key, value in changes.items()]
        written = self._query(f"UPSERT INTO {KEYSPACE} AS c (KEY s.k, VALUE s.v) SELECT s FROM $1 AS s "
                              f"{returning}", [rows], txid)
        self._query("SAVEPOINT here", txid=txid)
        self._query(f"DELETE FROM {KEYSPACE} USE KEYS $1", [keys[:2]], txid)
        self._query("ROLLBACK TO SAVEPOINT here", txid=txid)
        last = keys[-1]
        changes[last] = changes[last] | {"n": self._value()["n"]}
        written += self._query(f"UPDATE {KEYSPACE} AS c USE KEYS $1 SET c.n = $2 {returning}",
                               [last, changes[last]["n"]], txid)
        if self.random.random() < 0.2:
            self._query("ROLLBACK", txid=txid)
            return
        self.ledger.begin(changes)
        self._query("COMMIT", txid=txid)
        self.ledger.acknowledge({row["id"]: f'"{row["cas"]}"' for row in written})

    def _count_in_statement(self):
        name = counter_name(self.random.randrange(SQL_COUNTERS))
        statement = f"UPDATE {KEYSPACE} AS c USE KEYS $1 SET c.n = c.n + 1 RETURNING RAW c.n"
        with self.counters_lock:
            self.counters[name].begin()
        rows = self._query(statement, [name])
        with self.counters_lock:
            self.counters[name].acknowledge(rows[0])

    def _count_in_transaction(self):
        name = counter_name(self.random.randrange(SQL_COUNTERS))
        txid = self._query("BEGIN")[0]["txid"]
        value = self._query(f"UPDATE {KEYSPACE} AS c USE KEYS $1 SET c.n = c.n + 1 RETURNING RAW c.n",
                            [name], txid)[0]
        with self.counters_lock:
            self.counters[name].begin()
        try:
            self._query("COMMIT", txid=txid)
        except Conflict:
            with self.counters_lock:
                self.counters[name].abandon()
            return
        with self.counters_lock:
            self.counters[name].acknowledge(value)

    def _read_rows(self):
        key = self._key()
        rows = self._query(f"SELECT RAW [c, META(c).cas] FROM {KEYSPACE} AS c USE KEYS $1", [key])
        found = Stored(rows[0][0], f'"{rows[0][1]}"') if rows else None
        if found != self.ledger.documents.get(key):
            raise Unexpected(f"SELECT {key}: acknowledged {self.ledger.documents.get(key)}, read {found}")
