#!/usr/bin/env python3
"""Kills an owner that feeds a standby through a pipe, again and again, and compares their rows.

Usage: tests/crash/run_standby_crash.py --worker BINARY [--rounds 10] [--seed 1]
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time


class Pair:
    """A standby, and an owner that feeds it."""

    def __init__(self, worker, directory, mode):
        self.standby = subprocess.Popen([worker, "follow", f"{directory}/standby"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        begin = self.standby.stdout.readline().strip()
        self.owner = subprocess.Popen([worker, mode, f"{directory}/owner", begin],
                                      stdout=self.standby.stdin)
        self.standby.stdin.close()  # the owner has the only end to write to

    def end_of_standby(self):
        said = self.standby.stdout.read().strip()
        self.standby.stdout.close()
        return self.standby.wait(), said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="sluice-standby-") as directory:
        for round_number in range(1, arguments.rounds + 1):
            pair = Pair(arguments.worker, directory, "feed")
            time.sleep(chance.uniform(0.02, 0.4))
            killed_too = chance.random() < 0.3
            if killed_too:
                pair.standby.kill()
            ended = pair.owner.poll()
            pair.owner.kill()
            pair.owner.wait()
            if ended is not None:
                sys.exit(f"round {round_number}: the owner ended with {ended}")
            code, said = pair.end_of_standby()
            if code != 0 and not killed_too:
                sys.exit(f"round {round_number}: the standby ended with {code}: {said}")
        pair = Pair(arguments.worker, directory, "finish")
        if pair.owner.wait() != 0 or pair.end_of_standby()[0] != 0:
            sys.exit("the last groups could not be sent")
        check = subprocess.run([arguments.worker, "compare", f"{directory}/owner",
                                f"{directory}/standby"], stdout=subprocess.PIPE, text=True)
    print(f"{arguments.rounds} kills, seed {arguments.seed}: {check.stdout.strip()}")
    sys.exit(check.returncode)


if __name__ == "__main__":
    main()
