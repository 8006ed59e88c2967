"""Length of files and functions."""

import ast
import re

from .tree import line_of

MOST_FILE_LINES = 800
MOST_FUNCTION_LINES = 80

# What a brace counter must not see: comments, literals and preprocessor lines.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/'
    r'|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE)
TEMPLATE = re.compile(r"^\s*template\s*<(?:[^<>]|<[^<>]*>)*>\s*(?:requires[^{;]*?\)\s*)?")
SCOPE = re.compile(r"^(?:\[\[[^\]]*\]\]\s*|inline\s+|static\s+|typedef\s+)*"
                   r"(?:class|struct|union|enum|namespace|extern)\b")
INITIALISER = re.compile(r"\)[^:]*(?<!:):(?!:).*[\w>]$", re.DOTALL)


def strip_noise(text):
    """The same text, line for line, with noise replaced by spaces (a literal by quotes)."""
    def blank(match):
        kept = '""' if match[0][:1] in "\"'R" else ""
        return kept + "\n" * match[0].count("\n")
    return NOISE.sub(blank, text)


def kind_of(header):
    """What the brace after this text opens: a scope, a member's initialiser, a function or a
    block of something else."""
    while TEMPLATE.match(header):
        header = TEMPLATE.sub("", header, count=1)
    if SCOPE.match(header):
        return "scope"
    if "(" not in header:
        return "other"
    return "initialiser" if INITIALISER.search(header) else "function"


def cpp_functions(text):
    """(first line, last line, name) of every function that is not inside another one."""
    text = strip_noise(text)
    stack, start = [], 0
    for match in re.finditer(r"[{};]", text):
        closed = None
        if match[0] == "{":
            nested = any(kind in ("function", "initialiser") for kind, _, _ in stack)
            header = text[start:match.start()].strip()
            kind = "inner" if nested else kind_of(header)
            stack.append((kind, header, line_of_header(text, start)))
        elif match[0] == "}" and stack:
            closed, header, line = stack.pop()
            if closed == "function":
                yield line, line_of(text, match.start()), function_name(header)
        # Inside a body there are no headers; after a member's initialiser the header goes on.
        inside = any(kind in ("function", "initialiser") for kind, _, _ in stack)
        if not inside and closed != "initialiser":
            start = match.end()


def function_name(header):
    test = re.match(r"TEST\w*\([^)]*\)", header)
    name = re.search(r"([\w:~]+)\s*\(", header)
    return test[0] if test else name[1] if name else "lambda"


def line_of_header(text, start):
    rest = text[start:]
    return line_of(text, start + len(rest) - len(rest.lstrip()))


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno, node.name


def is_python(path, text):
    return path.endswith(".py") or text.startswith("#!/usr/bin/env python3")


def measure(tree):
    """([(lines, path)], [(lines, path, line, name)]) of all sources."""
    files, functions = [], []
    cpp = set(tree.cpp())
    for path in tree.under("src", "tests", "bench", "tools", "scripts", "web"):
        text = tree.read(path)
        python = is_python(path, text)
        if not python and not path.endswith((".cc", ".h", ".js", ".ts", ".sh", ".css")):
            continue
        files.append((text.count("\n"), path))
        found = cpp_functions(text) if path in cpp else python_functions(text) if python else ()
        functions += [(last - first + 1, path, first, name) for first, last, name in found]
    return sorted(files, reverse=True), sorted(functions, reverse=True)


def check_sizes(tree):
    files, functions = measure(tree)
    for lines, path in files:
        if lines > MOST_FILE_LINES:
            yield f"{path}:1: size: {lines} lines, more than {MOST_FILE_LINES}"
    for lines, path, line, name in functions:
        if lines > MOST_FUNCTION_LINES:
            yield f"{path}:{line}: size: {name} has {lines} lines, more than {MOST_FUNCTION_LINES}"


def worst(tree, count=5):
    files, functions = measure(tree)
    yield f"longest files (at most {MOST_FILE_LINES} lines):"
    yield from (f"  {lines:4} {path}" for lines, path in files[:count])
    yield f"longest functions (at most {MOST_FUNCTION_LINES} lines):"
    yield from (f"  {lines:4} {path}:{line} {name}" for lines, path, line, name in functions[:count])
