"""The header that names the commit of a build: what is in it with git and without, and that it is left alone."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(os.environ["LOCKSTEP_SOURCE_DIR"]) / "cmake" / "git_description.cmake"
COMMIT = ["-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--allow-empty", "-m", "first"]


class GitDescription(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)
        self.header = self.tree / "git_description.h"

    def describe(self, git):
        subprocess.run(["cmake", f"-DGIT={git}", f"-DSOURCE={self.tree}", f"-DFILE={self.header}", "-P", SCRIPT], check=True)
        return self.header.read_text().split('"')[1]

    def test_a_tree_without_git_has_none(self):
        self.assertEqual(self.describe("git"), "")
        (self.tree / ".git").mkdir()
        self.assertEqual(self.describe("GIT_EXECUTABLE-NOTFOUND"), "")

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_it_follows_the_tree_and_is_written_only_when_it_changes(self):
        git = ["git", "-C", str(self.tree)]
        subprocess.run([*git, "init", "--quiet"], check=True)
        subprocess.run([*git, *COMMIT], check=True)
        head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        self.assertEqual(self.describe("git"), head)
        os.utime(self.header, (1, 1))
        self.describe("git")
        self.assertEqual(self.header.stat().st_mtime, 1)
        (self.tree / "file").write_text("new")
        subprocess.run([*git, "add", "file"], check=True)
        self.assertEqual(self.describe("git"), head + "-dirty")


if __name__ == "__main__":
    unittest.main()
