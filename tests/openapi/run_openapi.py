#!/usr/bin/env python3
"""Checks the server's OpenAPI document: its own rules here, answers of live calls against their
schemas (calls.py), then a validator, then generated types.

Usage: tests/openapi/run_openapi.py --sluice BINARY [--tools DIRECTORY]

The validator and the generator are packages of npm that scripts/deps.sh puts into
build/deps/openapi. Where they are not, what needs them is skipped, and the test says so: it ends
with 77, which ctest shows as skipped.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
sys.path.insert(0, str(ROOT / "tests" / "openapi"))

from calls import Api, scenario  # noqa: E402
from schema_check import resolve  # noqa: E402
from sluice_server import SluiceServer, find_sluice  # noqa: E402

SKIPPED = 77
METHODS = {"get", "put", "post", "delete", "patch", "head"}


def body_problems(where, contents, document):
    """What its schemas do not say."""
    for kind, content in contents.items():
        schema = content.get("schema")
        if not schema:
            yield f"{where}: {kind} without a schema"
        else:
            resolve(schema, document)


def answer_problems(where, operation, document):
    for status, response in operation["responses"].items():
        contents = response.get("content", {})
        if status.startswith("2") and status != "204" and not contents:
            yield f"{where}: {status} without a schema"
        yield from body_problems(f"{where}: {status}", contents, document)
    body = operation.get("requestBody", {})
    yield from body_problems(f"{where}: request", body.get("content", {}), document)


def operation_problems(path, method, operation, schemes):
    """What one operation lacks, as texts."""
    where = f"{method} {path}"
    if method not in METHODS:
        yield f"{where}: no method"
    if not operation.get("summary"):
        yield f"{where}: no summary"
    if "security" not in operation:
        yield f"{where}: no security"
    for choice in operation.get("security", []):
        for name in choice:
            if name not in schemes:
                yield f"{where}: unknown security scheme {name}"
    if not any(status == "101" or status.startswith("2") for status in operation["responses"]):
        yield f"{where}: no answer for success"
    if "default" not in operation["responses"]:
        yield f"{where}: no answer for errors"
    parameters = [(each["in"], each["name"]) for each in operation["parameters"]]
    for each in {each for each in parameters if parameters.count(each) > 1}:
        yield f"{where}: parameter {each} twice"
    in_path = {name for place, name in parameters if place == "path"}
    if in_path != set(re.findall(r"{([^}]*)}", path)):
        yield f"{where}: its path has other parameters than {sorted(in_path)}"


def problems_of(document):
    schemes = document["components"]["securitySchemes"]
    ids = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield from operation_problems(path, method, operation, schemes)
            yield from answer_problems(f"{method} {path}", operation, document)
            ids.append(operation.get("operationId"))
    for each in {each for each in ids if ids.count(each) > 1}:
        yield f"operationId {each} twice"
    shapes = [re.sub(r"{[^}]*}", "{}", path) for path in document["paths"]]
    for each in {each for each in shapes if shapes.count(each) > 1}:
        yield f"two paths have the form {each}"


def run(command, directory):
    """The output of a program that must succeed."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def run_tools(document, tools):
    with tempfile.TemporaryDirectory(prefix="sluice-openapi-") as name:
        directory = pathlib.Path(name)
        (directory / "openapi.json").write_text(json.dumps(document), "utf-8")
        (directory / "node_modules").symlink_to(tools / "node_modules")
        for script in ("validate.mjs", "uses_types.ts"):
            shutil.copy(ROOT / "tests" / "openapi" / script, directory / script)
        programs = tools / "node_modules" / ".bin"
        run(["node", "validate.mjs", "openapi.json"], directory)
        run([programs / "openapi-typescript", "openapi.json", "-o", "types.ts"], directory)
        run([programs / "tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext",
             "--moduleResolution", "nodenext", "types.ts", "uses_types.ts"], directory)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", default=None)
    parser.add_argument("--tools", default=str(ROOT / "build" / "deps" / "openapi"))
    options = parser.parse_args()
    with SluiceServer(find_sluice(options.sluice)) as server:
        answer = server.request("GET", "/openapi.json")
        if answer.status != 200:
            sys.exit(f"/openapi.json answers {answer.status}")
        document = json.loads(answer.body)
        problems = list(problems_of(document))
        with tempfile.TemporaryDirectory(prefix="sluice-openapi-") as directory:
            api = Api(server, document)
            scenario(api, pathlib.Path(directory))
        problems += api.problems
        all_of_them = sum(len(methods) for methods in document["paths"].values())
        print(f"{len(api.called)} of {all_of_them} operations were called")
    if problems:
        sys.exit("\n".join(problems))
    tools = pathlib.Path(options.tools)
    if shutil.which("node") is None or not (tools / "node_modules" / "openapi-typescript").exists():
        print(f"skipped the validator and the types: there are no tools in {tools}")
        sys.exit(SKIPPED)
    run_tools(document, tools)
    print(f"{len(document['paths'])} paths are described, and types made from them compile")


if __name__ == "__main__":
    main()
