"""A client of the change feed that goes on after each crash where it was.

What it may expect: the changes of a key come in order and none comes twice, except that after a crash
a batch that had been delivered in part comes as a whole; what was delivered is durable, so a document
is never older than its last delivered change; and in the end the last change of every document has
been delivered.
"""

import json
import threading
import time

from client import GONE, KEYSPACE, Unexpected, is_of_batch


class Follower:
    """The thread of start() until it ended, then the checker's. `patience_s` is how long the feed may
    take to deliver what is left when nobody writes."""

    def __init__(self, patience_s):
        self.patience_s = patience_s
        self.last_id = None
        self.last_sequence = 0
        self.cut_sequence = 0  # of the commit at whose change the last connection ended
        self.seen = {}
        self.delivered = 0
        self.problems = []
        self.done = threading.Event()

    def start(self, server):
        self.cut_sequence = self.last_sequence
        connection = server.connect()
        thread = threading.Thread(target=self._run, args=(connection,), daemon=True)
        thread.start()
        return thread

    def _run(self, connection):
        try:
            headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
            connection.request("GET", f"/v1/feed/{KEYSPACE}?from=everything", headers=headers)
            response = connection.getresponse()
            if response.status != 200:
                raise Unexpected(f"feed: {response.status} {response.read(500)!r}")
            self._follow(response)
        except Unexpected as problem:
            self.problems.append(str(problem))
        except GONE:
            pass
        finally:
            connection.close()

    def _follow(self, response):
        event = {}
        while not self.done.is_set():
            line = response.readline()
            if not line:
                return
            if line.startswith(b":"):
                continue  # a comment: the server shows that it is there
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
            elif event:
                self.take(event)
                event = {}

    def take(self, event):
        """One event as {field: text}. An event that the kill cut short does not get here."""
        if event.get("event") == "error":
            raise Unexpected(f"feed: {event}")
        change = json.loads(event.get("data", "{}"))
        if "key" in change:
            key, cas = change["key"], int(change["cas"])
            before = self.seen.get(key, (0, ""))[0]
            again = cas == before and is_of_batch(key) and self.is_cut(change)
            if cas <= before and not again:
                self.problems.append(f"feed: {key} came with {cas} after {self.seen[key][0]}")
            self.seen[key] = (cas, change["operation"])
            self.last_sequence = change.get("sequence", 0)
            self.delivered += 1
        self.last_id = event.get("id", self.last_id)

    def is_cut(self, change):
        return self.cut_sequence != 0 and change.get("sequence") == self.cut_sequence

    def violations(self, documents):
        """After a crash: {key: Stored or None} of the documents that were just checked."""
        found, self.problems = self.problems, []
        for key, stored in documents.items():
            cas = self.seen.get(key, (0, ""))[0]
            if stored is not None and cas_of(stored) < cas:
                found.append(f"feed: {key} was delivered with {cas} and is now {stored}")
        return found

    def missing(self, documents):
        """The documents whose last change has not been delivered."""
        return [key for key, stored in documents.items() if not self._is_last(key, stored)]

    def _is_last(self, key, stored):
        cas, operation = self.seen.get(key, (0, "delete"))
        return operation == "delete" if stored is None else cas == cas_of(stored)

    def finish(self, server, documents):
        """At the end, without writers: follows until nothing is missing; returns what is."""
        self.done.clear()
        self.start(server)
        deadline = time.monotonic() + self.patience_s
        while self.missing(documents) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.done.set()
        return [f"feed: the last change of {key} was not delivered"
                for key in self.missing(documents)]


def cas_of(stored):
    return int(stored.etag.strip('"'))
