"""Rules of plain text, and clang-format's opinion."""

import pathlib
import re
import shutil
import subprocess

from .tree import CPP_SUFFIXES

UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")


def check_text(tree):
    for path in tree.files:
        text = tree.read(path)
        if text and not text.endswith("\n"):
            yield f"{path}:{text.count(chr(10)) + 1}: text: no newline at the end"
        for number, line in enumerate(text.split("\n"), 1):
            if UNFINISHED.search(line):
                yield f"{path}:{number}: text: unfinished work is noted here"
            if line != line.rstrip():
                yield f"{path}:{number}: text: white space at the end of the line"
            if "\t" in line and pathlib.PurePath(path).suffix in CPP_SUFFIXES:
                yield f"{path}:{number}: text: tab"


def check_format(tree):
    files = tree.cpp()
    if not files or not tree.exists(".clang-format"):
        return
    if shutil.which("clang-format") is None:
        yield ".clang-format:1: format: clang-format is not installed"
        return
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=tree.root,
                          capture_output=True, text=True)
    places = re.findall(r"^(\S+?:\d+):\d+: error:", done.stderr, re.MULTILINE)
    seen = set()
    for place in places:
        path = place.split(":")[0]
        if path not in seen:
            seen.add(path)
            yield f"{place}: format: not as clang-format has it (make format)"
    if done.returncode != 0 and not places:
        yield f".clang-format:1: format: {done.stderr.strip()}"
