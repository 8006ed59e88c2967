"""Clients of consumers for the trigger crash test: each records what it got and what it acknowledged.

What a client knows to be acknowledged must not come again after a crash, and what it has not
acknowledged must; events are numbered by the server without a gap.
"""

import json
import sys
import pathlib
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from devtools import Closed, WebSocket  # noqa: E402

OPTIONS = {"with_id": False, "with_sequence": True, "with_tid": True}
# How far ahead of its acknowledgements a client is sent rows; 0: it asks for each.
CONSUMERS = {"watch_each": ({}, 0), "watch_ahead": ({}, 20),
             "watch_batches": ({"batch_consume": True}, 50)}


class Record:
    """What has become of a consumer's events, across crashes. Numbers are those of events."""

    def __init__(self):
        self.events = {}     # number: [type, k, v, old v], as an audit has it
        self.tids = {}       # number: transaction
        self.sent = 0        # the last one whose acknowledgement was sent
        self.confirmed = 0   # the last one that is known to be consumed
        self.problems = []


class Consumer(threading.Thread):
    """Consumes until the server is gone."""

    def __init__(self, server, name, record, chance):
        super().__init__()
        self.name, self.record, self.chance = name, record, chance
        self.options, self.ahead = CONSUMERS[name]
        self.url = f"ws://127.0.0.1:{server.ports['http']}/query/stream"
        self.last = None   # the number of the last row
        self.rows = []     # the numbers of all rows of this connection
        self.acknowledged = 0  # of those
        self.old = (0, None)   # of an update: its number, and v
        self.problem = None

    def run(self):
        try:
            self.socket = WebSocket(self.url)
            self.socket.socket.settimeout(None)
            self.consume()
        except (OSError, Closed):
            pass  # killed
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error

    def send(self, **message):
        self.socket.send(json.dumps({"id": 1} | message))

    def consume(self):
        how = {"ahead": self.ahead} if self.ahead else {"next": 1}
        self.send(statement=f"EXEC PROCEDURE {self.name}($1)",
                  args=[json.dumps(OPTIONS | self.options)], **how)
        while True:
            message = json.loads(self.socket.receive())
            if "done" in message:
                if message["done"]["status"] == "stopped":
                    return
                raise RuntimeError(f"{self.name}: {message}")
            for row in message.get("rows", []):
                self.note(row)
            if "acknowledged" in message:
                self.confirm(self.rows[message["acknowledged"] - 1])
            if self.ahead:
                self.acknowledge_some()
            else:
                self.acknowledge(1)

    def acknowledge_some(self):
        """As far as chance says; of a batch the rest follows when there is nothing else to do."""
        waiting = len(self.rows) - self.acknowledged
        if waiting > 0:
            self.acknowledge(self.chance.choice((1, waiting, waiting)))
        if 0 < len(self.rows) - self.acknowledged:
            self.acknowledge(len(self.rows) - self.acknowledged)

    def acknowledge(self, rows):
        self.acknowledged += rows
        number = self.rows[self.acknowledged - 1]
        # Half of an update is not acknowledged.
        whole = self.acknowledged == len(self.rows) or self.rows[self.acknowledged] != number
        self.record.sent = max(self.record.sent, number if whole else number - 1)
        self.send(next=rows)

    def confirm(self, number):
        self.record.confirmed = max(self.record.confirmed, number)

    def note(self, row):
        number, tid, kind = row["comdb2_sequence"], row["comdb2_tid"], row["comdb2_event"]
        record = self.record
        if self.last is None:
            self.check_first(number, tid)
        elif number not in (self.last, self.last + 1):
            record.problems.append(f"{number} follows {self.last}")
        elif not self.ahead and number != self.last:
            self.confirm(self.last)  # asking for this one acknowledged that one
        self.last = number
        self.rows.append(number)
        record.tids[number] = tid
        if kind == "old":
            self.old = (number, row["v"])
            return
        if kind == "new" and self.old[0] != number:
            record.problems.append(f"{number} has a new row and no old one")
        event = {"add": ["add", row["k"], row["v"], None], "del": ["del", row["k"], None, row["v"]],
                 "new": ["upd", row["k"], row["v"], self.old[1]]}[kind]
        if record.events.setdefault(number, event) != event:
            record.problems.append(f"{number} was {record.events[number]}, and is {event} now")

    def check_first(self, number, tid):
        record = self.record
        if number <= record.confirmed:
            record.problems.append(f"{number} comes again, {record.confirmed} was acknowledged")
        if number > record.sent + 1:
            record.problems.append(f"{number} comes first, {record.sent} was the last acknowledged")
        before = record.tids.get(number - 1)
        if "batch_consume" in self.options and before == tid:
            record.problems.append(f"{number} is in the middle of transaction {tid}")


def compare(records, audited):
    """Problems of what was consumed, compared with an audit's rows."""
    expected = {row["s"]: [row["type"], row["k"], row["v"], row["old_v"]] for row in audited}
    broken = []
    for name, record in records.items():
        broken += [f"{name}: {problem}" for problem in record.problems[:20]]
        wrong = [number for number in expected if record.events.get(number) != expected[number]]
        if wrong or len(record.events) != len(expected):
            broken.append(f"{name} has {len(record.events)} of {len(expected)} events; wrong ones: "
                          f"{[(n, record.events.get(n), expected[n]) for n in wrong[:5]]}")
        # Everybody has acknowledged everything, and the server has nothing left.
        record.confirmed = record.sent
    return broken
