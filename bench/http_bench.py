#!/usr/bin/env python3
"""The server over HTTP: an empty route against nginx, documents against the empty route; then how
start, memory, reads and writes change from 10 thousand to 1 million documents of 1 KB.

Load comes from wrk, one thread and one set of keep-alive connections, always the same. Every
comparison alternates between the two sides and takes medians. Prints one JSON line a measurement.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/lib"))
from sluice_server import SluiceServer  # noqa: E402

CONNECTIONS = 64
SECONDS = 2
ROUNDS = 3
IMPORT_LINES = 5000

NGINX_CONF = """
daemon off; worker_processes 1; pid {directory}/pid; error_log {directory}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000000;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "ok"; }} }}
}}
"""

# The same load generator for both sides: requests made beforehand, given out in turn. The empty
# route is asked with a path of its own for each request too.
WRK_SCRIPT = """
local body = string.format('{{"type":"user","text":"%s"}}', string.rep("river gate lock ", 62))
local requests, next = {{}}, 0
init = function()
  math.randomseed(7)
  for i = 1, {distinct} do
    local key = string.format("user::%08d", math.random(0, {documents} - 1))
    requests[i] = wrk.format("{method}", "{path}" .. key,
                             {{["Content-Type"] = "application/json"}}, {body})
  end
end
request = function()
  next = next % {distinct} + 1
  return requests[next]
end
"""
DISTINCT_REQUESTS = 20_000


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wrk(url, pids, script=None):
    """(requests per second, CPU microseconds of the processes per request)"""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", url]
    before = sum(map(cpu_seconds, pids))
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        if script:
            file.write(script)
            file.flush()
            command[1:1] = ["-s", file.name]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cpu = sum(map(cpu_seconds, pids)) - before
    if "Non-2xx" in output:
        raise RuntimeError(f"{url}: not every answer was a success\n{output}")
    rate = float(re.search(r"Requests/sec:\s*([\d.]+)", output).group(1))
    requests = int(re.search(r"(\d+) requests in", output).group(1))
    return rate, cpu / requests * 1e6


def compare(name, ours, yardstick, yardstick_name, goal):
    """`ours` and `yardstick` are functions that return what wrk() does. What is measured is the
    steady state: the first round of each, with cold caches, does not count."""
    yardstick(), ours()
    rounds = [(yardstick(), ours()) for _ in range(ROUNDS)]
    rate = statistics.median(our[0] for _, our in rounds)
    cpu = statistics.median(our[1] for _, our in rounds)
    base_rate = statistics.median(base[0] for base, _ in rounds)
    base_cpu = statistics.median(base[1] for base, _ in rounds)
    print(json.dumps({
        "name": name, "value": round(rate), "unit": "requests/s",
        "yardstick": f"{yardstick_name}: {base_rate:.0f}",
        "ratio": round(statistics.median(our[0] / base[0] for base, our in rounds), 3), "goal": goal,
        "cpu_us_per_request": round(cpu, 2), "yardstick_cpu_us_per_request": round(base_cpu, 2),
        "cpu_ratio": round(base_cpu / cpu, 3)}), flush=True)


def value(name, measured, unit, goal):
    print(json.dumps({"name": name, "value": measured, "unit": unit, "yardstick": None,
                      "ratio": None, "goal": goal}), flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Nginx:
    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="sluice-bench-")
        self.port = free_port()
        config = pathlib.Path(self.directory) / "nginx.conf"
        config.write_text(NGINX_CONF.format(directory=self.directory, port=self.port))
        self.process = subprocess.Popen(["nginx", "-c", config, "-p", self.directory],
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("nginx did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def pids(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [self.process.pid, *map(int, children.read_text().split())]


def bench_empty_route(server):
    with Nginx() as nginx:
        compare("empty route",
                lambda: wrk(f"http://127.0.0.1:{server.ports['http']}/livez", [server.process.pid]),
                lambda: wrk(f"http://127.0.0.1:{nginx.port}/", nginx.pids()),
                "nginx, return 200", 0.7)


def bench_documents(server, documents, size):
    url = f"http://127.0.0.1:{server.ports['http']}"
    pids = [server.process.pid]

    def script(method, path, body):
        return WRK_SCRIPT.format(documents=documents, method=method, path=path, body=body,
                                 distinct=DISTINCT_REQUESTS)

    empty = script("GET", "/livez?key=", "nil")
    for method, body, goal in (("GET", "nil", 0.7), ("PUT", "body", 0.5)):
        ours = script(method, "/v1/docs/bench/", body)
        compare(f"REST {method}, {size} documents", lambda: wrk(url, pids, ours),
                lambda: wrk(url, pids, empty), "empty route of the same server", goal)


def load(server, documents):
    text = "river gate lock " * 62
    for first in range(0, documents, IMPORT_LINES):
        lines = "".join(json.dumps({"key": f"user::{n:08}", "value": {"type": "user", "text": text}},
                                   separators=(",", ":")) + "\n"
                        for n in range(first, min(first + IMPORT_LINES, documents)))
        answer = server.request("POST", "/v1/import/bench", lines.encode(),
                                {"Content-Type": "application/x-ndjson"})
        if answer.status != 200:
            raise RuntimeError(f"import: {answer.status} {answer.body[:500]}")


def bench_start(server, size, goals):
    """Start time to the line with the ports, and memory when nothing has been asked yet."""
    times = []
    for _ in range(ROUNDS):
        began = time.monotonic()
        server.start()
        times.append((time.monotonic() - began) * 1000)
        time.sleep(0.5)
        memory = rss_bytes(server.process.pid)
        server.stop()
    value(f"start time, {size} documents", round(statistics.median(times), 1), "ms", goals[0])
    value(f"idle memory, {size} documents", round(memory / 1e6, 1), "MB", goals[1])


def main():
    binary = os.environ.get("SLUICE", str(ROOT / "build/sluice"))
    scratch = ROOT / "build/bench-server"
    shutil.rmtree(scratch, ignore_errors=True)
    server = SluiceServer(binary, data=scratch)
    try:
        bench_start(server, "0", ("<= 300", "<= 60"))
        server.start()
        bench_empty_route(server)
        server.request("PUT", "/v1/buckets/bench")
        for documents, size in ((10_000, "10k"), (1_000_000, "1M")):
            load(server, documents)
            bench_documents(server, documents, size)
            server.stop()
            bench_start(server, size, (None, None))
            server.start()
        server.stop()
    finally:
        server.close()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
