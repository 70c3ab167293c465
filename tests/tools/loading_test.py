"""What is built, installed and moved elsewhere loads nothing from a place that somebody else can write to."""

import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

BINARY = Path(os.environ["LOCKSTEP_BINARY_DIR"])
# Opened by name at run time, and so in nobody's list of libraries.
OPENED_BY_NAME = ("libnccl.so.2", "libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libnvidia-ml.so.1", "libibverbs.so.1")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL, **options)


def linked_files(root):
    """Programs and shared libraries below a directory, but for CMake's own probes of the compiler; objects are neither."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "CMakeFiles"]
        for path in (Path(folder) / name for name in names):
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as file:
                head = file.read(18)
            if head[:4] == b"\x7fELF" and head[16] in (2, 3):
                yield path


def open_to_others(directory):
    """Whether others than its owner can put a file into a directory, or make it where it does not exist yet."""
    while not directory.exists():
        directory = directory.parent
    return bool(directory.stat().st_mode & stat.S_IWOTH)


class Linked:
    """What readelf says of one file."""

    def __init__(self, path):
        self.path = path
        self.text = run("readelf", "-W", "--file-header", "--program-headers", "--dynamic", path).stdout

    def search_path(self):
        found = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", self.text)
        return [entry for value in found for entry in value.split(":")]

    def bad_entry(self, entry):
        if not entry:
            return "an empty entry, the current directory, in its search path"
        place = re.sub(r"^\$(ORIGIN|\{ORIGIN\})(?=/|$)", str(self.path.parent), entry)
        if not os.path.isabs(place):
            return f"the relative entry '{entry}' in its search path"
        if open_to_others(Path(os.path.normpath(place))):
            return f"the entry '{entry}', where everybody may write, in its search path"
        return None

    def faults(self):
        yield from filter(None, map(self.bad_entry, self.search_path()))
        if "GNU_RELRO" not in self.text:
            yield "no RELRO"
        if not re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", self.text):
            yield "no BIND_NOW"
        if re.search(r"GNU_STACK.*\bRWE\b", self.text):
            yield "a stack that can be executed"
        if not re.search(r"Type:\s+DYN", self.text):
            yield "a fixed address"
        if "INTERP" in self.text and not re.search(r"\(FLAGS_1\).*\bPIE\b", self.text):
            yield "no PIE"


class LoadingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.installed = Path(cls.folder.name) / "a prefix"
        done = run("cmake", "--install", BINARY, "--prefix", cls.installed)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.moved = Path(cls.folder.name) / "elsewhere"
        shutil.copytree(cls.installed, cls.moved)
        cls.decoys = Path(cls.folder.name) / "decoys"
        cls.clean = Path(cls.folder.name) / "clean"
        for folder in (cls.decoys, cls.clean):
            folder.mkdir()

    def test_every_linked_file_is_hardened_and_searches_libraries_in_safe_places_alone(self):
        for tree in (BINARY, self.installed, self.moved):
            files = list(linked_files(tree))
            self.assertIn(tree / "bin/lockstep", files)
            self.assertIn(tree / "lib/lockstep/backend_gloo.so", files)
            faults = [f"{path.relative_to(tree)} has {fault}" for path in files for fault in Linked(path).faults()]
            self.assertEqual(faults, [])

    def test_the_test_itself_sees_each_kind_of_bad_search_path(self):
        lockstep = Linked(BINARY / "bin/lockstep")
        everybodys = Path(self.folder.name) / "everybody's"
        everybodys.mkdir()
        everybodys.chmod(0o777)
        for entry in ("", ".", "lib", "lib/$ORIGIN", str(everybodys), f"{everybodys}/not/there"):
            self.assertIsNotNone(lockstep.bad_entry(entry), entry)
        for entry in ("$ORIGIN", "$ORIGIN/../lib", "${ORIGIN}/../lib", "/usr/lib"):
            self.assertIsNone(lockstep.bad_entry(entry), entry)

    def test_the_stack_and_calls_that_fill_buffers_are_checked_in_every_program(self):
        for program in filter(Path.is_file, (BINARY / "bin/lockstep", BINARY / "bin/lockstep-worker")):
            symbols = run("readelf", "-W", "--dyn-syms", program).stdout
            self.assertTrue("__stack_chk_fail@" in symbols, f"{program} was built without -fstack-protector-strong")
            self.assertTrue(re.search(r"__\w+_chk@", symbols), f"{program} was built without _FORTIFY_SOURCE")

    def fill_with_decoys(self, files):
        """Puts a file that is no library under the name of each library that these files need, directly or not."""
        names = set(OPENED_BY_NAME)
        for file in files:
            names.update(Path(line.split()[0]).name for line in run("ldd", file).stdout.splitlines() if line.strip())
        self.assertGreater(len(names), 20)
        for name in names:
            (self.decoys / name).write_text("not a library")

    def test_libraries_in_the_current_directory_are_not_loaded(self):
        for tree in (BINARY, self.moved):
            self.fill_with_decoys([*linked_files(tree / "bin"), *linked_files(tree / "lib")])
            commands = [[tree / "bin/lockstep", "--version"], [tree / "bin/lockstep", "backends"]]
            if (tree / "bin/lockstep-worker").is_file():
                commands.append([tree / "bin/lockstep-worker", "describe", "--json"])
            for command in commands:
                elsewhere, here = (run(*command, cwd=folder) for folder in (self.clean, self.decoys))
                self.assertEqual(elsewhere.returncode, 0, elsewhere.stderr)
                self.assertEqual((here.returncode, here.stdout), (0, elsewhere.stdout), here.stderr)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun here")
    def test_mpirun_is_given_its_library_wherever_the_program_is_installed(self):
        if not (self.moved / "lib/lockstep/backend_mpi.so").is_file():
            self.skipTest("built without Open MPI")
        for name in ("a place", "a:place"):
            place = Path(self.folder.name) / name
            shutil.copytree(self.moved, place)
            # What the loader makes of the library's name when it cuts it there.
            decoy = self.decoys / "place/lib/lockstep/loopback_only.so"
            decoy.parent.mkdir(parents=True, exist_ok=True)
            decoy.write_text("not a library")
            done = run(place / "bin/lockstep", "bench", "allreduce", "--backend", "mpi", "--workers", "2", "-b", "4K", "-e", "4K",
                       cwd=self.decoys)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("LD_PRELOAD", done.stderr)


if __name__ == "__main__":
    unittest.main()
