#!/usr/bin/env python3
"""Kills cursor_worker again and again and checks that a durable follower's effects happen once.

Usage: tests/crash/run_cursor_crash.py --worker BINARY [--rounds 20] [--seed 1]
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="sluice-crash-") as directory:
        data = f"{directory}/data"
        for round_number in range(1, arguments.rounds + 1):
            worker = subprocess.Popen([arguments.worker, data], stdout=subprocess.PIPE, text=True)
            time.sleep(chance.uniform(0.02, 0.5))
            ended = worker.poll()
            worker.kill()
            said = worker.communicate()[0]
            if ended is not None:
                sys.exit(f"round {round_number}: the worker ended with {ended}: {said}")
        check = subprocess.run([arguments.worker, data, "--check"], stdout=subprocess.PIPE, text=True)
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {check.stdout.strip()}")
    sys.exit(check.returncode)


if __name__ == "__main__":
    main()
