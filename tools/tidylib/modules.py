"""Who may include whom: module() in CMakeLists.txt decides, ARCHITECTURE.md tells."""

import re

from .tree import CPP_SUFFIXES, line_of

# A library behind a module: only these modules include its headers.
CONFINED = {
    "yaml-cpp": (r"yaml-cpp/", {"yaml"}),
    "rocksdb": (r"rocksdb/", {"storage"}),
    "V8": (r"(v8[-.\w]*\.h|libplatform/)", {"js"}),
    "Lua": (r"lua", {"lua"}),
    "RE2": (r"re2/", {"query", "doctype"}),
    "ICU": (r"unicode/", {"query"}),
    "libcurl": (r"curl/", {"function"}),
    "simdjson": (r"simdjson", {"json"}),
    "Boost": (r"boost/", {"net", "http"}),
}


def module_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "src" else None


def includes(tree):
    """(path, line, module, kind, target) of every #include below src/; kind is < or a quote."""
    for path in tree.under("src", suffixes=CPP_SUFFIXES):
        text = tree.read(path)
        for match in re.finditer(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', text, re.MULTILINE):
            yield path, line_of(text, match.start(2)), module_of(path), match[1], match[2]


def check_includes(tree):
    for path, line, module, kind, target in includes(tree):
        if kind != '"':
            continue
        other = target.split("/")[0] if "/" in target else None
        if module not in tree.modules:
            yield f"{path}:{line}: include: module '{module}' is not declared in CMakeLists.txt"
        elif other is None or (other not in tree.modules and other != module):
            yield f'{path}:{line}: include: "{target}" does not start with a module\'s name'
        elif other not in tree.modules[module] | {module, "base"}:
            yield (f"{path}:{line}: include: '{module}' may not include '{other}' "
                   f"(CMakeLists.txt: module({module} USES ...))")


def check_unused(tree):
    used = {module: set() for module in tree.modules}
    for _, _, module, kind, target in includes(tree):
        if kind == '"' and module in used:
            used[module].add(target.split("/")[0])
    for module, uses in tree.modules.items():
        for other in sorted((uses & tree.modules.keys()) - used[module]):
            yield (f"CMakeLists.txt:1: modules: no file of '{module}' includes '{other}', which it "
                   f"names in USES")


def check_cycles(tree):
    done = set()

    def visit(module, way):
        if module in way:
            cycle = " -> ".join(way[way.index(module):] + [module])
            yield f"CMakeLists.txt:1: cycle: {cycle}"
        elif module not in done:
            for used in sorted(tree.modules.get(module, ())):
                yield from visit(used, way + [module])
            done.add(module)

    for module, uses in tree.modules.items():
        for unknown in sorted(uses - tree.modules.keys()):
            yield f"CMakeLists.txt:1: modules: '{module}' uses '{unknown}', which is not declared"
        yield from visit(module, [])


def check_libraries(tree):
    for path, line, module, kind, target in includes(tree):
        for library, (pattern, allowed) in CONFINED.items():
            if kind == "<" and re.match(pattern, target) and module not in allowed:
                yield (f"{path}:{line}: library: {library} may be included by "
                       f"{', '.join(sorted(allowed))} only")


def check_readmes(tree):
    for module in tree.modules:
        if not tree.exists(f"src/{module}/README.md"):
            yield f"src/{module}/README.md:1: readme: missing"


def architecture_table(text):
    """{module: set of modules} of the table whose first column is headed `module`."""
    rows, inside = {}, False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == "module":
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            uses = set(re.findall(r"[a-z]\w*", cells[2])) - {"base"} if len(cells) > 2 else set()
            for name in re.findall(r"[a-z]\w*", cells[0]):
                rows[name] = uses
    return rows


def check_architecture_table(tree):
    if not tree.modules:
        return
    page = "ARCHITECTURE.md"
    table = architecture_table(tree.read(page)) if tree.exists(page) else {}
    for module in sorted(tree.modules.keys() - table.keys()):
        yield f"{page}:1: table: module '{module}' has no row"
    for module in sorted(table.keys() - tree.modules.keys()):
        yield f"{page}:1: table: module '{module}' is not in CMakeLists.txt"
    for module in sorted(table.keys() & tree.modules.keys()):
        if table[module] != tree.modules[module]:
            yield (f"{page}:1: table: '{module}' includes {sorted(table[module])} here and "
                   f"{sorted(tree.modules[module])} in CMakeLists.txt")
