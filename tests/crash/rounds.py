"""What the crash tests of functions, triggers, flows and types share."""

import argparse
import json
import time

from sluice_server import exchange


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def ask(connection, statement, txid=None):
    """The rows of a statement."""
    body = {"statement": statement, "metrics": False, "signature": False}
    if txid:
        body["txid"] = txid
    answer = exchange(connection, "POST", "/query/service", body)
    result = json.loads(answer.body)
    if result["status"] != "success":
        raise RuntimeError(f"{statement}: {answer.status} {answer.body[:500]!r}")
    return result["results"]


def kill_and_start(server, clients, chance):
    """Kills the server under its clients, which must end, and starts it again: sometimes at the second
    try, because it was killed while it started."""
    server.kill()
    for client in clients:
        client.join()
        if client.problem:
            raise client.problem
    if chance.random() < 0.3:
        server.start_and_kill(chance.uniform(0.01, 0.5))
    server.start()
