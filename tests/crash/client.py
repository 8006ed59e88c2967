"""A client of the crash test: random commits on its own keys until the server is gone."""

import http.client
import json
import random
import threading

from ledger import Ledger, Stored
from sluice_server import exchange

KEYSPACE = "crash"
OWN_KEYS = 60
GROUPS = 8
GROUP_SIZE = 5
COUNTERS = 3
GONE = (OSError, http.client.HTTPException)


class Unexpected(Exception):
    """The server answered what it must not answer."""


def is_of_batch(key):
    return "-g" in key


def document_path(key):
    return f"/v1/docs/{KEYSPACE}/{key}"


def read_document(connection, key):
    """The document as Stored, None if there is none."""
    answer = exchange(connection, "GET", document_path(key))
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise Unexpected(f"GET {key}: {answer.status} {answer.body[:500]!r}")
    return Stored(json.loads(answer.body), answer.headers["ETag"])


class Client:
    """One thread at a time. `counters` ({name: Counter}) are shared with other clients under
    `counters_lock`."""

    def __init__(self, number, seed, counters, counters_lock):
        self.number = number
        self.random = random.Random(f"{seed}/{number}")
        self.ledger = Ledger()
        self.counters = counters
        self.counters_lock = counters_lock
        self.sequence = 0
        self.connection = None
        self.problem = None

    def start(self, server):
        self.connection = server.connect(timeout=30)
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        return thread

    def _steps(self):
        """What it does, each as often as it is likely."""
        return ([self._put] * 4 + [self._batch] * 3 + [self._count] * 2
                + [self._remove, self._read])

    def _run(self):
        steps = self._steps()
        try:
            while True:
                self.random.choice(steps)()
        except Unexpected as problem:
            self.problem = f"client {self.number}: {problem}"
        except GONE:
            pass
        finally:
            self.connection.close()

    def _key(self):
        return f"c{self.number}-k{self.random.randrange(OWN_KEYS)}"

    def _value(self):
        self.sequence += 1
        padding = "x" * self.random.choice([0, 10, 100, 1000, 5000])
        return {"client": self.number, "n": self.sequence, "padding": padding}

    def _expect(self, answer, statuses, what):
        if answer.status not in statuses:
            raise Unexpected(f"{what}: {answer.status} {answer.body[:500]!r}")
        return answer

    def _put(self):
        """Blind, or with the precondition that must hold because the key is ours."""
        key, value = self._key(), self._value()
        known = self.ledger.documents.get(key)
        headers = {"Content-Type": "application/json"}
        if self.random.random() < 0.5:
            headers |= {"If-Match": known.etag} if known else {"If-None-Match": "*"}
        self.ledger.begin({key: value})
        answer = exchange(self.connection, "PUT", document_path(key), json.dumps(value), headers)
        self._expect(answer, (200, 201, 204), f"PUT {key} {headers}")
        self.ledger.acknowledge({key: answer.headers["ETag"]})

    def _remove(self):
        key = self._key()
        if self.ledger.documents.get(key) is None:
            return
        self.ledger.begin({key: None})
        answer = exchange(self.connection, "DELETE", document_path(key))
        self._expect(answer, (200, 204), f"DELETE {key}")
        self.ledger.acknowledge({})

    def _batch(self):
        """Several documents in one commit: all of them or none."""
        group = self.random.randrange(GROUPS)
        changes = {f"c{self.number}-g{group}-{i}": self._value() for i in range(GROUP_SIZE)}
        writes = [{"keyspace": KEYSPACE, "key": key, "value": value}
                  for key, value in changes.items()]
        self.ledger.begin(changes)
        answer = exchange(self.connection, "POST", "/v1/batch/put", {"writes": writes})
        self._expect(answer, (200,), "batch")
        results = json.loads(answer.body)["results"]
        self.ledger.acknowledge({result["key"]: f'"{result["cas"]}"' for result in results})

    def _count(self):
        name = f"counter-{self.random.randrange(COUNTERS)}"
        with self.counters_lock:
            self.counters[name].begin()
        answer = exchange(self.connection, "POST", f"{document_path(name)}/counter",
                          {"delta": 1, "initial": 1})
        self._expect(answer, (200, 201), f"counter {name}")
        with self.counters_lock:
            self.counters[name].acknowledge(json.loads(answer.body)["value"])

    def _read(self):
        key = self._key()
        known, found = self.ledger.documents.get(key), read_document(self.connection, key)
        if known != found:
            raise Unexpected(f"GET {key}: acknowledged {known}, read {found}")
