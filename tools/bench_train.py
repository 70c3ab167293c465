#!/usr/bin/env python3
"""make bench-train: our engine against the machine's PyTorch, and what is promised of it.

Every (model, batch) is a lane pair: `lockstep train --engine lockstep` and `--engine torch` take turns, run by run, with the
same workers, threads, data and batch. A ratio is the median over rounds of the ratios within a round, with its 95 %
interval; "at least r times" holds when the median reaches r, and it is said where r lies within the interval. Efficiency
is against one worker of the same engine, which takes its turn too. Figures go to out/bench/train.json. Exits 5 when a
promise is not kept here.

--mode sixteen: 8 workers of 2 threads, beside 8 lone workers at once (communication off): what communication costs; and
beside strategy zero1, which makes the same update with an eighth of the optimiser's memory traffic on each worker.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out/bench"
THRESHOLD_MISSED = 5
RUN_TIMEOUT_SECONDS = 1800
BOOTSTRAP_ROUNDS = 4000

PIXELS = {"alexnet": 64, "vgg16": 32, "resnet18": 32, "resnet18-cifar": 32, "squeezenet1_0": 32, "densenet121": 32}
ALL_MODELS = ("lenet5", "vit", "resnet18-cifar", "resnet18", "squeezenet1_0", "alexnet", "vgg16", "densenet121")
SIXTEEN_MODELS = ("resnet18", "alexnet", "vgg16", "squeezenet1_0")
SIXTEEN_BATCH = {"vgg16": 16}
TWICE = ("lenet5", "vit")
MORE = ("alexnet", "vgg16")  # at batch 8 and 32
ENOUGH_OF_NO_COMMUNICATION = 0.9
# PyTorch at its best: no counting in its buckets.
ENVIRONMENT = {**os.environ, "LOCKSTEP_TORCH_COUNT": "0"}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("two", "sixteen"), default="two", help="the promise to look at")
    parser.add_argument("--models", help="comma-separated; default: all of the mode")
    parser.add_argument("--batches", default=None, help="per worker, comma-separated; default: 8,32, or 32 (vgg16: 16) in mode sixteen")
    parser.add_argument("--workers", type=int, help="default 2; 8 in mode sixteen")
    parser.add_argument("--threads", type=int, help="of a worker; default 1; 2 in mode sixteen")
    parser.add_argument("--repeats", type=int, default=5, help="rounds of every lane")
    parser.add_argument("--steps", type=int, default=0, help="measured steps of a run; default: about as many as five seconds take")
    parser.add_argument("--backend", default="auto", help="of our engine; PyTorch's is gloo")
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/bin/lockstep"), help="the program")
    parser.add_argument("--brief", action="store_true", help="lanes beside the pair (alone, no communication) take one turn, zero1 none")
    parser.add_argument("--out", help="the JSON file")
    options = parser.parse_args(arguments)
    sixteen = options.mode == "sixteen"
    options.models = (options.models or ",".join(SIXTEEN_MODELS if sixteen else ALL_MODELS)).split(",")
    options.workers = options.workers or (8 if sixteen else 2)
    options.threads = options.threads or (2 if sixteen else 1)
    options.batches = [int(batch) for batch in options.batches.split(",")] if options.batches else None
    options.out = Path(options.out or OUT / ("train.json" if not sixteen else "train_sixteen.json"))
    return options


def batches_of(options, model):
    if options.batches:
        return options.batches
    return [SIXTEEN_BATCH.get(model, 32)] if options.mode == "sixteen" else [8, 32]


WARM_UP_STEPS = 5
STEPS = {"lenet5": 200, "vit": 100, "squeezenet1_0": 40, "resnet18": 30, "alexnet": 12, "resnet18-cifar": 8, "densenet121": 10,
         "vgg16": 6}


def command(options, engine, model, batch, workers, strategy="ddp"):
    steps = options.steps or STEPS.get(model, 20)
    words = [options.lockstep, "train", "--engine", engine, "--model", model, "--data", options.data, "--batch-size", batch, "--workers",
             workers, "--threads", options.threads, "--device", "cpu", "--steps", steps + WARM_UP_STEPS, "--skip-steps", WARM_UP_STEPS,
             "--augment", "none", "--progress", "none", "--json"]
    if workers > 1:
        words += ["--strategy", strategy, "--backend", "gloo" if engine == "torch" else options.backend]
    if model in PIXELS:
        words += ["--image-size", PIXELS[model]]
    return [str(word) for word in words]


def record_of(words):
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=RUN_TIMEOUT_SECONDS,
                          env=ENVIRONMENT, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-train: {' '.join(words)}\nended with {done.returncode}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


class Lane:
    """One way to train, and what each round of it gave."""

    def __init__(self, name, words, processes=1):
        self.name, self.words, self.processes = name, words, processes
        self.rates, self.records = [], []

    def run(self):
        with ThreadPoolExecutor(self.processes) as pool:
            records = list(pool.map(record_of, [self.words] * self.processes))
        self.rates.append(sum(record["steps"]["samples_per_second"] for record in records))
        self.records.append(records[0])

    def summary(self):
        record = self.records[-1]
        return {"command": self.words, "processes": self.processes, "samples_per_second": self.rates,
                "libraries": record["machine"].get("libraries", {}), "split_seconds": record["steps"].get("split_seconds")}


def lanes_of(options, model, batch):
    lanes = {"lockstep": Lane("lockstep", command(options, "lockstep", model, batch, options.workers)),
             "torch": Lane("torch", command(options, "torch", model, batch, options.workers)),
             "lockstep alone": Lane("lockstep alone", command(options, "lockstep", model, batch, 1)),
             "torch alone": Lane("torch alone", command(options, "torch", model, batch, 1))}
    if options.mode == "sixteen" and not options.brief:
        lanes["zero1"] = Lane("zero1", command(options, "lockstep", model, batch, options.workers, "zero1"))
    if options.mode == "sixteen":
        lanes["no communication"] = Lane("no communication", command(options, "lockstep", model, batch, 1), options.workers)
    return lanes


def interval(values):
    """The median and its 95 % interval, by drawing the rounds again and again (seeded: the same figures give the same words)."""
    if len(values) < 3:
        return statistics.median(values), min(values), max(values)
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(BOOTSTRAP_ROUNDS))
    return statistics.median(values), medians[int(0.025 * BOOTSTRAP_ROUNDS)], medians[int(0.975 * BOOTSTRAP_ROUNDS) - 1]


def ratio(lanes, one, other):
    return interval([a / b for a, b in zip(lanes[one].rates, lanes[other].rates)])


def promised(options, model, batch):
    if options.mode == "sixteen":
        return 1.5
    if model in TWICE:
        return 2.0
    return 1.3 if model in MORE and batch in (8, 32) else 1.0


def figures_of(options, model, batch, lanes):
    figures = {"model": model, "batch_per_worker": batch, "lanes": {name: lane.summary() for name, lane in lanes.items()},
               "ratio": ratio(lanes, "lockstep", "torch"), "promised": promised(options, model, batch),
               "efficiency": {name: statistics.median(lanes[name].rates) / options.workers / statistics.median(lanes[f"{name} alone"].rates)
                              for name in ("lockstep", "torch")}}
    figures["kept"] = figures["ratio"][0] >= figures["promised"]
    if "zero1" in lanes:
        figures["ratio_of_zero1"] = ratio(lanes, "zero1", "torch")
        figures["kept_by"] = "ddp" if figures["kept"] else "zero1" if figures["ratio_of_zero1"][0] >= figures["promised"] else ""
        figures["kept"] = figures["kept_by"] != ""
    if "no communication" in lanes:
        figures["share_of_no_communication"] = ratio(lanes, "lockstep", "no communication")
        figures["kept"] = figures["kept"] or figures["share_of_no_communication"][0] >= ENOUGH_OF_NO_COMMUNICATION
    return figures


def print_head(options):
    print(f"{options.workers} workers of {options.threads} thread{'s' if options.threads > 1 else ''}, {options.data}, "
          f"{options.repeats} rounds; samples per second of all workers")
    print(f"{'model':>15} {'batch':>5} {'lockstep':>10} {'torch':>10} {'ratio [95 %]':>22} {'efficiency':>15}  promise")


def print_row(figures):
    ours, theirs = (statistics.median(figures["lanes"][name]["samples_per_second"]) for name in ("lockstep", "torch"))
    shown = "{:.2f} [{:.2f}, {:.2f}]".format(*figures["ratio"])
    efficiency = "{lockstep:.0%} / {torch:.0%}".format(**figures["efficiency"])
    _, low, high = figures["ratio"]
    verdict = f"{figures['promised']:g}: {'kept' if figures['kept'] else 'MISSED'}"
    if low < figures["promised"] <= high:
        verdict += ", within the noise"
    if "ratio_of_zero1" in figures:
        verdict += " (by {}); zero1 {:.2f} [{:.2f}, {:.2f}]".format(figures["kept_by"] or "neither", *figures["ratio_of_zero1"])
    if "share_of_no_communication" in figures:
        verdict += "; {:.0%} of no communication".format(figures["share_of_no_communication"][0])
    print(f"{figures['model']:>15} {figures['batch_per_worker']:>5} {ours:10.1f} {theirs:10.1f} {shown:>22} {efficiency:>15}  "
          f"{verdict}", flush=True)


def bench(options, model, batch):
    lanes = lanes_of(options, model, batch)
    for number in range(options.repeats):
        order = [lane for name, lane in lanes.items() if number == 0 or not options.brief or name in ("lockstep", "torch")]
        for lane in order[number % len(order):] + order[:number % len(order)]:  # nobody is always first
            lane.run()
    return figures_of(options, model, batch, lanes)


def main(arguments):
    options = parse(arguments)
    if not Path(options.lockstep).exists():
        sys.exit(f"bench-train: {options.lockstep} is not there: build it (make build), or name it with --lockstep.")
    print_head(options)
    rows = []
    for model in options.models:
        for batch in batches_of(options, model):
            rows.append(bench(options, model, batch))
            print_row(rows[-1])
            write(options, rows)  # a long run that is stopped keeps what it has
    torch = rows[-1]["lanes"]["torch"]["libraries"]
    print(f"\nPyTorch {torch.get('torch', 'unknown')} ({torch.get('torch settings', 'settings unknown')})")
    print(f"figures: {options.out}")
    return 0 if all(row["kept"] for row in rows) else THRESHOLD_MISSED


def write(options, rows):
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"schema": 1, "kind": "bench-train", "mode": options.mode, "workers": options.workers,
                                       "threads": options.threads, "repeats": options.repeats, "rows": rows}, indent=1))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
