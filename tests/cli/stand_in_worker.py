#!/usr/bin/env python3
"""Stands in for lockstep-worker in tests of the command line: it keeps the protocol and writes real event lines,
but trains nothing; every figure in them is made up. STAND_IN says what it does: finish (default), fail, crash,
wait (for SIGTERM or SIGINT), stubborn (passes over SIGTERM), silent (ends well without saying so), refuse (ends with an
error before its first event) or chatty."""

import json
import os
import signal
import sys
import time

RANK = int(os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
WORLD = int(os.environ.get("WORLD_SIZE", os.environ.get("OMPI_COMM_WORLD_SIZE", "1")))
BEHAVIOUR = os.environ.get("STAND_IN", "finish")
SEPARATORS = None if "STAND_IN_SPACES" in os.environ else (",", ":")  # engine torch writes spaces, ours none
BEGIN = time.time()


class Events:
    def __init__(self, run):
        self.file = open(os.path.join(run, f"rank{RANK}.jsonl"), "a", encoding="utf-8")

    def write(self, name, **fields):
        line = {"event": name, "rank": RANK, "time": time.time() - BEGIN, **fields}
        self.file.write(json.dumps(line, separators=SEPARATORS) + "\n")
        self.file.flush()


def run_of_rank_0():
    """The newest run of the store, once rank 0 has made it."""
    runs = os.path.join(os.environ["LOCKSTEP_STORE"], "runs")
    for _ in range(500):
        names = sorted(os.listdir(runs)) if os.path.isdir(runs) else []
        if names:
            return os.path.join(runs, names[-1])
        time.sleep(0.02)
    sys.exit("error: rank 0 made no run")


def step(number, batch):
    split = {"data": 0.001, "input": 0.0005, "forward": 0.002, "backward": 0.004, "exposed_comm": 0.001,
             "optimizer": 0.001, "other": 0.0005}
    return {"step": number, "epoch": 1, "seconds": 0.01, "samples": batch, "warmup": number < 2,
            "loss": 2.0 / (number + 1), "split_seconds": split, "busy_seconds": 0.003, "exposed_seconds": 0.001,
            "peer_wait_seconds": 0.0005}


def ledger_rows():
    row = {"rank": RANK, "purpose": "gradient", "collective": "all_reduce", "link": "shm", "wire_bytes": 1000,
           "messages": 10, "busy_seconds": 0.03}
    if RANK == 0:
        row["payload_bytes"] = 246824
    return [row]


def train(run):
    with open(os.path.join(run, "spec.json"), encoding="utf-8") as file:
        spec = json.load(file)
    if BEHAVIOUR == "refuse":
        print("error: the ranks do not agree", file=sys.stderr)
        sys.exit(3)
    events = Events(run)
    batch = spec.get("batch_size", 32)
    events.write("started", version="0.0.0", engine=spec["engine"], workers=WORLD, batch_per_worker=batch,
                 batch_global=batch * WORLD, started_at="2026-01-02T03:04:05Z")
    act(events, spec, batch)


def act(events, spec, batch):
    if BEHAVIOUR == "fail" and RANK == WORLD - 1:
        events.write("failed", kind="DataError", message="the images are upside down")
        print("error: the images are upside down", file=sys.stderr)
        sys.exit(3)
    if BEHAVIOUR == "crash" and RANK == WORLD - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if BEHAVIOUR == "silent":
        sys.exit(0)
    steps = spec.get("steps", 8)
    for number in range(steps):
        events.write("step", **step(number, batch))
        time.sleep(float(os.environ.get("STAND_IN_PAUSE", "0")))
    if BEHAVIOUR in ("wait", "stubborn", "fail", "crash"):
        wait_for_the_end(events)
    finish(events, spec, steps * batch)


def wait_for_the_end(events):
    def wind_down(signal_number, frame):
        time.sleep(float(os.environ.get("STAND_IN_WIND_DOWN", "0.7")))  # longer than the launcher's usual grace
        events.write("checkpoint", path="checkpoints/last", step=8)
        events.write("failed", kind="interrupted", message="stopped by SIGTERM")
        sys.exit(128 + signal_number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN if BEHAVIOUR == "stubborn" else wind_down)
    print("waiting", file=sys.stderr, flush=True)
    time.sleep(60)


def finish(events, spec, samples):
    if BEHAVIOUR == "chatty":
        print("a word for people", file=sys.stderr)
    events.write("epoch", epoch=1, seconds=0.5, learning_rate=spec["learning_rate"], train_samples=samples,
                 train_loss=0.5, train_accuracy=0.875, val_samples=100, val_loss=0.25, val_accuracy=0.9)
    events.write("ledger", rows=ledger_rows())
    events.write("memory", peak_bytes=3 * 2**20, by_use={"parameters": 2**20, "activations": 2 * 2**20})
    events.write("warning", message="this worker trains nothing")
    events.write("finished", wall_seconds={"load": 0.25, "train": 0.5})


def describe(arguments):
    classes = int(arguments[arguments.index("--classes") + 1]) if "--classes" in arguments else 10
    model = {"name": "lenet5", "description": "LeNet-5", "parameters": 60856 + 85 * classes,
             "flops_per_sample": 832160, "activation_bytes_per_sample": 30000, "classes": classes}
    print(json.dumps({"models": [model], "strategies": ["single", "ddp"], "libtorch": "none"}))


def main(arguments):
    if arguments[0] == "describe":
        return describe(arguments)
    place = arguments[arguments.index("--run") + 1] if "--run" in arguments else run_of_rank_0()
    if "--spec" in arguments:
        with open(arguments[arguments.index("--spec") + 1], encoding="utf-8") as file:
            assert json.load(file)["workers"] == WORLD
    return train(place)


main(sys.argv[1:])
