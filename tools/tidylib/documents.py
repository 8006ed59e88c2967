"""A path that a document names exists."""

import pathlib
import re

TOP_LEVEL = {"src", "tests", "tools", "docs", "bench", "examples", "cmake", "scripts", "web", ".ci"}
ROOT_FILES = re.compile(r"(Makefile|LICENSE|CMakeLists\.txt|CMakePresets\.json|[A-Z]+\.md)")
PATH = re.compile(r"[\w.@+-]+(/[\w.@+*-]+)*/?")


def candidates(text):
    """(line, kind, target) of the code spans and links outside fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            for match in re.finditer(r"`([^`]+)`", line):
                yield number, "span", match[1]
            for match in re.finditer(r"\[[^\]]*\]\(([^)\s]+)\)", line):
                yield number, "link", match[1]


def wanted_path(tree, target):
    """The path that a code span means, relative to the root; None if it means no path."""
    target = re.sub(r":\d+$", "", target)
    if not PATH.fullmatch(target):
        return None
    parts = target.strip("/").split("/")
    if "/" in target and parts[0] in TOP_LEVEL:
        return target
    if len(parts) == 1 and ROOT_FILES.fullmatch(target):
        return target
    module_file = len(parts) > 1 and parts[0] in tree.modules
    if module_file and pathlib.PurePath(target).suffix in (".h", ".cc", ".md"):
        return f"src/{target}"
    return None


def check_paths(tree):
    for page in (path for path in tree.files if path.endswith(".md")):
        here = (tree.root / page).parent
        for line, kind, target in candidates(tree.read(page)):
            if kind == "link":
                if re.match(r"[a-z]+:|#", target):
                    continue
                found = (here / target.split("#")[0]).exists()
            else:
                path = wanted_path(tree, target)
                if path is None:
                    continue
                found = (any(tree.root.glob(path)) if "*" in path
                         else tree.exists(path) or (here / path).exists())
            if not found:
                yield f"{page}:{line}: path: {target} does not exist"
