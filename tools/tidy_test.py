#!/usr/bin/env python3
"""Proves that each rule of tools/tidy can fail, on small trees made for the purpose."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDY = pathlib.Path(__file__).resolve().parent / "tidy"

# A tree without a problem; each test spoils one thing.
CLEAN = {
    "CMakeLists.txt": "# module(ghost)\nmodule(base LIBS fmt)\nmodule(json LIBS simdjson)\n"
                      "module(storage)\nmodule(db USES json storage\n  LIBS x)\n",
    "ARCHITECTURE.md": "| module | job | may include |\n|---|---|---|\n| `base` | b | – |\n"
                       "| `json`, `storage` | j | base |\n| `db` | d | json, storage |\n\n"
                       "See `src/db/db.cc`, `db/db.cc:1`, `tools/*.py`, `json/value` and [base](src/base).\n",
    ".clang-format": "BasedOnStyle: Google\nColumnLimit: 100\n",
    "docs/errors/README.md": "| id | HTTP | meaning |\n|---|---|---|\n| `db.gone` | 404 | gone |\n",
    "tools/x.py": "def f():\n    return 1\n",
    "src/base/README.md": "base\n",
    "src/json/README.md": "json\n",
    "src/json/json.cc": "#include <simdjson.h>\n",
    "src/storage/README.md": "storage\n",
    "src/storage/storage.cc": "#include <rocksdb/db.h>\n",
    "src/db/README.md": "db\n",
    "src/db/db.h": "#pragma once\n",
    "src/db/db.cc": '#include "db/db.h"\n\n#include "base/status.h"\n#include "json/json.h"\n'
                    '#include "storage/storage.h"\n\n'
                    'Status F() { return Error(Code::kNotFound, "db.gone", "gone"); }\n',
    "src/db/db_test.cc": 'Status G() { return Error(Code::kNotFound, "test.id", "x"); }\n',
}


def body(lines):
    return "".join(f"  x = {i};\n" for i in range(lines))


class TidyTest(unittest.TestCase):
    def tidy_files(self, files):
        """tidy's output for the clean tree with these files replaced (None removes one)."""
        with tempfile.TemporaryDirectory() as root:
            for path, content in {**CLEAN, **files}.items():
                if content is not None:
                    target = pathlib.Path(root, path)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(content, encoding="utf-8")
            done = subprocess.run([sys.executable, TIDY, root], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0 if " 0 problems" in done.stdout else 1)
        return done.stdout

    def assert_fails(self, expected, files):
        output = self.tidy_files(files)
        self.assertIn(expected, output)
        self.assertIn(" 1 problems", output)

    def test_clean_tree_passes(self):
        self.assertIn(" 0 problems", self.tidy_files({}))

    def test_forbidden_include(self):
        self.assert_fails("src/json/a.cc:1: include: 'json' may not include 'db'",
                          {"src/json/a.cc": '#include "db/db.h"\n'})

    def test_include_without_module(self):
        self.assert_fails('"db.h" does not start with a module\'s name',
                          {"src/db/a.cc": '#include "db.h"\n'})

    def test_undeclared_module(self):
        self.assert_fails("module 'extra' is not declared",
                          {"src/extra/a.cc": '#include "base/status.h"\n'})

    def test_unused_module(self):
        self.assert_fails("CMakeLists.txt:1: modules: no file of 'db' includes 'storage'",
                          {"src/db/db.cc": CLEAN["src/db/db.cc"].replace(
                              '#include "storage/storage.h"\n', "")})

    def test_cycle(self):
        cmake = CLEAN["CMakeLists.txt"].replace("module(json ", "module(json USES db ")
        table = CLEAN["ARCHITECTURE.md"].replace("`json`, `storage` | j | base",
                                                 "`storage` | s | – |\n| `json` | j | db")
        self.assert_fails("cycle: json -> db -> json",
                          {"CMakeLists.txt": cmake, "ARCHITECTURE.md": table,
                           "src/json/json.cc": '#include <simdjson.h>\n\n#include "db/db.h"\n'})

    def test_confined_libraries(self):
        for header, library in [("rocksdb/db.h", "rocksdb"), ("v8.h", "V8"), ("lua5.4/lua.h", "Lua"),
                                ("simdjson.h", "simdjson"), ("boost/asio.hpp", "Boost"),
                                ("libplatform/libplatform.h", "V8"), ("v8-isolate.h", "V8")]:
            self.assert_fails(f"src/db/a.cc:1: library: {library} may be included by",
                              {"src/db/a.cc": f"#include <{header}>\n"})

    def test_missing_readme(self):
        self.assert_fails("src/json/README.md:1: readme: missing", {"src/json/README.md": None})

    def test_architecture_table_differs(self):
        page = CLEAN["ARCHITECTURE.md"]
        self.assert_fails("table: 'db' includes ['json'] here and ['json', 'storage']",
                          {"ARCHITECTURE.md": page.replace("json, storage |", "json |")})
        self.assert_fails("table: module 'db' has no row",
                          {"ARCHITECTURE.md": page.replace("| `db` | d | json, storage |\n", "")})
        self.assert_fails("table: module 'later' is not in CMakeLists.txt",
                          {"ARCHITECTURE.md": page.replace("| `db` |", "| `later` | l | – |\n| `db` |")})

    def test_threads(self):
        page = "| kind | how many |\n|---|---|\n| `worker` | 1 |\n"
        made = 'Thread t({"worker"}, [] {});\n'
        self.assertIn(" 0 problems", self.tidy_files({"docs/threads.md": page, "src/db/a.cc": made}))
        self.assert_fails("src/db/a.cc:2: thread: has no name",
                          {"docs/threads.md": page, "src/db/a.cc": made + "std::thread u;\n"})
        self.assert_fails("src/db/a.cc:2: thread: the kind 'other' has no row",
                          {"docs/threads.md": page, "src/db/a.cc": made + 'Thread u({"other"}, [] {});\n'})
        self.assert_fails("docs/threads.md:3: thread: nothing makes a thread of the kind 'worker'",
                          {"docs/threads.md": page})

    def test_locks(self):
        page = "| where | mutex |\n|---|---|\n| `src/db/a.h` | `A::mutex_` |\n"
        lock = "#pragma once\nMutex mutex_;\n"
        self.assertIn(" 0 problems", self.tidy_files({"docs/locks.md": page, "src/db/a.h": lock}))
        self.assert_fails("src/db/a.h:3: lock: 'other_' has no row in docs/locks.md",
                          {"docs/locks.md": page, "src/db/a.h": lock + "Mutex other_;\n"})
        self.assert_fails("docs/locks.md:3: lock: src/db/a.h has no mutex 'mutex_'",
                          {"docs/locks.md": page, "src/db/a.h": "#pragma once\n"})

    def test_mutexes_that_clang_does_not_check(self):
        page = "| where | mutex |\n|---|---|\n| `src/db/a.h` | `mutex_` |\n"
        self.assert_fails("src/db/a.h:2: lock: use Mutex and CondVar (base/mutex.h)",
                          {"docs/locks.md": page, "src/db/a.h": "#pragma once\nstd::mutex mutex_;\n"})

    def test_long_file(self):
        self.assert_fails("src/db/a.cc:1: size: 801 lines",
                          {"src/db/a.cc": "int a;\n" * 801})

    def test_long_functions(self):
        long = "{\n" + body(80) + "}\n"
        for header, name in [("void Long() ", "Long"),
                             ("TEST(Suite, Long) ", "TEST(Suite, Long)"),
                             ("template <typename T>\nvoid Long(T t) ", "Long"),
                             ("A::A(int x) : x_{x}, y_(1) ", "A::A")]:
            output = self.tidy_files({"src/db/a.cc": header + long, ".clang-format": None})
            self.assertIn(f"size: {name} has {82 + header.count(chr(10))} lines", output)

    def test_what_is_not_a_long_function(self):
        fine = {
            "class": "class A {\n" + "  int x;\n" * 90 + "};\n",
            "namespace": "namespace a {\n" + "int F() { return '{'; }\n" * 90 + "}\n",
            "table": "const int kTable[] = {\n" + "    1,\n" * 90 + "};\n",
            "text": 'const char* F() { return R"({{{)"; }\n' + "int a;  // {\n" * 90,
            "digits": "int F() { return 1'000'000; }\n" + "int b;\n" * 90,
        }
        for name, source in fine.items():
            with self.subTest(name):
                output = self.tidy_files({"src/db/a.cc": source, ".clang-format": None})
                self.assertIn(" 0 problems", output)

    def test_long_python_function(self):
        self.assert_fails("tools/y.py:1: size: f has 82 lines",
                          {"tools/y.py": "def f():\n" + "    x = 1\n" * 81})

    def test_paths_in_documents(self):
        for text, missing in [("`src/db/none.cc`", "src/db/none.cc"), ("`db/none.h`", "db/none.h"),
                              ("[a](docs/none.md)", "docs/none.md"), ("`tests/*.cc`", "tests/*.cc"),
                              ("`CONTRIBUTING.md`", "CONTRIBUTING.md")]:
            self.assert_fails(f"NEW.md:2: path: {missing} does not exist",
                              {"NEW.md": f"# title\n{text}\n```\n`src/in/fence.cc`\n```\n"})

    def test_error_ids(self):
        page = CLEAN["docs/errors/README.md"]
        source = 'Status H() {\n  return Fail(Code::kConflict,\n              "db.new", "x");\n}\n'
        self.assert_fails("'db.new' has no line in docs/errors/README.md",
                          {"src/db/a.cc": source, ".clang-format": None})
        self.assert_fails("'Gone' is not dotted lower case",
                          {"src/db/a.cc": source.replace("db.new", "Gone"), ".clang-format": None})
        self.assert_fails("docs/errors/README.md:4: error id: 'db.old' is not used",
                          {"docs/errors/README.md": page + "| `db.old` | 400 | old |\n"})
        self.assert_fails("'db.gone' is out of order or there twice",
                          {"docs/errors/README.md": page + "| `db.gone` | 400 | again |\n"})

    def test_text(self):
        self.assert_fails("docs/a.md:1: text: unfinished work", {"docs/a.md": "TO" + "DO: write\n"})
        self.assert_fails("docs/a.md:2: text: white space", {"docs/a.md": "a\nb \n"})
        self.assert_fails("docs/a.md:1: text: no newline", {"docs/a.md": "a"})
        self.assert_fails("src/db/a.cc:1: text: tab", {"src/db/a.cc": "//\ta tab\n"})

    def test_english(self):
        self.assert_fails("docs/a.md:2: english: 'is told': say who reports what to whom",
                          {"docs/a.md": "# A\nThe client is told.\n"})
        self.assert_fails("docs/a.md:1: english: 'is told'", {"docs/a.md": "The client is\ntold.\n"})
        self.assert_fails("src/db/a.cc:2: english: 'there is none': say that it does not exist",
                          {"src/db/a.cc": 'const char* F() {\n  return "a key that there "\n'
                                          '         "is none";\n}\n'})
        self.assert_fails("src/db/a.cc:1: english: 'Whoever'",
                          {"src/db/a.cc": 'const char* kText = R"(Whoever)";\n'})
        fine = {"src/db/a.cc": "// Whoever is told.\nconst char* kText = \"told\";\n",
                "src/db/a_test.cc": 'const char* kText = "whoever";\n'}
        self.assertIn(" 0 problems", self.tidy_files(fine))

    def test_format(self):
        self.assert_fails("src/db/a.cc:1: format: not as clang-format has it",
                          {"src/db/a.cc": "int  a;\n"})


if __name__ == "__main__":
    unittest.main()
