"""Installs the build into a prefix of its own and uses what lies there."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BINARY = Path(os.environ["LOCKSTEP_BINARY_DIR"])


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, **options)


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = Path(cls.folder.name) / "a prefix"
        done = run("cmake", "--install", BINARY, "--prefix", cls.prefix)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_the_program_runs_from_its_prefix(self):
        done = run(self.prefix / "bin/lockstep", "--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0.", done.stdout)

    def test_the_program_finds_its_backends_beside_itself(self):
        done = run(self.prefix / "bin/lockstep", "backends")
        self.assertEqual(done.returncode, 0, done.stderr)
        for backend in ("gloo", "mpi", "nccl", "p2p"):
            self.assertTrue((self.prefix / f"lib/lockstep/backend_{backend}.so").is_file())
            self.assertIn(backend, done.stdout)
        self.assertNotIn("cannot open shared object", done.stdout + done.stderr)

    def test_the_documents_are_there(self):
        for document in ("README.md", "LICENSE", "CHANGELOG.md", "architecture.md", "formulas.md"):
            self.assertTrue((self.prefix / "share/doc/lockstep" / document).is_file(), document)

    def test_bash_completes_the_commands(self):
        script = self.prefix / "share/bash-completion/completions/lockstep"
        complete = ('source "$1"; COMP_WORDS=(lockstep be); COMP_CWORD=1; COMP_LINE="lockstep be"; COMP_POINT=11; '
                    'entry=$(complete -p lockstep); entry=${entry##*-F }; "${entry%% *}" lockstep be lockstep; '
                    'echo "${COMPREPLY[@]}"')
        done = run("bash", "-c", complete, "bash", script)
        self.assertIn("bench", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
