#!/usr/bin/env python3
"""One worker on one GPU against PyTorch: bf16, channels-last, the whole step in a CUDA graph on both sides.

PyTorch's side is its best without a compiler: autocast, fused SGD, cudnn.benchmark, a batch that lies on the GPU already. Ours trains
as ever, with its loader, its measuring and its figures of quality. Both are run in turns; a ratio is ours over theirs, with the interval
of the repeats. Ours runs a third time without measuring: what that costs; and `other`, the share of the step that no span explains.
Exits 5 when a ratio's interval stays below 1, when measuring costs 1 % or more in every repeat, or when `other` is more than 2 %.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 200
THRESHOLD = 5
MOST_COST, MOST_OTHER = 0.01, 0.02
DATA = "fashion-mnist"
CASES = {  # name: model, batch, pixels
    "resnet18-cifar-32": ("resnet18-cifar", 32, 32),
    "resnet18-cifar-128": ("resnet18-cifar", 128, 32),
    "resnet18-cifar-512": ("resnet18-cifar", 512, 32),
    "vit-128": ("vit", 128, 28),
    "squeezenet1_0-128": ("squeezenet1_0", 128, 32),
    "alexnet-128": ("alexnet", 128, 64),
    "vgg16-128": ("vgg16", 128, 32),
    "densenet121-128": ("densenet121", 128, 32),
    "resnet18-224": ("resnet18", 128, 224),
    "vgg16-224": ("vgg16", 64, 224),
}


def peer(model_name, batch, pixels, steps):
    """Images per second of PyTorch, measured in this process."""
    import torch
    sys.path.insert(0, str(ROOT / "engines/torch"))
    from torch_engine import models, run_spec
    fields = {"model": model_name, "image_size": pixels, "data": DATA, "device": "cuda", "batch_size": batch}
    spec = run_spec.resolve(SimpleNamespace(**{**run_spec.DEFAULTS, **fields}), 1)
    torch.backends.cudnn.benchmark = True
    model = models.build(spec, 10).cuda().to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    images = torch.randn(batch, *spec.input_shape, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (batch,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(20):
        graph.replay()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(steps):
        graph.replay()
    end.record()
    end.synchronize()
    return batch * steps / (begin.elapsed_time(end) / 1e3)


def theirs(case, steps):
    model, batch, pixels = CASES[case]
    words = [sys.executable, __file__, "--peer", model, str(batch), str(pixels), str(steps)]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False)
    if done.returncode != 0:
        print(f"{case}: PyTorch ended with {done.returncode}: {done.stderr[-400:]}")
        return None
    return float(done.stdout.split()[-1])


def ours(program, store, case, steps, flags):
    model, batch, pixels = CASES[case]
    words = [program, "train", "--device", "cuda", "--precision", "bf16", "--graph", "on", "--model", model, "--batch-size", str(batch),
             "--image-size", str(pixels), "--data", DATA, "--augment", "none", "--validate-every",
             "0", "--steps", str(steps + 40), "--skip-steps", "40", "--loader-threads", "12", "--prefetch", "16", "--store", store,
             "--progress", "none", "--json", *flags]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False)
    if done.returncode != 0:
        print(f"{case}: exit {done.returncode}: {done.stderr[-600:]}")
        return None
    return json.loads(done.stdout)


def interval(values, form=".2f"):
    return f"{statistics.median(values):{form}} [{min(values):{form}}, {max(values):{form}}]"


def rate_of(record):
    return record["steps"]["samples_per_second"]


def step_of(record):
    """The median: without measuring, steps at the end of an epoch are the host's time only, which runs ahead of the device."""
    return record["steps"]["seconds"]["median"]


class Case:
    """What the repeats of one case gave."""

    def __init__(self, name):
        self.name, self.rates, self.peers, self.costs, self.split, self.warnings = name, [], [], [], {}, []

    def add(self, peer_rate, record, unmeasured):
        self.rates.append(rate_of(record))
        self.peers.append(peer_rate)
        self.costs.append(step_of(record) / step_of(unmeasured) - 1)
        self.split, self.warnings = record["steps"]["split_seconds"], record.get("warnings", [])

    def ratios(self):
        return [ours / theirs for ours, theirs in zip(self.rates, self.peers)]

    def other(self):
        return self.split["other"] / sum(self.split.values())

    def kept(self):
        return max(self.ratios()) >= 1.0 and min(self.costs) < MOST_COST and self.other() <= MOST_OTHER

    def show(self):
        spans = ", ".join(f"{name} {seconds * 1e6:.0f}" for name, seconds in self.split.items())
        print(f"{self.name:19} ours {statistics.median(self.rates):7.0f} img/s, PyTorch {statistics.median(self.peers):7.0f}, ratio "
              f"{interval(self.ratios())}; measuring {interval(self.costs, '+.2%')}; other {self.other():.2%}; us: {spans}"
              f"{'; ' + self.warnings[0] if self.warnings else ''}: {'ok' if self.kept() else 'MISSED'}", flush=True)


def bench(options, name, store):
    case = Case(name)
    flags = options.flags.split()
    for _ in range(options.repeats):
        given = (theirs(name, options.steps), ours(options.lockstep, store, name, options.steps, flags),
                 ours(options.lockstep, store, name, options.steps, [*flags, "--no-measure"]))
        if None in given:
            return False
        case.add(*given)
    case.show()
    return case.kept()


def main():
    if sys.argv[1:2] == ["--peer"]:
        model, batch, pixels, steps = sys.argv[2:6]
        print(peer(model, int(batch), int(pixels), int(steps)))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lockstep", default=str(ROOT / "build/cuda/bin/lockstep"))
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--flags", default="", help="more flags for ours")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as store:
        kept = [bench(options, case, store) for case in options.cases.split(",")]
    return 0 if all(kept) else THRESHOLD


if __name__ == "__main__":
    sys.exit(main())
