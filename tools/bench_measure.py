#!/usr/bin/env python3
"""make bench-measure: what measuring costs.

Runs with `--measure true` and `--measure false` take turns, and which of the two comes first does too. The cost is the
median over rounds of the ratio of their calm steps, less one, with its 95 % interval. A calm step is the fifth percentile:
measuring adds the same to every step, and a machine that does something else to some. Exits 5 when the cost is 1 % or more,
unless the interval reaches below that: then it is called noise.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THRESHOLD_MISSED = 5
RUN_TIMEOUT_SECONDS = 600
WARM_UP_STEPS = 10
BOOTSTRAP_ROUNDS = 4000
BOUND = 0.01
STEPS = {"lenet5": 1000, "vit": 400, "squeezenet1_0": 60, "resnet18-cifar": 10}
PIXELS = {"squeezenet1_0": 32, "resnet18-cifar": 32}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="lenet5,vit,squeezenet1_0", help="comma-separated; the smaller, the harder")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of a worker")
    parser.add_argument("--batch", type=int, default=32, help="per worker")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/bin/lockstep"), help="the program")
    return parser.parse_args(arguments)


def calm_step(options, model, measured):
    words = [options.lockstep, "train", "--model", model, "--measure", "true" if measured else "false", "--batch-size", options.batch,
             "--workers", options.workers, "--threads", options.threads, "--device", options.device, "--overlap", "off",
             "--steps", STEPS.get(model, 40) + WARM_UP_STEPS, "--skip-steps", WARM_UP_STEPS, "--validate-every", 0,
             "--progress", "none", "--json"]
    if model in PIXELS:
        words += ["--image-size", PIXELS[model]]
    done = subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, text=True,
                          timeout=RUN_TIMEOUT_SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-measure: {model} ended with {done.returncode}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)["steps"]["seconds"]["p5"]


def cost_of_a_round(options, model, number):
    steps = {}
    for measured in (True, False) if number % 2 == 0 else (False, True):
        steps[measured] = calm_step(options, model, measured)
    return steps[True] / steps[False] - 1


def interval(values):
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(BOOTSTRAP_ROUNDS))
    return medians[int(0.025 * BOOTSTRAP_ROUNDS)], medians[int(0.975 * BOOTSTRAP_ROUNDS) - 1]


def verdict(median, low):
    if median < BOUND:
        return "kept"
    return "above the bound, within the noise" if low < BOUND else "MISSED"


def main(arguments):
    options = parse(arguments)
    missed = False
    for model in options.models.split(","):
        costs = [cost_of_a_round(options, model, number) for number in range(options.rounds)]
        median, (low, high) = statistics.median(costs), interval(costs)
        word = verdict(median, low)
        missed = missed or word == "MISSED"
        print(f"{model:<16} measuring costs {median:+.2%} of a step (95 % interval {low:+.2%} to {high:+.2%}): {word}", flush=True)
    return THRESHOLD_MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
