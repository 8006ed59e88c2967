"""Every error id in the sources has a line in docs/errors/README.md, and the other way round."""

import re

from .tree import CPP_SUFFIXES, line_of

PAGE = "docs/errors/README.md"
RAISED = re.compile(r'\b(?:Error|Fail|Status)\(\s*(?:\w+::)*Code::k\w+,\s*"([^"]*)"')
ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


def documented_ids(text):
    """[(id, line)] of the tables' first cells."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            cell = line.strip("|").split("|")[0].strip().strip("`")
            if ID.fullmatch(cell):
                found.append((cell, number))
    return found


def check_error_ids(tree):
    text = tree.read(PAGE) if tree.exists(PAGE) else ""
    documented = documented_ids(text)
    known = {name for name, _ in documented}
    sources = [path for path in tree.under("src", suffixes=CPP_SUFFIXES)
               if not path.endswith(("_test.cc", "_fuzz.cc"))]
    literals = set()
    for path in sources:
        source = re.sub(r"^\s*//.*", "", tree.read(path), flags=re.MULTILINE)
        literals.update(re.findall(r'"([a-z0-9_.]+)"', source))
        for match in RAISED.finditer(source):
            line = line_of(source, match.start(1))
            if not ID.fullmatch(match[1]):
                yield f"{path}:{line}: error id: '{match[1]}' is not dotted lower case"
            elif match[1] not in known:
                yield f"{path}:{line}: error id: '{match[1]}' has no line in {PAGE}"
    for name, line in documented:
        if name not in literals:
            yield f"{PAGE}:{line}: error id: '{name}' is not used in src/"
    for (before, _), (name, line) in zip(documented, documented[1:]):
        if name <= before:
            yield f"{PAGE}:{line}: error id: '{name}' is out of order or there twice"
