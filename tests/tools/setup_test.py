"""Runs tools/setup on machines that are not there: the package tools before it in PATH are stand-ins that log."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["LOCKSTEP_SOURCE_DIR"])
DEBIAN = 'ID=debian\nVERSION_ID="12"\n'
UBUNTU = 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n'
NEVER_INSTALLED = "libgloo-dev"


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "tools").mkdir()
        (self.root / "bin").mkdir()
        for name in ("setup", "packages"):
            shutil.copy(SOURCE / "tools" / name, self.root / "tools" / name)
        self.log = self.root / "log"
        self.log.touch()
        self.os_release(DEBIAN)
        self.user(0)
        self.installed(self.table() - {NEVER_INSTALLED})
        self.command("sudo", "exit 1")
        self.command("apt-cache", "echo Package: $2")
        self.command("apt-get", f'echo "apt-get $*" >>{self.log}')

    def table(self):
        lines = (SOURCE / "tools/packages").read_text().splitlines()
        return {line.split()[1] for line in lines if not line.startswith("#")}

    def command(self, name, body):
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def os_release(self, text):
        (self.root / "os-release").write_text(text)

    def user(self, uid):
        self.command("id", f"echo {uid}")

    def installed(self, packages):
        self.command("dpkg-query", "\n".join(f'echo "installed {p} "' for p in sorted(packages)))

    def setup(self, *groups):
        environment = dict(os.environ, PATH=f"{self.root}/bin:{os.environ['PATH']}",
                           LOCKSTEP_OS_RELEASE=str(self.root / "os-release"))
        done = subprocess.run([str(self.root / "tools/setup"), *groups], capture_output=True, text=True,
                              env=environment, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def installs(self):
        return [line for line in self.log.read_text().splitlines() if " install " in line]

    def test_nothing_is_installed_when_nothing_is_missing(self):
        self.installed(self.table())
        self.setup()
        self.assertEqual(self.log.read_text(), "")

    def test_root_installs_what_is_missing_and_only_that(self):
        output = self.setup()
        self.assertIn(f"installing with apt-get: {NEVER_INSTALLED}\n", output)
        self.assertEqual(len(self.installs()), 1)
        self.assertTrue(self.installs()[0].endswith(f"--no-install-recommends {NEVER_INSTALLED}"))

    def test_a_user_without_sudo_gets_one_line_for_the_administrator(self):
        self.user(1000)
        output = self.setup()
        self.assertIn(f"  apt-get update && apt-get install -y --no-install-recommends {NEVER_INSTALLED}\n", output)
        self.assertIn("going on with what is there", output)
        self.assertEqual(self.log.read_text(), "")

    def test_a_user_is_told_again_until_the_packages_are_there(self):
        self.user(1000)
        self.setup()
        self.assertIn("administrator", self.setup())

    def test_a_user_with_sudo_installs_through_it(self):
        self.user(1000)
        self.command("sudo", '[[ $1 == -n ]] && shift && "$@"')
        self.setup()
        self.assertEqual(len(self.installs()), 1)

    def test_a_second_call_asks_nobody(self):
        self.setup()
        self.log.write_text("")
        self.command("dpkg-query", f"echo asked >>{self.log}")
        self.assertEqual(self.setup(), "")
        self.assertEqual(self.log.read_text(), "")

    def test_other_groups_are_looked_at_again(self):
        self.setup("base")
        self.setup("base", "comm")
        self.assertEqual(len(self.installs()), 1)

    def test_a_package_the_release_does_not_offer_is_said_and_left_out(self):
        self.command("apt-cache", "exit 100")
        output = self.setup()
        self.assertIn(f"{NEVER_INSTALLED} is not offered by this release (the gloo backend)", output)
        self.assertEqual(self.installs(), [])

    def test_a_failed_installation_does_not_stop_the_build_and_is_tried_again(self):
        self.command("apt-get", f'echo "apt-get $*" >>{self.log}; exit 100')
        self.assertIn("could not install them all", self.setup())
        self.setup()
        self.assertEqual(len(self.installs()), 2)

    def test_ubuntu_is_not_asked_for_packages_that_only_debian_has(self):
        self.os_release(UBUNTU)
        self.installed(set())
        self.setup("base", "torch")
        self.assertNotIn("libtorch-dev", self.log.read_text())
        self.assertIn("libfmt-dev", self.log.read_text())

    def test_another_distribution_is_told_what_to_install(self):
        self.os_release("ID=fedora\n")
        self.assertIn("tools/packages", self.setup())
        self.assertEqual(self.log.read_text(), "")


if __name__ == "__main__":
    unittest.main()
