#!/usr/bin/env python3
"""make bench-strategies: every strategy beside PyTorch's DDP over gloo, interleaved in one run of 2 workers of 1 thread.

Lanes take turns, run by run, with the same workers, threads, data and batch. A ratio is to PyTorch's DDP within the same
round; medians over rounds with their 95 % interval. Bytes and messages are of all ranks, per step, without what is sent
once at the start; memory is the peak of the worst worker. Figures go to out/bench/strategies.json. Exits 5 when our ddp is
slower than PyTorch's on a model.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import bench_train
from bench_train import OUT, PIXELS, ROOT, STEPS, THRESHOLD_MISSED, WARM_UP_STEPS, Lane, ratio

PEER = "torch ddp gloo"
DP = "--strategy dp --backend local"
DP_SWITCHES = ("coalesced-broadcast", "threaded-scatter", "coalesced-reduction", "keep-originals")
LANES = {
    PEER: "--engine torch --strategy ddp --backend gloo",
    "ddp shm": "--strategy ddp --backend shm",
    "ddp gloo": "--strategy ddp --backend gloo",
    "ddp mpi": "--strategy ddp --backend mpi",
    "ddp shm f16": "--strategy ddp --backend shm --compression f16",
    "ddp shm bf16": "--strategy ddp --backend shm --compression bf16",
    "dp plain": DP,
    **{f"dp {switch}": f"{DP} --{switch}" for switch in DP_SWITCHES},
    "dp all four": " ".join([DP] + [f"--{switch}" for switch in DP_SWITCHES]),
    "horovod shm": "--strategy horovod --backend shm",
    "horovod gloo": "--strategy horovod --backend gloo",
    "localsgd shm": "--strategy localsgd --local-steps 8 --backend shm",
    "zero1 shm": "--strategy zero1 --backend shm",
    "zero3 shm": "--strategy zero3 --backend shm",
}
ONLY_OURS = ("ddp shm", PEER)
TABLE_MODELS = ("lenet5", "vit", "squeezenet1_0", "resnet18")
OTHER_MODELS = ("alexnet", "vgg16", "resnet18-cifar", "densenet121")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(TABLE_MODELS), help="every lane; comma-separated")
    parser.add_argument("--ddp-models", default=",".join(OTHER_MODELS), help="only ddp beside PyTorch's; may be empty")
    parser.add_argument("--lanes", help="comma-separated; default: all (PyTorch's is always there)")
    parser.add_argument("--batch", type=int, default=32, help="per worker")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="rounds of every lane")
    parser.add_argument("--steps", type=int, default=0, help="measured steps of a run; default: as in bench-train")
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--lockstep", default=str(ROOT / "build/release/bin/lockstep"), help="the program")
    parser.add_argument("--out", default=str(OUT / "strategies.json"), help="the JSON file")
    return parser.parse_args(arguments)


def command(options, model, flags):
    steps = options.steps or STEPS.get(model, 20)
    words = [options.lockstep, "train", "--model", model, "--data", options.data, "--batch-size", options.batch, "--workers",
             options.workers, "--threads", 1, "--device", "cpu", "--steps", steps + WARM_UP_STEPS, "--skip-steps", WARM_UP_STEPS,
             "--augment", "none", "--validate-every", 0, "--progress", "none", "--json", *flags.split()]
    if model in PIXELS:
        words += ["--image-size", PIXELS[model]]
    return [str(word) for word in words]


def per_step(record, field):
    """Of all ranks; what is broadcast once at the start is left out."""
    once = ("parameter", "buffer")
    rows = [row for row in record["ledger"] if row["purpose"] != "input" and not
            (row["collective"] == "broadcast" and row["purpose"] in once and record["spec"]["strategy"] != "dp")]
    return sum(row.get(field) or 0 for row in rows) / max(1, record["steps"]["count"])


def figures_of(lane, peer):
    record = lane.records[-1]
    figures = {"command": lane.words, "samples_per_second": lane.rates, "step_seconds": record["steps"]["seconds"]["median"],
               "split_seconds": record["steps"].get("split_seconds"), "comm": record.get("comm", {}),
               "payload_bytes_per_step": per_step(record, "payload_bytes"), "wire_bytes_per_step": per_step(record, "wire_bytes"),
               "messages_per_step": per_step(record, "messages"), "memory": record.get("memory"), "ledger": record["ledger"]}
    if peer is not None:
        figures["ratio"] = ratio({"lane": lane, "peer": peer}, "lane", "peer")
    return figures


def mebibytes(count):
    return f"{count / 2**20:.2f}" if count else "-"


def print_row(name, figures):
    exposed = (figures["split_seconds"] or {}).get("exposed_comm")
    memory = figures["memory"]["peak_bytes"] if figures["memory"] else 0
    shown = "{:.2f} [{:.2f}, {:.2f}]".format(*figures["ratio"]) if "ratio" in figures else ""
    print(f"{name:>24} {statistics.median(figures['samples_per_second']):10.1f} {shown:>18} {1e3 * figures['step_seconds']:9.2f} "
          f"{'-' if exposed is None else format(1e3 * exposed, '.2f'):>9} {mebibytes(figures['payload_bytes_per_step']):>9} "
          f"{mebibytes(figures['wire_bytes_per_step']):>9} {figures['messages_per_step']:9.1f} {mebibytes(memory):>9}", flush=True)


def print_head(options, model):
    print(f"\n{model}, batch {options.batch} per worker, {options.workers} workers of 1 thread, {options.repeats} rounds")
    print(f"{'lane':>24} {'samples/s':>10} {'ratio [95 %]':>18} {'step ms':>9} {'exposed':>9} {'payload':>9} {'wire MiB':>9} "
          f"{'messages':>9} {'peak MiB':>9}", flush=True)


def bench(options, model, names):
    lanes = {name: Lane(name, command(options, model, LANES[name])) for name in names}
    for number in range(options.repeats):
        order = list(lanes.values())
        for lane in order[number % len(order):] + order[:number % len(order)]:  # nobody is always first
            lane.run()
    print_head(options, model)
    rows = {name: figures_of(lane, lanes.get(PEER)) for name, lane in lanes.items()}
    for name, figures in rows.items():
        print_row(name, figures)
    return rows


def main(arguments):
    options = parse(arguments)
    if not Path(options.lockstep).exists():
        sys.exit(f"bench-strategies: {options.lockstep} is not there: build it (make build), or name it with --lockstep.")
    chosen = options.lanes.split(",") if options.lanes else list(LANES)
    unknown = [name for name in chosen if name not in LANES]
    if unknown:
        sys.exit(f"bench-strategies: there is no lane {', '.join(unknown)}; there are: {', '.join(LANES)}")
    names = [PEER] + [name for name in chosen if name != PEER]
    results = {}
    for model, lanes in [(model, names) for model in options.models.split(",") if model] + \
                        [(model, ONLY_OURS) for model in options.ddp_models.split(",") if model]:
        results[model] = bench(options, model, lanes)
        write(options, results)  # a long run that is stopped keeps what it has
    slower = [model for model, rows in results.items() if "ddp shm" in rows and rows["ddp shm"]["ratio"][2] < 1.0]
    print(f"\nour ddp against PyTorch's: {'slower on ' + ', '.join(slower) if slower else 'at least as fast on every model'}")
    print(f"figures: {options.out}")
    return THRESHOLD_MISSED if slower else 0


def write(options, results):
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"schema": 1, "kind": "bench-strategies", "workers": options.workers, "batch_per_worker": options.batch,
                               "repeats": options.repeats, "models": results}, indent=1))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
