#!/usr/bin/env python3
"""Runs Couchbase's official Node.js SDK against the query service.

Usage: tests/couchbase_sdk/run_sdk.py --sluice BINARY [--sdk DIRECTORY]

The SDK learns where the services are over the key-value protocol, which the server does not speak:
KeyValueStub below answers just that, and everything else goes to the real server. The SDK is a
package of npm that scripts/deps.sh puts into build/deps/couchbase; where it is not, the test says so
and ends with 77, which ctest shows as skipped.
"""

import argparse
import json
import pathlib
import shutil
import socketserver
import struct
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))

from sluice_server import SluiceServer, find_sluice  # noqa: E402

SKIPPED = 77
USER = "root"
PASSWORD = "only-for-this-test"
HEADER = struct.Struct(">BBHBBHIIQ")  # magic, opcode, key, extras, datatype, status, body, opaque, cas
RESPONSE = 0x81
NOT_SUPPORTED = 0x83
HELLO, LIST_MECHANISMS, AUTHENTICATE, STEP = 0x1F, 0x20, 0x21, 0x22
NOOP, SELECT_BUCKET, GET_CONFIG, GET_ERROR_MAP = 0x0A, 0x89, 0xB5, 0xFE
# Extended errors, SELECT_BUCKET, JSON, collections, extended attributes.
FEATURES = {0x07, 0x08, 0x0B, 0x12, 0x06}


class KeyValueStub(socketserver.ThreadingTCPServer):
    """A key-value service that only tells where the others are; anybody may log in."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, server):
        super().__init__(("127.0.0.1", 0), Connection)
        self.port = self.server_address[1]
        self.services = {"kv": self.port, "mgmt": server.ports["http"],
                         "n1ql": server.ports["http"],
                         "eventingAdminPort": server.ports["eventing"]}

    def config(self, bucket):
        config = {"rev": 1, "revEpoch": 1, "nodesExt": [{"thisNode": True, "services": self.services}],
                  "clusterCapabilitiesVer": [1, 0],
                  "clusterCapabilities": {"n1ql": ["enhancedPreparedStatements"]}}
        if bucket:
            config.update(name=bucket, uuid="0" * 32, nodeLocator="vbucket",
                          vBucketServerMap={"hashAlgorithm": "CRC", "numReplicas": 0,
                                            "serverList": [f"127.0.0.1:{self.port}"],
                                            "vBucketMap": [[0]]})
        return json.dumps(config).encode()


class Connection(socketserver.BaseRequestHandler):
    bucket = None

    def handle(self):
        try:
            while True:
                self.answer()
        except (EOFError, ConnectionError):
            pass

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.request.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def answer(self):
        _, opcode, key_size, extras, _, _, size, opaque, _ = HEADER.unpack(self.read(HEADER.size))
        body = self.read(size)
        key = body[extras:extras + key_size]
        value = self.value_for(opcode, key, body[extras + key_size:])
        status = NOT_SUPPORTED if value is None else 0
        datatype = 1 if opcode == GET_CONFIG else 0
        value = value or b""
        self.request.sendall(
            HEADER.pack(RESPONSE, opcode, 0, 0, datatype, status, len(value), opaque, 0) + value)

    def value_for(self, opcode, key, value):
        if opcode == HELLO:
            asked = struct.unpack(f">{len(value) // 2}H", value)
            agreed = [feature for feature in asked if feature in FEATURES]
            return struct.pack(f">{len(agreed)}H", *agreed)
        if opcode == LIST_MECHANISMS:
            return b"PLAIN"
        if opcode == GET_ERROR_MAP:
            return json.dumps({"version": 1, "revision": 1, "errors": {}}).encode()
        if opcode == SELECT_BUCKET:
            self.bucket = key.decode()
            return b""
        if opcode == GET_CONFIG:
            return self.server.config(self.bucket)
        return b"" if opcode in (AUTHENTICATE, STEP, NOOP) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", default=None)
    parser.add_argument("--sdk", default=str(ROOT / "build" / "deps" / "couchbase"))
    options = parser.parse_args()
    modules = pathlib.Path(options.sdk) / "node_modules"
    if shutil.which("node") is None or not (modules / "couchbase").exists():
        print(f"skipped: the SDK is not in {modules}")
        sys.exit(SKIPPED)
    with SluiceServer(find_sluice(options.sluice)) as server:
        account = json.dumps({"password": PASSWORD, "roles": ["admin"]}).encode()
        made = server.request("PUT", f"/v1/users/{USER}", account)
        if made.status not in (200, 201):
            sys.exit(f"the user could not be made: {made}")
        with KeyValueStub(server) as stub:
            threading.Thread(target=stub.serve_forever, daemon=True).start()
            walk = subprocess.run(
                ["node", ROOT / "tests" / "couchbase_sdk" / "walk.cjs", modules / "couchbase",
                 f"couchbase://127.0.0.1:{stub.port}?sasl_mech_force=PLAIN", USER, PASSWORD],
                timeout=240, check=False)
            stub.shutdown()
    sys.exit(walk.returncode)


if __name__ == "__main__":
    main()
