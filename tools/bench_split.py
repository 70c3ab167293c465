#!/usr/bin/env python3
"""make bench-split: how much of a step no span explains, on every model at batch 32.

Prints the split of each model's mean step, of the rank with the largest share of `other`, and exits 5 where that share is
above its bound: 2 %, 5 % for lenet5 and vit. Figures go to out/bench/split.json.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THRESHOLD_MISSED = 5
RUN_TIMEOUT_SECONDS = 1800
WARM_UP_STEPS = 5
SPANS = ("data", "input", "forward", "backward", "exposed_comm", "optimizer", "other")
BOUNDS = {"lenet5": 0.05, "vit": 0.05}
BOUND = 0.02
# Model -> measured steps, and what it is trained on.
LANES = {
    "lenet5": (300, []),
    "vit": (200, []),
    "pilotnet": (20, ["--data", "road", "--train-samples", "2000"]),
    "restorer": (20, ["--data", "texture", "--train-samples", "2000"]),
    "deepwide": (20, []),
    "squeezenet1_0": (40, ["--image-size", "32"]),
    "resnet18": (20, ["--image-size", "32"]),
    "resnet18-cifar": (8, ["--image-size", "32"]),
    "alexnet": (10, ["--image-size", "64"]),
    "densenet121": (8, ["--image-size", "32"]),
    "vgg16": (6, ["--image-size", "32"]),
}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(LANES), help="comma-separated")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of a worker")
    parser.add_argument("--batch", type=int, default=32, help="per worker")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/bin/lockstep"), help="the program")
    parser.add_argument("--out", type=Path, default=ROOT / "out/bench/split.json")
    return parser.parse_args(arguments)


def record_of(options, model):
    steps, flags = LANES[model]
    words = [options.lockstep, "train", "--model", model, *flags, "--batch-size", options.batch, "--workers", options.workers,
             "--threads", options.threads, "--device", options.device, "--steps", steps + WARM_UP_STEPS, "--skip-steps",
             WARM_UP_STEPS, "--validate-every", 0, "--progress", "none", "--json"]
    done = subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, text=True,
                          timeout=RUN_TIMEOUT_SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-split: {model} ended with {done.returncode}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def share_of_other(split):
    return split["other"] / sum(split[span] for span in SPANS)


def worst_split(record):
    return max((rank["split_seconds"] for rank in record["per_rank"]), key=share_of_other)


def line_of(model, split):
    step = sum(split[span] for span in SPANS)
    shares = " ".join(f"{split[span] / step:>12.2%}" for span in SPANS)
    kept = share_of_other(split) <= BOUNDS.get(model, BOUND)
    return f"{model:<16} {step * 1e3:>10.2f} {shares}  {'kept' if kept else 'MISSED'}"


def main(arguments):
    options = parse(arguments)
    print(f"{'model':<16} {'step, ms':>10} " + " ".join(f"{span:>12}" for span in SPANS) + "  bound")
    splits = {}
    for model in options.models.split(","):
        splits[model] = worst_split(record_of(options, model))
        print(line_of(model, splits[model]), flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(splits, indent=1) + "\n", encoding="utf-8")
    missed = [model for model, split in splits.items() if share_of_other(split) > BOUNDS.get(model, BOUND)]
    return THRESHOLD_MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
