#!/usr/bin/env python3
"""Two builds with different versions of libtorch train alike: losses of every step in f64 agree to 1e-9.

tools/check_versions.py BUILD BUILD [--models ...]: each model is trained by both from the same spec and seed, alone and by
two workers (ddp). Prints for each the largest relative difference of a step's loss; exits 6 when one is too large.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

VERIFICATION_FAILED = 6
MODELS = ["lenet5", "vit", "resnet18-cifar", "densenet121"]
# With 8 samples a worker densenet121's last maps, of one pixel, are normalised over eight values: training is chaotic then, and
# a difference in the last bit grows threefold in every step.
BATCH = 32  # of all workers
WAYS = {"single": ["--workers", "1"], "ddp": ["--workers", "2", "--strategy", "ddp"]}
TOLERANCE = 1e-9
RUN_TIMEOUT_SECONDS = 900


def train(build, model, way, steps):
    """The version of libtorch, and the losses of the steps."""
    with tempfile.TemporaryDirectory() as store:
        words = [build / "bin/lockstep", "train", "--model", model, "--data", "digits", "--precision", "f64", "--seed", "11", "--threads", "1",
                 "--global-batch", BATCH, "--steps", steps, *WAYS[way], "--store", store, "--progress", "none"]
        done = subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, text=True,
                              timeout=RUN_TIMEOUT_SECONDS, check=False)
        if done.returncode != 0:
            sys.exit(f"check_versions: {' '.join(map(str, words))}\nended with {done.returncode}: {done.stderr.strip()}")
        (events,) = Path(store).glob("runs/*/rank0.jsonl")
        lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    version = next(line["machine"]["libraries"]["libtorch"] for line in lines if line["event"] == "started")
    losses = {line["step"]: line["loss"] for line in lines if line["event"] == "step"}
    if sorted(losses) != list(range(steps)):
        sys.exit(f"check_versions: {model} of {build} has losses of the steps {sorted(losses)}, not of {steps}")
    return version, [losses[step] for step in range(steps)]


def difference(ours, theirs):
    return max(abs(a - b) / max(abs(a), abs(b)) for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, type=Path, metavar="BUILD")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    failed = False
    for model in options.models:
        for way in WAYS:
            (one, ours), (other, theirs) = (train(build, model, way, options.steps) for build in options.builds)
            worst = difference(ours, theirs)
            failed = failed or not worst <= TOLERANCE
            print(f"{model:15} {way:7} {one} and {other}: losses of {options.steps} steps, {ours[0]:.6f} to {ours[-1]:.6f}, differ by at most "
                  f"{worst:.1e}{'' if worst <= TOLERANCE else f'  TOO MUCH (allowed: {TOLERANCE:.0e})'}", flush=True)
    return VERIFICATION_FAILED if failed else 0


if __name__ == "__main__":
    sys.exit(main())
