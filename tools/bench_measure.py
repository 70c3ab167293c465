#!/usr/bin/env python3
"""make bench-measure: what measuring costs.

In one run measuring rests in every second block of steps (LOCKSTEP_MEASURE_TURN), so that both kinds of steps have the same
process, memory and cores. The cost is the median over neighbouring blocks of the ratio of their steps, less one, with its
95 % interval. Of a block its median step counts; on a GPU, whose steps the device's clock measures in one block and the
host's in the next, the mean of its last three quarters. Exits 5 when the cost is 1 % or more, unless the interval reaches
below that: then it is called noise.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THRESHOLD_MISSED = 5
RUN_TIMEOUT_SECONDS = 600
BOOTSTRAP_ROUNDS = 4000
BOUND = 0.01
BLOCKS = 200
TURN = {"lenet5": 50, "vit": 20}  # steps of a block
PIXELS = {"squeezenet1_0": 32, "resnet18-cifar": 32}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="lenet5,vit,squeezenet1_0", help="comma-separated; the smaller, the harder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of a worker")
    parser.add_argument("--batch", type=int, default=32, help="per worker")
    parser.add_argument("--blocks", type=int, default=BLOCKS)
    parser.add_argument("--turn", type=int, help="steps of a block")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/bin/lockstep"), help="the program")
    return parser.parse_args(arguments)


def seconds_of_steps(options, model, turn):
    with tempfile.TemporaryDirectory() as store:
        words = [options.lockstep, "train", "--model", model, "--batch-size", options.batch, "--workers", options.workers,
                 "--threads", options.threads, "--device", options.device, "--overlap", "off", "--store", store,
                 "--steps", turn * (options.blocks + 2), "--validate-every", 0, "--progress", "none", "--json"]
        if options.device != "cpu":  # measuring cannot rest in what a graph repeats
            words += ["--graph", "off"]
        if model in PIXELS:
            words += ["--image-size", PIXELS[model]]
        done = subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, text=True,
                              timeout=RUN_TIMEOUT_SECONDS, check=False, env={**os.environ, "LOCKSTEP_MEASURE_TURN": str(turn)})
        if done.returncode != 0:
            sys.exit(f"bench-measure: {model} ended with {done.returncode}:\n{done.stderr.strip()}")
        path = Path(store) / "runs" / json.loads(done.stdout)["id"] / "rank0.jsonl"
        events = [json.loads(line) for line in path.read_text().splitlines()]
    return [event["seconds"] for event in events if event["event"] == "step"]


def step_of_block(options, seconds):
    if options.device == "cpu":
        return statistics.median(seconds)
    return statistics.mean(seconds[len(seconds) // 4:])


def costs(options, model):
    """The first two blocks warm up. A block is compared with the mean of its neighbours, which are of the other kind."""
    turn = options.turn or TURN.get(model, 10)
    seconds = seconds_of_steps(options, model, turn)
    blocks = [step_of_block(options, seconds[begin:begin + turn]) for begin in range(2 * turn, len(seconds), turn)]
    return [blocks[at] / statistics.mean((blocks[at - 1], blocks[at + 1])) - 1 for at in range(2, len(blocks) - 1, 2)]


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
        values = costs(options, model)
        median, (low, high) = statistics.median(values), interval(values)
        word = verdict(median, low)
        missed = missed or word == "MISSED"
        print(f"{model:<16} measuring costs {median:+.2%} of a step (95 % interval {low:+.2%} to {high:+.2%}): {word}", flush=True)
    return THRESHOLD_MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
