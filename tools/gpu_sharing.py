#!/usr/bin/env python3
"""Several workers on one GPU: runs drawn from a seed, each of which must end well, in a list that can be gone on with.

    tools/gpu_sharing.py --bin build/cuda/bin [--seed 31] [--runs 150] [--limit 480] [--out out/sharing.jsonl]
    tools/gpu_sharing.py --only 17          number 17 of the list again, with everything it said
    tools/gpu_sharing.py --list             what is drawn, without running it

Every run is a valid combination of workers, slices, strategy, backend, recorded steps, model, precision and sizes of buckets. In
f64, p2p must give the losses of shm on the same GPU, and nccl those of its own run without a recorded step, to the last bit. An
outcome is a line of the file before the next run begins; the same command goes on behind the last one. Exits 1 when a run did not
end well, 3 when the limit came before the end of the list.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 60
STALL_SECONDS = 20  # --timeout of a run: nothing here waits that long for a peer
LIMIT_SECONDS = 110  # of a whole run
UNFINISHED = 3
MODELS = {  # flags: small enough that eight of them fit beside each other in f64
    "resnet18-cifar": "--image-size 32",
    "vit": "",
    "vgg16": "--image-size 32",
    "densenet121": "--image-size 32",
}
WORKERS = [2, 3, 4, 6, 8]
STRATEGIES = ["ddp", "ddp", "ddp", "horovod", "horovod", "zero1", "zero3", "localsgd"]
BUCKETS = ["256K", "512K", "1M", "4M", "25M"]


def draw(seed, number):
    """The flags of one run, without backend and recording, and these two."""
    choice = random.Random(f"{seed}:{number}")
    workers = choice.choice(WORKERS)
    strategy = choice.choice(STRATEGIES)
    model = choice.choice(list(MODELS))
    precision = choice.choice(["bf16", "bf16", "f32", "f64"])
    share = round(choice.uniform(10, 100 / workers), 1)
    batch = choice.choice([8, 32] if precision == "f64" or model == "densenet121" else [8, 32, 128])
    buckets = choice.choice(BUCKETS)
    words = ["--model", model, *MODELS[model].split(), "--data", "digits", "--train-samples", str(STEPS * batch * workers),
             "--precision", precision, "--strategy", strategy, "--workers", str(workers), "--batch-size", str(batch),
             "--slice-share", f"{share}%", "--overlap", choice.choice(["auto", "auto", "off"]), "--buffers", choice.choice(["broadcast", "local"])]
    if strategy in ("ddp", "zero1"):
        words += ["--bucket-bytes", buckets, "--first-bucket-bytes", choice.choice(["256K", "1M"])]
    if strategy == "horovod":
        words += ["--fusion-bytes", buckets]
    if strategy == "localsgd":
        words += ["--local-steps", str(choice.choice([1, 7]))]
    backend = choice.choice(["p2p", "nccl"])
    graph = choice.choice(["auto", "on", "off"]) if strategy == "ddp" else "auto"
    return words, backend, graph


def losses_of(store):
    (events,) = Path(store).glob("runs/*/rank0.jsonl")
    lines = (json.loads(line) for line in events.read_text(encoding="utf-8").splitlines())
    return [line["loss"] for line in lines if line["event"] == "step"]


def train(options, words, backend, graph):
    """How one run ended: exit code, seconds, losses, and what it said if it did not end well."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as store:
        command = [options.bin / "lockstep", "train", *words, "--backend", backend, "--graph", graph, "--device", "cuda", "--threads", "1",
                   "--steps", STEPS, "--learning-rate", "0.005", "--validate-every", "0", "--seed", "5", "--timeout", f"{STALL_SECONDS}s",
                   "--store", store, "--progress", "none"]
        command = [str(word) for word in command]
        began = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                  timeout=LIMIT_SECONDS, check=False)
            code, said = done.returncode, done.stderr
        except subprocess.TimeoutExpired as expired:
            code, said = -1, "did not end within " + f"{LIMIT_SECONDS} s\n" + ((expired.stderr or b"").decode("utf-8", "replace"))
        outcome = {"code": code, "seconds": round(time.monotonic() - began, 1), "command": " ".join(command[1:])}
        if options.only is not None:
            print(said, file=sys.stderr)
        if code == 0:
            outcome["losses"] = losses_of(store)
        else:
            errors = [line for line in said.splitlines() if "error" in line or "rank" in line] or said.splitlines()
            outcome["said"] = "\n".join(errors[:8])[:1500]
        return outcome


def judge(options, number):
    words, backend, graph = draw(options.seed, number)
    outcome = train(options, words, backend, graph)
    losses = outcome.pop("losses", None)
    verdict = "well" if outcome["code"] == 0 else "failed"
    if verdict == "well" and len(losses) != STEPS:
        verdict = f"{len(losses)} steps"
    if verdict == "well" and "f64" in words and options.bits:
        other = ("shm", "off") if backend == "p2p" else ("nccl", "off")
        reference = train(options, words, *other)
        if reference["code"] != 0:
            verdict = "reference failed"
            outcome["reference"] = reference
        elif reference["losses"] != losses:
            first = next(i for i, pair in enumerate(zip(losses, reference["losses"])) if pair[0] != pair[1])
            verdict = f"other bits than {other[0]} with --graph {other[1]}, first in step {first}"
        else:
            outcome["bits"] = "equal"
    return {"number": number, "verdict": verdict, **outcome}


def read_outcomes(path, head):
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if lines and lines[0] != head:
        sys.exit(f"error: {path} is of another list: {lines[0]}. Next step: --fresh, or another --out")
    return {line["number"]: line for line in lines[1:]}


def print_summary(outcomes, runs):
    bad = [outcome for outcome in outcomes.values() if outcome["verdict"] != "well"]
    for outcome in sorted(bad, key=lambda each: each["number"]):
        print(f"-- {outcome['number']}: {outcome['verdict']} (code {outcome['code']}, {outcome['seconds']} s)\n   lockstep {outcome['command']}\n   "
              + outcome.get("said", "").replace("\n", "\n   "))
    equal = sum(1 for outcome in outcomes.values() if outcome.get("bits") == "equal")
    print(f"{len(outcomes)} of {runs} runs: {len(outcomes) - len(bad)} ended well, {len(bad)} did not; {equal} in f64 with equal bits")
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=Path("build/cuda/bin"))
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--limit", type=float, default=480, help="seconds; no run begins after it")
    parser.add_argument("--out", type=Path, default=Path("out/sharing.jsonl"))
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--only", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-bits", dest="bits", action="store_false", help="without the runs that f64 is compared with")
    parser.add_argument("--scratch", default=os.environ.get("TMPDIR"))
    options = parser.parse_args()
    if options.list:
        for number in range(options.runs):
            words, backend, graph = draw(options.seed, number)
            print(number, *words, "--backend", backend, "--graph", graph)
        return 0
    if options.only is not None:
        print(json.dumps(judge(options, options.only), indent=1))
        return 0
    head = {"seed": options.seed, "runs": options.runs, "steps": STEPS}
    outcomes = {} if options.fresh else read_outcomes(options.out, head)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if not outcomes:
        options.out.write_text(json.dumps(head) + "\n", encoding="utf-8")
    began = time.monotonic()
    for number in range(options.runs):
        if number in outcomes:
            continue
        if time.monotonic() - began > options.limit:
            break
        outcomes[number] = judge(options, number)
        with options.out.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(outcomes[number]) + "\n")
        print(f"{number}: {outcomes[number]['verdict']}, {outcomes[number]['seconds']} s", flush=True)
    well = print_summary(outcomes, options.runs)
    return 1 if not well else 0 if len(outcomes) == options.runs else UNFINISHED


if __name__ == "__main__":
    sys.exit(main())
