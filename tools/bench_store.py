#!/usr/bin/env python3
"""make bench-store: how long a store of 10,000 runs takes to be listed, and one study of it to be reported.

Usage: tools/bench_store.py [--program build/release/bin/lockstep] [--runs 10000]. Trains one small run, makes copies of its record
under other ids, studies and repeats, imports nothing by hand: the directories are written, the index follows. Beside them a small
study is really run in that store. Prints the first list (which reads every record), the following ones, the list of one study, the
report of the one that was run, and reindex.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def timed(command):
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return time.monotonic() - begin, done.stdout


def make_runs(store, record, count):
    """Directories as a study leaves them: 100 studies of equal size, cells of 5 repeats."""
    for number in range(count):
        run = dict(record)
        run["id"] = f"20260102T{number // 3600 % 24:02}{number // 60 % 60:02}{number % 60:02}.{number % 1000:03}Z-{number:08x}-0000"
        run["study"], run["cell"], run["repeat"] = f"study-{number % 100}", f"workers={number // 500}", number // 100 % 5 + 1
        folder = store / "runs" / run["id"]
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text(json.dumps(run["spec"], indent=2), encoding="utf-8")
        (folder / "record.json").write_text(json.dumps(run, indent=2), encoding="utf-8")


STUDY = """name: small
title: A small study
question: Are two workers faster than one?
base: {model: lenet5, data: digits, train_samples: 640, val_samples: 64, steps: 10}
axes: {workers: [1, 2], global_batch: [32, 64]}
repeats: 2
tables: [summary, scaling, split, bytes, quality]
charts: [speedup, split, bytes, loss-by-epoch]
"""


def run_study(program, store):
    file = store / "small.yaml"
    file.write_text(STUDY, encoding="utf-8")
    timed([program, "study", str(file), "--store", str(store), "--progress", "none"])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/bin/lockstep")
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-store-") as folder:
        store = Path(folder)
        _, text = timed([options.program, "train", "--data", "digits", "--train-samples", "3200", "--val-samples", "32",
                         "--workers", "2", "--json", "--progress", "none", "--store", str(store / "one")])
        make_runs(store, json.loads(text), options.runs)
        run_study(options.program, store)
        runs = [options.program, "runs", "--store", str(store)]
        print(f"{options.runs} runs, {sum(f.stat().st_size for f in store.glob('runs/*/record.json')) / 2**20:.0f} MiB of records")
        for what, command in [("list, first (reads every record)", [*runs, "list"]), ("list", [*runs, "list"]),
                              ("list --json", [*runs, "list", "--json"]), ("list of one study", [*runs, "list", "--study", "study-7"]),
                              ("export of one study", [*runs, "export", "study-7"]),
                              ("report of one study, term", [options.program, "report", "small", "--store", str(store)]),
                              ("report of one study, html", [options.program, "report", "small", "--format", "html", "--store", str(store)]), ("reindex", [*runs, "reindex"])]:
            seconds, _ = timed(command)
            print(f"{what:34} {seconds:8.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
