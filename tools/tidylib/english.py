"""Documents and messages are in plain English: the worst phrases that a reader must decode fail.

A phrase without a subject ("what is there", "who asks") or in the passive ("is told") hides who does
what. Say it with the server, a file or "you" as the subject. Comments are not checked.
"""

import re

from .threads import product
from .tree import line_of

# A phrase, and what to say instead.
PHRASES = [
    (r"\b(?:is|are|was|were|be|been) told\b", "say who reports what to whom"),
    (r"\bwho(?:ever)? asks?\b|\bwhoever\b", "name the user, the client or the caller"),
    (r"\bthere (?:is|are) none\b", "say that it does not exist, or name what is missing"),
    (r"\bwhat (?:is|was|are) (?:not )?there\b|\bwhat there is\b", "name the thing"),
    (r"\b(?:is|are|was|were) not there\b", "say that it does not exist"),
    (r"\b(?:is|are) there (?:twice|already)\b", "say that it appears twice, or already exists"),
    (r"\bhears? of\b|\bheard of\b", "say that it gets or sees the event"),
    (r"\b(?:is|are|was|were) done with\b", "say what has finished what"),
    (r"\bpassed over\b", "say who ignores or skips it"),
    (r"\banew\b", "say 'again'"),
    (r"\bin any case of letters\b", "say that it is not case-sensitive"),
    (r"\bas may\b", "name the limit"),
    (r"\b(?:after|for|at most) so (?:many|long|much)\b", "say 'this many' or 'this long'"),
]
PATTERN = re.compile("|".join(f"({phrase})" for phrase, _ in PHRASES), re.IGNORECASE)

DIRECTORIES = ("docs", "examples", "clients")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
LITERAL = re.compile(r'R"(?P<tag>[^(\s]*)\((?P<raw>.*?)\)(?P=tag)"'
                     r'|"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])'", re.DOTALL)
TOKEN = re.compile(f"(?:{COMMENT.pattern})|(?P<literal>{LITERAL.pattern})", re.DOTALL)


def pages(tree):
    for path in tree.files:
        if path.endswith(".md") and (path in PAGES or path.split("/")[0] in DIRECTORIES):
            yield path, tree.read(path)


def literals(text):
    """(offset, content) of the string literals, neighbours joined as the compiler joins them."""
    for match in TOKEN.finditer(text):
        if match["literal"] is None:
            continue
        if match["raw"] is not None:
            yield match.start(), match["raw"]
        else:
            yield match.start(), "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match["literal"]))


def problem(path, line, match):
    advice = PHRASES[match.lastindex - 1][1]
    return f"{path}:{line}: english: '{match[0]}': {advice}"


def check_english(tree):
    for path, text in pages(tree):
        joined = re.sub(r"\s", " ", text)  # a phrase may be wrapped
        for match in PATTERN.finditer(joined):
            yield problem(path, line_of(text, match.start()), match)
    for path, text in product(tree):
        for start, content in literals(text):
            for match in PATTERN.finditer(content):
                yield problem(path, line_of(text, start), match)
