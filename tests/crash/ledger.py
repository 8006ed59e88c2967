"""What one client knows about its documents, and what it may find after a crash.

A client owns its keys: nobody else writes them. It does one commit at a time, so after a crash every
key has the value of its last acknowledged commit, except that the one commit that was under way is
there as a whole or not at all. Counters are shared: each acknowledged step counts once, each step
under way at a crash at most once.
"""

from typing import NamedTuple


class Stored(NamedTuple):
    """A document as the server tells it; absent documents are None instead."""
    value: object
    etag: str


class Ledger:
    """One client's documents. The client's thread while it writes, the checker's after it ended."""

    def __init__(self):
        self.documents = {}
        self.touched = set()
        self.under_way = None
        self.acknowledged = 0

    def begin(self, changes):
        """A commit is sent: {key: new value, None for a deletion}."""
        self.under_way = changes
        self.touched.update(changes)

    def acknowledge(self, etags):
        """The commit was acknowledged, with these etags by key."""
        for key, value in self.under_way.items():
            self.documents[key] = None if value is None else Stored(value, etags[key])
        self.under_way = None
        self.acknowledged += 1

    def violations(self, read, everything):
        """What the server broke, as texts; read(key) gives a Stored or None. Takes over what the
        commit under way turned out to be, so that the next round can go on."""
        found = list(self._settle(read))
        for key in sorted(self.documents if everything else self.touched & self.documents.keys()):
            expected, actual = self.documents[key], read(key)
            if actual != expected:
                found.append(f"{key}: acknowledged {expected}, found {actual}")
        self.touched = set()
        return found

    def _settle(self, read):
        changes, self.under_way = self.under_way or {}, None
        actual = {key: read(key) for key in changes}
        happened = {key: value_of(actual[key]) == value for key, value in changes.items()}
        before = {key: actual[key] == self.documents.get(key) for key in changes}
        if changes and all(happened.values()):
            self.documents.update(actual)
        elif not all(before.values()):
            details = ", ".join(f"{key}: was {self.documents.get(key)}, writing {value}, "
                                f"found {actual[key]}" for key, value in changes.items())
            yield f"a commit under way was neither applied nor left out: {details}"
            self.documents.update(actual)


def value_of(stored):
    return None if stored is None else stored.value


class Counter:
    """A shared counter, guarded by its user's lock."""

    def __init__(self):
        self.least = 0
        self.unknown = 0
        self.answers = set()
        self.twice = []

    def begin(self):
        self.unknown += 1

    def abandon(self):
        """The step was refused."""
        self.unknown -= 1

    def acknowledge(self, value):
        self.unknown -= 1
        self.least += 1
        if value in self.answers:
            self.twice.append(value)
        self.answers.add(value)

    def violations(self, name, actual):
        found = [f"{name}: two steps were answered with {value}" for value in self.twice]
        if not self.least <= actual <= self.least + self.unknown:
            found.append(f"{name}: {self.least} steps acknowledged and {self.unknown} under way, "
                         f"but it is {actual}")
        if self.answers and max(self.answers) > actual:
            found.append(f"{name}: {max(self.answers)} was answered, but it is {actual}")
        self.least, self.unknown, self.twice = actual, 0, []
        self.answers = {value for value in self.answers if value <= actual}
        return found
