#!/usr/bin/env python3
"""Whether training on a GPU ends where PyTorch's does: the same model, data, order, weights to begin with and settings, several seeds each.

Both sides are `lockstep train`, in turns, seed by seed; the peer with --engine torch. What must hold: the mean accuracies differ by no more
than the seeds of either side do (the larger of the two ranges). Exits 5 where they don't. Seconds per epoch are the median of a run's
epochs but the first, which tries algorithms and records graphs.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 300
THRESHOLD = 5


def train(options, store, engine, seed):
    words = [options.lockstep, "train", "--engine", engine, "--device", "cuda", "--precision", options.precision, "--model", options.model,
             "--data", options.data, "--batch-size", str(options.batch), "--epochs", str(options.epochs), "--seed", str(seed),
             "--learning-rate", str(options.learning_rate), "--schedule", "cosine", "--momentum", "0.9", "--weight-decay", "5e-4",
             "--loader-threads", "8", "--store", store, "--progress", "none", "--json", *options.flags.split()]
    if options.train_samples:
        words += ["--train-samples", str(options.train_samples)]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"{engine}, seed {seed}: exit {done.returncode}: {done.stderr[-800:]}")
    return json.loads(done.stdout)


class Side:
    """What the seeds of one engine gave."""

    def __init__(self, engine):
        self.engine, self.accuracies, self.seconds = engine, [], []

    def add(self, record):
        epochs = record["epochs"]
        self.accuracies.append(epochs[-1]["val_accuracy"])
        self.seconds.append(statistics.median(epoch["seconds"] for epoch in epochs[1:] or epochs))

    def mean(self):
        return statistics.mean(self.accuracies)

    def spread(self):
        return max(self.accuracies) - min(self.accuracies)

    def line(self):
        seeds = ", ".join(f"{100 * accuracy:.2f}" for accuracy in self.accuracies)
        return (f"{self.engine:9} {100 * self.mean():.2f} % (seeds {seeds}; range {100 * self.spread():.2f}), "
                f"{statistics.median(self.seconds):.3f} s an epoch")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lockstep", default=str(ROOT / "build/cuda/bin/lockstep"))
    parser.add_argument("--model", default="resnet18-cifar")
    parser.add_argument("--data", default="cifar10")
    parser.add_argument("--train-samples", type=int, help="the first so many; default: all there are")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--flags", default="", help="more flags for both")
    return parser.parse_args()


def main():
    options = parse()
    ours, theirs = Side("lockstep"), Side("torch")
    with tempfile.TemporaryDirectory() as store:
        for seed in options.seeds.split(","):
            for side in (ours, theirs):
                side.add(train(options, store, side.engine, int(seed)))
                print(f"seed {seed}: {side.line()}", flush=True)
    difference, allowed = abs(ours.mean() - theirs.mean()), max(ours.spread(), theirs.spread())
    kept = difference <= allowed
    print(f"{options.model} on {options.data}, {options.epochs} epochs, {options.precision}")
    print(ours.line())
    print(theirs.line())
    print(f"the means differ by {100 * difference:.2f} points, the seeds by up to {100 * allowed:.2f}: {'kept' if kept else 'MISSED'}")
    return 0 if kept else THRESHOLD


if __name__ == "__main__":
    sys.exit(main())
