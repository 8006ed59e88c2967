"""docs/threads.md and docs/locks.md are complete: every kind of thread and every mutex of the product
has a row there, and every row names something that is in the code."""

import re

from .tree import CPP_SUFFIXES, line_of

THREADS = "docs/threads.md"
LOCKS = "docs/locks.md"
PRODUCT = re.compile(r"src/(?!base/(?:thread|mutex|clock|locked)\.).*(?<!_test)(?<!_fuzz)\.(cc|h)")
HELPER = re.compile(r"(^|/)test_\w+\.h$")

# `Thread({"kind"`, `ThreadName{"kind"`, `thread_({"kind"`, and the kinds that pools are given.
KIND = re.compile(r'(?:\bThread(?:\s+\w+)?\(\{|\bThreadName\{|thread_\(\{|\(\{\.kind =|PoolOptions\{\.kind =)\s*"([^"]+)"')
UNNAMED = re.compile(r"\bstd::j?thread\b(?!::)")
MUTEX = re.compile(r"^\s*(?:alignas\([^)]*\)\s+)?(?:mutable\s+|static\s+)?(?:std::(?:shared_|recursive_)?mutex|(?:Shared)?Mutex)\s+(\w+)\s*[;{]",
                   re.MULTILINE)
# Clang checks nothing of these (base/mutex.h).
UNCHECKED = re.compile(r"\bstd::(?:(?:shared_|recursive_|timed_)?mutex|condition_variable)\b")
ROW = re.compile(r"^\| (.*?) \| (.*?) \|", re.MULTILINE)


def product(tree):
    for path in tree.under("src", suffixes=CPP_SUFFIXES):
        if PRODUCT.fullmatch(path) and not HELPER.search(path):
            yield path, tree.read(path)


def rows(tree, page):
    """{line: (first cell, second cell)} of a page's table, without its head."""
    text = tree.read(page)
    found = {line_of(text, match.start()): match.groups() for match in ROW.finditer(text)}
    return {line: cells for line, cells in found.items() if "`" in cells[0]}


def check_threads(tree):
    if not tree.exists(THREADS):
        return
    listed = {cells[0].strip("`"): line for line, cells in rows(tree, THREADS).items()}
    made = set()
    for path, text in product(tree):
        for match in UNNAMED.finditer(text):
            yield f"{path}:{line_of(text, match.start())}: thread: has no name (base/thread.h)"
        for match in KIND.finditer(text):
            made.add(match[1])
            if match[1] not in listed:
                yield (f"{path}:{line_of(text, match.start())}: thread: the kind '{match[1]}' has no row "
                       f"in {THREADS}")
    for kind, line in listed.items():
        if kind not in made:
            yield f"{THREADS}:{line}: thread: nothing makes a thread of the kind '{kind}'"


def check_locks(tree):
    if not tree.exists(LOCKS):
        return
    listed = {}  # file -> names of its mutexes
    for line, (files, mutexes) in rows(tree, LOCKS).items():
        names = {name.split("::")[-1] for name in re.findall(r"`([^`]+)`", mutexes)}
        for file in re.findall(r"`(src/[^`]+)`", files):
            listed.setdefault(file, (line, set()))[1].update(names)
    found = {}
    for path, text in product(tree):
        for match in MUTEX.finditer(text):
            found.setdefault(path, set()).add(match[1])
            if match[1] not in listed.get(path, (0, set()))[1]:
                yield (f"{path}:{line_of(text, match.start())}: lock: '{match[1]}' has no row in {LOCKS}")
    for file, (line, names) in listed.items():
        for name in sorted(names - found.get(file, set())):
            yield f"{LOCKS}:{line}: lock: {file} has no mutex '{name}'"


def check_annotations(tree):
    for path, text in product(tree):
        for match in UNCHECKED.finditer(text):
            yield f"{path}:{line_of(text, match.start())}: lock: use Mutex and CondVar (base/mutex.h)"
