#!/usr/bin/env python3
"""Documents read over REST that are stored in an old version of their type, and so migrated for each
reader, against documents that are given as they are stored. Load comes from wrk, as in http_bench.py."""

import json
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/lib"), str(ROOT / "bench")]
from http_bench import compare, wrk  # noqa: E402
from sluice_server import SluiceServer  # noqa: E402

TEXT = "river gate lock water level open " * 25
STEPS = [{"from": "1.0", "to": "2.0", "steps": [{"rename": {"phone": "mobile"}}]}]
CODE = [{"file": "m.js", "code": "module.exports = {'1.0 -> 2.0'(doc) { const {phone, ...rest} = doc; "
                                 "return {...rest, _schema: '2.0', mobile: phone}; }};"}]


def make(server, bucket, version, migrations):
    """A bucket with one document of 1 KB, and then with a type."""
    server.request("PUT", f"/v1/buckets/{bucket}")
    body = {"_schema": version, "userId": 1, "name": "Joe Smith", "text": TEXT,
            "phone" if version == "1.0" else "mobile": "1234567890"}
    server.request("PUT", f"/v1/docs/{bucket}/user:1", body)
    if migrations:
        answer = server.request("PUT", f"/v1/types/{bucket}", {
            "type": bucket, "keyspace": bucket, "match": {"key": "user:{userId}"},
            "properties": {"schema": "_schema"}, "schema": "2.0", "migrations": migrations})
        if answer.status != 201:
            raise RuntimeError(f"the type: {answer.status} {answer.body[:2000]}")
    path = f"/v1/docs/{bucket}/user:1"
    if "mobile" not in json.loads(server.request("GET", path).body):
        raise RuntimeError(f"{path} is not read in version 2.0")
    return f"http://127.0.0.1:{server.ports['http']}{path}"


def main():
    scratch = ROOT / "build/bench-types"
    shutil.rmtree(scratch, ignore_errors=True)
    server = SluiceServer(os.environ.get("SLUICE", str(ROOT / "build/sluice")), data=scratch)
    try:
        server.start()
        pids = [server.process.pid]
        plain = make(server, "plain", "2.0", None)
        for name, migrations in (("declared steps", STEPS), ("JavaScript", CODE)):
            url = make(server, "steps" if migrations is STEPS else "code", "1.0", migrations)
            compare(f"REST GET of a document migrated by {name}", lambda: wrk(url, pids),
                    lambda: wrk(plain, pids), "of one as it is stored", 0.5)
        server.stop()
    finally:
        server.close()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
