"""What the tests of engine torch share: a Python that has torch, and runs of the engine with ranks set by hand."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "engines/torch/lockstep_torch.py"
SKIPPED = 77
RUN_TIMEOUT_SECONDS = 240

sys.path.insert(0, str(SCRIPT.parent))


def pythons():
    given, built_with = os.environ.get("LOCKSTEP_PYTHON"), os.environ.get("LOCKSTEP_BUILT_WITH_PYTHON")
    return [given] if given else [*filter(None, [built_with]), sys.executable, "/usr/bin/python3"]


def has_torch(python):
    try:
        return subprocess.run([python, "-c", "import torch, numpy"], capture_output=True, timeout=120).returncode == 0
    except OSError:
        return False


def main():
    """Runs the calling file's tests under a Python that has torch, or says that there is none."""
    python = next(filter(has_torch, pythons()), None)
    if python is None:
        print(f"skipped: none of {', '.join(pythons())} can import torch and numpy (apt install python3-torch)")
        sys.exit(SKIPPED)
    if python != sys.executable:
        os.execv(python, [python, *sys.argv])
    unittest.main()


class Rank:
    """A finished rank: its exit code, what it said and its events."""

    def __init__(self, code, said, file):
        self.code, self.said = code, said
        self.events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def of(self, kind):
        return [event for event in self.events if event["event"] == kind]

    def losses(self):
        return [event["loss"] for event in self.of("step")]

    def ledger(self, purpose):
        rows = self.of("ledger")[-1]["rows"]
        return [row for row in rows if row["purpose"] == purpose]


class EngineCase(unittest.TestCase):
    directory_suffix = ""

    def start(self, spec, world=1, environment=None):
        """Starts every rank; returns the run's directory and the processes."""
        folder = tempfile.TemporaryDirectory(suffix=self.directory_suffix)
        self.addCleanup(folder.cleanup)
        directory = Path(folder.name)
        (directory / "spec.json").write_text(json.dumps({"engine": "torch", "device": "cpu", "threads": 1, "workers": world, **spec}))
        processes = [subprocess.Popen([sys.executable, str(SCRIPT), "train", "--run", str(directory)], stderr=subprocess.PIPE, text=True,
                                      env=self.rank_environment(rank, world, environment or {})) for rank in range(world)]
        return directory, processes

    @staticmethod
    def rank_environment(rank, world, more):
        numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "MASTER_PORT": 1}
        # The layout is fixed: the trial of both takes time, and the faster one may differ from run to run.
        fixed = {"LOCKSTEP_TORCH_CHANNELS_LAST": "0", "MASTER_ADDR": "127.0.0.1"}
        return {**os.environ, **{name: str(number) for name, number in numbers.items()}, **fixed, **more}

    def finish(self, directory, processes):
        ranks = []
        for rank, process in enumerate(processes):
            _, said = process.communicate(timeout=RUN_TIMEOUT_SECONDS)
            ranks.append(Rank(process.returncode, said, directory / f"rank{rank}.jsonl"))
        return ranks

    def run_engine(self, spec, world=1, environment=None):
        return self.finish(*self.start(spec, world, environment))

    def train(self, spec, world=1, environment=None):
        """As run_engine, and every rank must have finished."""
        ranks = self.run_engine(spec, world, environment)
        for rank in ranks:
            self.assertEqual(rank.code, 0, rank.said)
        return ranks

    def assert_close(self, one, other, tolerance):
        self.assertEqual(len(one), len(other))
        worst = max(abs(a - b) for a, b in zip(one, other))
        self.assertLessEqual(worst, tolerance, f"{one}\n{other}")
