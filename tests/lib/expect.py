"""Compares what came with what a test file says, with wildcards and captures.

In text, `…` matches anything within a line and a line that is only `…` matches any number of lines.
In JSON, the string "…" matches any value, `…` inside a string matches any text, and the key "…"
allows further fields. {{name}} matches anything the first time and is remembered; from then on it
stands for what it matched. Numbers are compared as they are written: 1 is not 1.0.
"""

import json
import re
from typing import NamedTuple

ANY = "…"
CAPTURE = re.compile(r"\{\{(\w+)\}\}")


class Number(NamedTuple):
    text: str


def parse_json(text):
    """The value with numbers kept as written. Raises ValueError."""
    return json.loads(text, parse_int=Number, parse_float=Number)


def fill(text, captures):
    """Replaces {{name}} by its value and {{repeat N X}} by N times X. Raises KeyError."""
    text = re.sub(r"\{\{repeat (\d+) (.*?)\}\}", lambda match: match[2] * int(match[1]), text)
    return CAPTURE.sub(lambda match: captures[match[1]], text)


def match_line(expected, actual, captures):
    """Whether the line is as expected; new captures are added on success."""
    pattern, names = "", []
    for part in re.split(r"(\{\{\w+\}\}|…)", expected):
        capture = CAPTURE.fullmatch(part)
        if part == ANY:
            pattern += ".*"
        elif capture and capture[1] in captures:
            pattern += re.escape(captures[capture[1]])
        elif capture and capture[1] in names:
            pattern += f"(?P={capture[1]})"
        elif capture:
            pattern += f"(?P<{capture[1]}>.*)"
            names.append(capture[1])
        else:
            pattern += re.escape(part)
    match = re.fullmatch(pattern, actual, re.DOTALL)
    if match:
        captures.update(match.groupdict())
    return match is not None


def match_lines(expected, actual, captures):
    """Whether the lists of lines agree."""
    if not expected:
        return not actual
    if expected[0].strip() == ANY:
        return any(match_lines(expected[1:], actual[skip:], captures)
                   for skip in range(len(actual) + 1))
    return (bool(actual) and match_line(expected[0], actual[0], captures)
            and match_lines(expected[1:], actual[1:], captures))


def json_difference(expected, actual, captures, path="$"):
    """None if the values agree, else where and how they do not."""
    if isinstance(expected, str):
        if expected == ANY:
            return None
        text = actual.text if isinstance(actual, Number) else actual
        whole_capture = CAPTURE.fullmatch(expected) and isinstance(actual, Number)
        if isinstance(text, str) and (whole_capture or not isinstance(actual, Number)):
            if match_line(expected, text, captures):
                return None
    elif isinstance(expected, dict) and isinstance(actual, dict):
        return _object_difference(expected, actual, captures, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{path}: expected {len(expected)} elements, got {len(actual)}"
        differences = (json_difference(want, got, captures, f"{path}[{i}]")
                       for i, (want, got) in enumerate(zip(expected, actual)))
        return next((found for found in differences if found), None)
    elif type(expected) is type(actual) and expected == actual:
        return None
    return f"{path}: expected {show(expected)}, got {show(actual)}"


def _object_difference(expected, actual, captures, path):
    missing = expected.keys() - actual.keys() - {ANY}
    extra = actual.keys() - expected.keys() if ANY not in expected else set()
    if missing or extra:
        parts = [f"no '{key}'" for key in sorted(missing)]
        parts += [f"unexpected '{key}'" for key in sorted(extra)]
        return f"{path}: {', '.join(parts)}"
    for key in expected:
        if key != ANY:
            found = json_difference(expected[key], actual[key], captures, f"{path}.{key}")
            if found:
                return found
    return None


def show(value):
    return value.text if isinstance(value, Number) else json.dumps(
        value, ensure_ascii=False, default=lambda number: number.text)
