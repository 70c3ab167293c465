#!/usr/bin/env python3
"""Checks that the tree keeps to the architecture: who includes whom, where torch may be, what is built.

Usage: tools/check_layers.py [--stats] [ROOT]. Prints one line `file:line: rule; what is allowed` for each violation and
exits 1 if there is any. docs/architecture.md explains the table.

--stats prints how finely the tree is cut instead: files and their lengths, headers that at most one file of lockstep/
includes, types that at most one uses. A header is used by every file that includes it but its own source; a type by every
file that names it but the header that declares it and that header's source.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Module:
    may_include: frozenset  # other modules, besides base and itself
    torch: bool = False


def module(*may_include, torch=False):
    return Module(frozenset(may_include), torch)


MODULES = {
    "base": module(),
    "record": module(),
    "measure": module("record"),
    "device": module("measure", "record"),
    "comm": module("measure", "device"),
    "data": module("record"),
    "models": module("record", torch=True),
    "parallel": module("comm", "device", "measure", "models", "record", torch=True),
    "train": module("data", "models", "parallel", "comm", "device", "launch", "measure", "record", torch=True),
    "launch": module("comm", "device", "record"),
    "lab": module("launch", "measure", "record"),
    "predict": module("measure", "record"),
    "report": module("lab", "predict", "measure", "record"),
    "cli": module("record", "measure", "device", "comm", "data", "launch", "lab", "predict", "report"),
}

# Folders that are shared objects of their own: opened at run time, included by nobody else.
PLUGINS = ("comm/gloo", "comm/mpi", "comm/nccl", "comm/p2p")

# Folders in which a torch-free module meets torch: only there, and included only by modules that have torch.
TORCH_EDGES = ("data/torch", "measure/torch")

# Headers of libtorch's inside, which change from one version to the next, and the one place of each module that may
# include them.
TORCH_INTERNALS = re.compile(r"^(torch/csrc/autograd/(function|function_hook|variable|edge|node|engine|functions/\w+)\.h|"
                             r"c10/core/(Allocator|CPUAllocator|AutogradState)\.h|c10/util/ThreadLocalDebugInfo\.h|"
                             r"c10/cuda/\w*Allocator\w*\.h|ATen/cuda/CUDAGraph\w*\.h)$")
TORCH_INTERNALS_IN = {
    "measure": ("lockstep/measure/torch/libtorch.h",),
    "models": ("lockstep/models/layers/direct.h",),
    "parallel": ("lockstep/parallel/gradient_tap.cc", "lockstep/parallel/cuda/torch_stream.cc"),
}

# Where a module may include only a part of another: (who, whom) -> the folder.
NARROWED = {("launch", "comm"): "comm/rendezvous"}

SOURCE_SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
BUILT_SUFFIXES = {".cc", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
OWN_JSON = re.compile(r"(?:\.|->)dump\(|\bjson::(?:parse|accept)\(|\bJson::(?:parse|accept)\(")
TORCH_HEADER = re.compile(r"^(torch|ATen|c10|caffe2)/")


@dataclass(frozen=True)
class Violation:
    file: Path
    line: int
    text: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.text}"


def includes_of(path):
    """Yields (line number, header) for each include of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1)


def allowed_text(name):
    allowed = sorted((MODULES[name].may_include | {"base"}) - {name})
    return "allowed: " + (", ".join(allowed) or "nothing but itself")


def check_include(file, module_name, number, header):
    """The violation an include is, or None."""
    parts = header.split("/")
    if TORCH_HEADER.match(header) and not may_use_torch(file, module_name):
        return Violation(file, number, f"{module_name} is torch-free and includes <{header}>; "
                         "torch is allowed in: " + ", ".join(m for m in MODULES if MODULES[m].torch))
    if TORCH_INTERNALS.match(header) and file.as_posix() not in TORCH_INTERNALS_IN.get(module_name, ()):
        places = ", ".join(place for places in TORCH_INTERNALS_IN.values() for place in places)
        return Violation(file, number, f"<{header}> is libtorch's inside; allowed in: {places}")
    if parts[0] != "lockstep" or len(parts) < 3:
        return None
    target = parts[1]
    if target not in MODULES:
        return Violation(file, number, f"<{header}> names no module; modules: {', '.join(MODULES)}")
    if target not in MODULES[module_name].may_include | {module_name, "base"}:
        return Violation(file, number, f"{module_name} may not include {target} ({header}); {allowed_text(module_name)}")
    return (check_narrowed(file, module_name, number, header) or check_plugin(file, number, header) or
            check_torch_edge(file, module_name, number, header))


def at_torch_edge(name):
    return any(name.startswith(f"lockstep/{edge}/") for edge in TORCH_EDGES)


def may_use_torch(file, module_name):
    return MODULES[module_name].torch or at_torch_edge(file.as_posix())


def check_torch_edge(file, module_name, number, header):
    if at_torch_edge(header) and not may_use_torch(file, module_name):
        return Violation(file, number, f"{module_name} is torch-free and includes {header}, which is not; "
                         "allowed in: " + ", ".join(m for m in MODULES if MODULES[m].torch))
    return None


def check_narrowed(file, module_name, number, header):
    part = NARROWED.get((module_name, header.split("/")[1]))
    if part and not header.startswith(f"lockstep/{part}/"):
        return Violation(file, number, f"{module_name} may include only a part of {header.split('/')[1]} "
                         f"({header}); allowed: lockstep/{part}/")
    return None


def check_plugin(file, number, header):
    for plugin in PLUGINS:
        inside = f"lockstep/{plugin}/"
        if header.startswith(inside) and inside not in file.as_posix():
            return Violation(file, number, f"{plugin} is a plugin and is included by nobody ({header}); "
                             "allowed: comm/backend.h and the registry")
    return None


def module_files(root):
    """Yields (module name, path) for each source file under lockstep/."""
    for path in sorted((root / "lockstep").rglob("*")):
        parts = path.relative_to(root).parts
        if path.is_file() and path.suffix in SOURCE_SUFFIXES and len(parts) > 2:
            yield parts[1], path


def check_includes(root):
    for name, path in module_files(root):
        file = path.relative_to(root)
        if name not in MODULES:
            yield Violation(file, 1, f"lockstep/{name} is in no row of the table of modules (tools/check_layers.py)")
            continue
        for number, header in includes_of(path):
            violation = check_include(file, name, number, header)
            if violation:
                yield violation


def listed_sources(root):
    """The absolute paths of all files that some CMakeLists.txt names."""
    listed = set()
    for lists in [*root.glob("CMakeLists.txt"), *(p for top in ("lockstep", "tests", "bench", "examples")
                                                  for p in (root / top).rglob("CMakeLists.txt"))]:
        text = re.sub(r"#.*", "", lists.read_text(encoding="utf-8"))
        # Names in quotes, behind variables and bare; a foreach over names without suffix is not understood.
        for word in re.findall(r"[^\s()\"]+\.(?:cc|cu|py)\b", text):
            word = re.sub(r"\$\{(CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}/", "", word)
            base = root if "${CMAKE_SOURCE_DIR}/" in word or "${PROJECT_SOURCE_DIR}/" in word else lists.parent
            listed.add((base / re.sub(r"\$\{\w+\}/", "", word)).resolve())
    return listed


def check_built(root):
    """Every source of ours and every test is named by a build file."""
    listed = listed_sources(root)
    for top, patterns in (("lockstep", ("*.cc", "*.cu")), ("tests", ("*_test.cc", "*_test.cu", "*_test.py"))):
        for pattern in patterns:
            for path in sorted((root / top).rglob(pattern)):
                if path.resolve() not in listed:
                    yield Violation(path.relative_to(root), 1, "no CMakeLists.txt names it, so nothing builds it; "
                                    f"add it to the list in {path.parent.relative_to(root)}/CMakeLists.txt")


def check_cli_is_last(root):
    """Nothing outside cli includes it; tests and benchmarks of it may."""
    for top in ("bench", "examples"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCE_SUFFIXES:
                continue
            for number, header in includes_of(path):
                if header.startswith("lockstep/cli/"):
                    yield Violation(path.relative_to(root), number, f"nothing includes cli ({header})")


def check_readmes(root):
    for folder in sorted(p for p in (root / "lockstep").iterdir() if p.is_dir()):
        if not (folder / "README.md").is_file():
            yield Violation(folder.relative_to(root) / "README.md", 1, "is missing; every module has a short README.md")


def opens_with_purpose(path):
    """With a comment; a .cc may leave that to its own header, or to the header that it opens with and tests."""
    with path.open(encoding="utf-8") as lines:
        first = lines.readline()
    said_by_header = path.with_suffix(".h").is_file() or first.startswith('#include "lockstep/')
    return first.startswith("//") or path.suffix in BUILT_SUFFIXES and said_by_header


def check_purpose(root):
    for top in ("lockstep", "tests", "bench", "examples"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and not opens_with_purpose(path):
                yield Violation(path.relative_to(root), 1, "does not open with what it is for; "
                                "allowed: a // comment on the first line, or a .cc beside its .h or opening with the header it tests")


def check_json(root):
    """JSON is written and read by base alone: the library's own functions throw for bytes that are no UTF-8."""
    for _, path in module_files(root):
        if path.relative_to(root).as_posix() == "lockstep/base/json.cc":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if OWN_JSON.search(line):
                yield Violation(path.relative_to(root), number, "JSON is written and read by the library itself; "
                                "allowed: json_text, parse_json and try_parse_json of lockstep/base/json.h")


GPU_CODE = re.compile(r"/cuda/|/nccl/|/p2p/|\.cuh?$")
TYPE = re.compile(r"^(?:template <[^;{]*>\s*)?(?:class|struct|enum class)\s+(?:alignas\(\w+\)\s+)?(\w+)\b[^;{\n]*\{", re.M)
DECLARED = re.compile(r"^(?:template <[^;{]*>\s*)?(?:(?:class|struct|enum class|enum|using|inline constexpr [\w:<>, ]+|constexpr [\w:<>, ]+|"
                      r"extern const [\w:<>, ]+)\s+(\w+)|(?:inline |constexpr |\[\[\w+\]\] )*[\w:<>,&* ]+?[\s&*](\w+)\()", re.M)
MOST_IN_A_FOLDER = 25


def text_without_comments(path):
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


class Tree:
    """All sources, and who includes and names what."""

    def __init__(self, root):
        self.sources = {path.relative_to(root).as_posix(): path for _, path in module_files(root)}
        self.others = {path.relative_to(root).as_posix(): path for top in ("tests", "bench") for path in sorted((root / top).rglob("*"))
                       if path.is_file() and path.suffix in SOURCE_SUFFIXES}
        self.words, self.includers = {}, {}
        for name, path in {**self.sources, **self.others}.items():
            self.words[name] = set(re.findall(r"\w+", text_without_comments(path)))
            for _, header in includes_of(path):
                self.includers.setdefault(header, set()).add(name)

    def headers(self):
        return [name for name in self.sources if name.endswith(".h")]

    def users_of_header(self, header):
        return self.includers.get(header, set()) - {header[:-2] + ".cc", header[:-2] + ".cu"}

    @staticmethod
    def of_the_program(users):
        return [user for user in users if user.startswith("lockstep/")]

    def lonely_headers(self):
        """Those with at most one user in the program, and of these those that no test includes either."""
        used = {header: self.users_of_header(header) for header in self.headers()}
        lonely = [header for header in used if len(self.of_the_program(used[header])) <= 1]
        return lonely, [header for header in lonely if len(used[header]) == len(self.of_the_program(used[header]))]

    def types(self):
        return [(kind, header) for header in self.headers()
                for kind in sorted(set(TYPE.findall(text_without_comments(self.sources[header]))))]

    def lonely_types(self):
        lonely = []
        for kind, header in self.types():
            own = {header, header[:-2] + ".cc", header[:-2] + ".cu"}
            if len([name for name in self.sources if name not in own and kind in self.words[name]]) <= 1:
                lonely.append((kind, header))
        return lonely

    def declared_names(self):
        return sum(len(set(filter(None, (name for pair in DECLARED.findall(text_without_comments(self.sources[header])) for name in pair))))
                   for header in self.headers())


def median(numbers):
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def print_stats(root):
    tree = Tree(root)
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in tree.sources.items()}
    plain = [name for name in lines if not GPU_CODE.search(name)]
    folders = {}
    for name in lines:
        folders.setdefault(name.rsplit("/", 1)[0], []).append(name)
    full = {folder: len(names) for folder, names in folders.items() if len(names) > MOST_IN_A_FOLDER}
    (lonely_headers, untested), lonely_types = tree.lonely_headers(), tree.lonely_types()
    print(f"source files: {len(lines)}, {len(plain)} without GPU code; {sum(lines.values())} lines; median {median(lines.values()):g} lines, "
          f"{sum(1 for count in lines.values() if count < 40)} under 40")
    print(f"headers: {len(tree.headers())}, {len(lonely_headers)} of them included by at most one file of lockstep/, {len(untested)} of these by no test either")
    print(f"types in headers: {len(tree.types())}, {len(lonely_types)} of them with at most one user; names declared in headers: {tree.declared_names()}")
    print(f"folders with more than {MOST_IN_A_FOLDER} source files: " + (", ".join(f"{folder} ({count})" for folder, count in sorted(full.items())) or "none"))
    for name in sorted({path.split("/")[1] for path in lines}):
        own = [path for path in lines if path.split("/")[1] == name]
        print(f"  {name}: {len(own)} files, {sum(lines[path] for path in own)} lines, median {median(lines[path] for path in own):g}")


CHECKS = (check_includes, check_built, check_cli_is_last, check_json, check_readmes, check_purpose)


def main(arguments):
    words = [word for word in arguments[1:] if word != "--stats"]
    root = Path(words[0] if words else Path(__file__).resolve().parent.parent).resolve()
    if "--stats" in arguments:
        print_stats(root)
        return 0
    violations = [violation for check in CHECKS for violation in check(root)]
    for violation in violations:
        print(violation)
    print(f"layers: {len(violations)} violations" if violations else "layers: the tree keeps to the table")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
