#!/usr/bin/env python3
"""Documents read over REST that are stored in an old version of their type, and so migrated for each
reader, against documents that are given as they are stored: one document again and again, and so many
that most of what was made of them is not kept. Load comes from wrk, as in http_bench.py."""

import json
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/lib"), str(ROOT / "bench")]
from http_bench import IMPORT_LINES, WRK_SCRIPT, compare, wrk  # noqa: E402
from sluice_server import SluiceServer  # noqa: E402

TEXT = "river gate lock water level open " * 25
STEPS = [{"from": "1.0", "to": "2.0", "steps": [{"rename": {"phone": "mobile"}}]}]
CODE = [{"file": "m.js", "code": "module.exports = {'1.0 -> 2.0'(doc) { const {phone, ...rest} = doc; "
                                 "return {...rest, _schema: '2.0', mobile: phone}; }};"}]
MANY = 80_000      # of 1 KB: five times what a type keeps
REQUESTS = 60_000  # for some 42 thousand of them


def make(server, bucket, version, migrations):
    """A bucket with documents of 1 KB, and then with a type."""
    server.request("PUT", f"/v1/buckets/{bucket}")
    body = {"_schema": version, "userId": 1, "name": "Joe Smith", "text": TEXT,
            "phone" if version == "1.0" else "mobile": "1234567890"}
    for first in range(0, MANY, IMPORT_LINES):
        lines = "".join(json.dumps({"key": f"user::{n:08}", "value": body}) + "\n"
                        for n in range(first, first + IMPORT_LINES))
        answer = server.request("POST", f"/v1/import/{bucket}", lines.encode(),
                                {"Content-Type": "application/x-ndjson"})
        if answer.status != 200:
            raise RuntimeError(f"import: {answer.status} {answer.body[:500]}")
    if migrations:
        answer = server.request("PUT", f"/v1/types/{bucket}", {
            "type": bucket, "keyspace": bucket, "match": {"key": "user::{userId}"},
            "properties": {"schema": "_schema"}, "schema": "2.0", "migrations": migrations})
        if answer.status != 201:
            raise RuntimeError(f"the type: {answer.status} {answer.body[:2000]}")
    path = f"/v1/docs/{bucket}/"
    if "mobile" not in json.loads(server.request("GET", f"{path}user::00000000").body):
        raise RuntimeError(f"{path} is not read in version 2.0")
    return path


def main():
    scratch = ROOT / "build/bench-types"
    shutil.rmtree(scratch, ignore_errors=True)
    server = SluiceServer(os.environ.get("SLUICE", str(ROOT / "build/sluice")), data=scratch)
    try:
        server.start()
        pids = [server.process.pid]
        url = f"http://127.0.0.1:{server.ports['http']}"
        plain = make(server, "plain", "2.0", None)

        def read(path, documents):
            return wrk(url, pids, WRK_SCRIPT.format(documents=documents, method="GET", path=path, body="nil",
                                                    distinct=REQUESTS))

        for bucket, name, migrations in (("steps", "declared steps", STEPS), ("code", "JavaScript", CODE)):
            path = make(server, bucket, "1.0", migrations)
            for documents, which in ((1, "the same again and again"), (MANY, f"of {MANY} in turn")):
                compare(f"REST GET of documents migrated by {name}, {which}", lambda: read(path, documents),
                        lambda: read(plain, documents), "as they are stored", 0.5)
        server.stop()
    finally:
        server.close()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
