"""Runs tools/setup on machines that are not there: the package tools before it in PATH are stand-ins that log."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["LOCKSTEP_SOURCE_DIR"])
DEBIAN = 'ID=debian\nVERSION_ID="12"\n'
UBUNTU = 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n'
NEVER_INSTALLED = "libgloo-dev"


class Machine(unittest.TestCase):
    """A machine that is not there, and tools/setup on it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "tools").mkdir()
        (self.root / "bin").mkdir()
        for name in ("setup", "packages", "configure", "find_torch.py"):
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

    def run_tool(self, *command, **environment):
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.root / "cache"),
                       "LOCKSTEP_OS_RELEASE": str(self.root / "os-release"), "TORCH": "", "TORCH_VERSION": "", **environment}
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment,
                              stdin=subprocess.DEVNULL, timeout=60)

    def setup(self, *groups, code=0, **environment):
        done = self.run_tool(self.root / "tools/setup", *groups, **environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def installs(self):
        return [line for line in self.log.read_text().splitlines() if " install " in line]


class SetupTest(Machine):
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

    def test_another_distribution_is_told_what_to_install(self):
        self.os_release("ID=fedora\n")
        self.assertIn("tools/packages", self.setup())
        self.assertEqual(self.log.read_text(), "")


class PyTorchTest(Machine):
    """Which PyTorch is settled on. python3 is a stand-in whose torch, venv and pip are a few files and lines of the log."""

    def setUp(self):
        super().setUp()
        self.installed(self.table())
        self.cache = self.root / "cache/lockstep"
        self.own_torch(None)
        self.pip(offers="2.15.0, 2.11.0, 2.7.1", cuda="13.2")

    def torch(self, site, version, cuda="13.2", without=None):
        """The files of a PyTorch that are looked at."""
        package = site / "torch"
        for file in ("include/torch/csrc/api/include/torch/torch.h", "include/torch/csrc/autograd/function.h", "include/ATen/ATen.h",
                     "include/c10/core/Device.h", "lib/libtorch_cpu.so", "lib/libc10.so", "__init__.py"):
            if file != without:
                (package / file).parent.mkdir(parents=True, exist_ok=True)
                (package / file).touch()
        (package / "version.py").write_text(f"__version__ = '{version}'\ncuda: Optional[str] = '{cuda}'\n")
        return package

    def own_torch(self, version, **how):
        """The PyTorch that python3 imports."""
        shutil.rmtree(self.root / "own", ignore_errors=True)
        if version:
            self.torch(self.root / "own", version, **how)
        self.command("python3", f"""
if [[ $1 == -m && $2 == venv ]]; then
  mkdir -p "$3/bin" && touch "$3/pyvenv.cfg" && cp {self.root}/bin/venv_python "$3/bin/python" && echo "venv $3" >>{self.log}
elif [[ $1 == -c ]]; then
  exit 0
else
  PYTHONPATH={self.root}/own exec {sys.executable} -sS "$@"
fi""")

    def pip(self, offers, cuda, fails=""):
        """What a virtual environment's python does: pip index, pip install torch, pip install nvcc."""
        self.command("venv_python", f"""
place=$(dirname "$(dirname "$0")"); site=$place/lib/python3.11/site-packages
case "$*" in
  *index*) [[ -z "{offers}" ]] || echo "Available versions: {offers}" ;;
  *torch==*)
    echo "pip $*" >>{self.log}
    version=$(grep -o 'torch==[0-9.]*' <<<"$*"); version=${{version#torch==}}
    [[ -z "{fails}" ]] || {{ mkdir -p "$site/torch"; echo "{fails}" >&2; exit 1; }}
    mkdir -p "$site/torch-$version.dist-info" && touch "$site/torch-$version.dist-info/INSTALLER"
    cp -r {self.root}/whole/torch "$site/" && sed -i "s/VERSION/$version/" "$site/torch/version.py"
    mkdir -p "$site/nvidia/cu13/lib" && touch "$site/nvidia/cu13/lib/libcudart.so.13" ;;
  *nvidia-cuda-nvcc*)
    echo "pip $*" >>{self.log}
    for file in bin/nvcc nvvm/bin/cicc include/crt/host_config.h include/cccl/x; do
      mkdir -p "$(dirname "$site/nvidia/cu13/$file")" && touch "$site/nvidia/cu13/$file" && chmod +x "$site/nvidia/cu13/$file"
    done ;;
esac""")
        self.torch(self.root / "whole", "VERSION", cuda)

    def choice(self, name="auto"):
        return (self.root / f"build/.torch-{name}").read_text().strip()

    def pips(self):
        return [line for line in self.log.read_text().splitlines() if line.startswith("pip ")]

    def debian_without_libtorch(self):
        self.installed(self.table() - {"libtorch-dev"})
        self.command("apt-cache", "exit 100")

    def test_the_torch_that_python3_imports_is_taken(self):
        self.own_torch("2.8.0+cu130")
        self.setup("torch")
        self.assertEqual(self.choice(), str(self.root / "own/torch"))
        self.assertEqual(self.log.read_text(), "")

    def test_a_torch_that_is_too_old_or_not_whole_is_passed_over_with_the_reason(self):
        for version, how, reason in (("2.6.0", {}, "PyTorch 2.6.0 in .* is older than 2.7"),
                                     ("2.9.1", {"without": "include/ATen/ATen.h"}, "not whole: include/ATen/ATen.h missing")):
            self.own_torch(version, **how)
            self.assertRegex(self.setup("torch"), f"passed over: .*{reason}")
            self.assertIn("torch-2.15.0", self.choice())

    def test_debians_libtorch_is_taken_where_python3_has_none(self):
        config = self.root / "TorchConfig.cmake"
        config.touch()
        listed = "\n".join(f'echo "installed {p} "' for p in sorted(self.table()))
        self.command("dpkg-query", f'if [[ $1 == -L ]]; then echo {config}; else\n{listed}\nfi')
        self.setup("torch")
        self.assertEqual(self.choice(), "apt")
        self.assertEqual(self.pips(), [])

    def test_pip_installs_one_where_there_is_none_and_says_so_beforehand_and_only_once(self):
        for os_release in (UBUNTU, DEBIAN):
            self.os_release(os_release)
            self.debian_without_libtorch()
            self.log.write_text("")
            shutil.rmtree(self.cache, ignore_errors=True)
            said = self.setup("torch")
            place = self.cache / "torch-2.15.0"
            self.assertRegex(said, f"pip installs PyTorch 2.15.0 into {place}, for all clones.* 5.6 GB.* To remove it: rm -r {place}")
            self.assertEqual(self.choice(), str(place / "lib/python3.11/site-packages/torch"))
            shutil.rmtree(self.root / "build")  # as in another clone
            self.assertEqual(self.setup("torch").count("pip installs"), 0)
            self.assertEqual(len(self.pips()), 1)

    def test_ubuntu_gets_what_makes_virtual_environments(self):
        self.os_release(UBUNTU)
        self.installed(self.table() - {"python3-venv"})
        text = (self.root / "bin/python3").read_text()
        self.command("python3", text.replace("exit 0", f'grep -q " install .*python3-venv" {self.log}'))
        self.setup("torch")
        self.assertTrue(self.installs()[0].endswith("--no-install-recommends python3-venv"))
        self.assertIn("torch-2.15.0", self.choice())

    def test_ubuntu_is_not_asked_for_packages_that_only_debian_has(self):
        self.os_release(UBUNTU)
        self.installed(set())
        self.setup("base", "torch", "peer")
        for package in ("libtorch-dev", "python3-torch"):
            self.assertNotIn(package, self.log.read_text())
        self.assertIn("libfmt-dev", self.log.read_text())

    def test_a_version_can_be_named(self):
        self.own_torch("2.11.0")
        for version, place in (("2.7.1", "cache/lockstep/torch-2.7.1"), ("newest", "cache/lockstep/torch-2.15.0"), ("2.11.0", "own/torch")):
            self.setup("torch", TORCH="pip", TORCH_VERSION=version)
            self.assertIn(str(self.root / place), self.choice(f"pip-{version}"))
        self.assertIn("pip offers no torch 9.9.9", self.setup("torch", TORCH="pip", TORCH_VERSION="9.9.9", code=1))

    def test_an_installation_that_was_interrupted_is_made_again(self):
        self.pip(offers="2.15.0", cuda="13.2", fails="killed")
        self.assertIn("could not install PyTorch", self.setup("torch", TORCH="pip", code=1))
        self.assertFalse((self.cache / "torch-2.15.0").exists())
        (self.cache / "torch-2.15.0/lib/python3.11/site-packages/torch").mkdir(parents=True)
        self.pip(offers="2.15.0", cuda="13.2")
        self.setup("torch", TORCH="pip")
        self.assertTrue((self.cache / "torch-2.15.0/.complete").exists())

    def test_a_full_disk_is_said_before_and_while_it_fills(self):
        self.command("df", "echo Avail; echo 3")
        self.assertRegex(self.setup("torch", TORCH="pip", code=1), "needs 9 GB in .* there are 3: free some, or .* XDG_CACHE_HOME")
        self.assertEqual(self.pips(), [])
        self.command("df", "echo Avail; echo 30")
        self.pip(offers="2.15.0", cuda="13.2", fails="ERROR: [Errno 28] No space left on device")
        self.assertRegex(self.setup("torch", TORCH="pip", code=1), "the disk of .* is full")
        self.assertEqual([path.name for path in self.cache.glob("torch-*")], [])

    def test_without_a_network_the_build_goes_on_without_an_engine_unless_one_was_asked_for(self):
        self.debian_without_libtorch()
        self.pip(offers="", cuda="13.2")
        self.assertRegex(self.setup("torch"), r"pip finds no torch[^\0]*going on without an engine")
        self.assertEqual(self.choice(), "auto")
        self.assertIn("TORCH=pip was asked for, and there is none", self.setup("torch", TORCH="pip", code=1))

    def test_a_directory_is_taken_or_refused(self):
        self.setup("torch", TORCH=str(self.torch(self.root / "unpacked", "2.9.0")))
        self.assertIn("holds no PyTorch", self.setup("torch", TORCH=str(self.root / "tools"), code=1))

    def test_nvcc_comes_beside_pips_torch_of_the_same_version(self):
        self.setup("torch", "cuda", TORCH="pip")
        self.assertIn("nvidia-cuda-nvcc==13.2.*", self.pips()[-1])
        nvidia = self.cache / "torch-2.15.0/lib/python3.11/site-packages/nvidia/cu13"
        self.assertEqual(os.readlink(nvidia / "lib64"), "lib")
        self.assertEqual(os.readlink(nvidia / "lib/libcudart.so"), "libcudart.so.13")
        shutil.rmtree(self.root / "build")
        self.setup("torch", "cuda", TORCH="pip")
        self.assertEqual(len(self.pips()), 2)

    def test_why_there_is_no_nvcc_for_cuda_12_is_said(self):
        self.pip(offers="2.7.1", cuda="12.6")
        self.assertRegex(self.setup("cuda", TORCH="pip", TORCH_VERSION="2.7.1"), "no nvcc for PyTorch 2.7.1, built with CUDA 12.6.*13 alone")

    def test_the_preset_is_configured_with_what_was_settled_on(self):
        self.command("cmake", f'mkdir -p build/dev && echo "cmake $*" >>{self.log}')
        self.own_torch("2.8.0")
        self.setup("torch")
        for torch, expected in (("auto", self.root / "own/torch"), ("OFF", "OFF"), (str(self.root / "own/torch"), self.root / "own/torch")):
            self.run_tool(self.root / "tools/configure", "dev", "-DX=1", TORCH=torch)
            self.assertIn(f"-DLOCKSTEP_TORCH={expected} -DX=1", self.log.read_text().splitlines()[-1])
        self.run_tool(self.root / "tools/configure", "asan", "-DLOCKSTEP_TORCH=OFF")
        self.assertEqual(self.log.read_text().splitlines()[-1].count("LOCKSTEP_TORCH"), 1)


if __name__ == "__main__":
    unittest.main()
