"""The files of the project that rules look at, read once."""

import functools
import pathlib
import re

TEXT_SUFFIXES = {".cc", ".h", ".py", ".sh", ".cmake", ".md", ".yaml", ".yml", ".json", ".txt",
                 ".js", ".ts", ".lua", ".sql", ".css", ".html", ".test", ""}
CPP_SUFFIXES = {".cc", ".h"}
SKIPPED_DIRECTORIES = {".git", "build", "node_modules", "__pycache__", "corpus", "dist"}


class Tree:
    """Paths are relative to the root, with forward slashes, sorted."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = sorted(self._walk(self.root))

    def _walk(self, directory):
        for entry in directory.iterdir():
            if entry.is_symlink():
                continue
            if entry.is_dir():
                if entry.name not in SKIPPED_DIRECTORIES:
                    yield from self._walk(entry)
            elif entry.suffix in TEXT_SUFFIXES:
                yield entry.relative_to(self.root).as_posix()

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def exists(self, path):
        return (self.root / path).exists()

    def under(self, *directories, suffixes=None):
        """Files below the given directories with one of the suffixes."""
        return [path for path in self.files
                if path.split("/")[0] in directories
                and (suffixes is None or pathlib.PurePath(path).suffix in suffixes)]

    def cpp(self):
        return self.under("src", "tests", "bench", suffixes=CPP_SUFFIXES)

    @functools.cached_property
    def modules(self):
        """{module: set of modules it may include} from the module() lines of CMakeLists.txt, in
        their order. `base` may be included by all and is left out of the sets."""
        found = {}
        if not self.exists("CMakeLists.txt"):
            return found
        text = re.sub(r"#.*", "", self.read("CMakeLists.txt"))
        for match in re.finditer(r"^\s*module\(\s*(\w+)([^)]*)\)", text, re.MULTILINE):
            uses, collecting = set(), False
            for word in match.group(2).split():
                if word in ("USES", "LIBS"):
                    collecting = word == "USES"
                elif collecting:
                    uses.add(word)
            found[match.group(1)] = uses - {"base"}
        return found


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
