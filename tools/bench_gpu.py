#!/usr/bin/env python3
"""One worker on one GPU against PyTorch: bf16, channels-last, the whole step in a CUDA graph on both sides.

PyTorch's side is its best without a compiler: autocast, fused SGD, cudnn.benchmark, a batch that lies on the GPU already. Ours trains
as ever, with its loader, its measuring and its figures of quality. Both are run in turns; a ratio is ours over theirs, with the interval
of the repeats. Exits 5 when a ratio's interval stays below 1.
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
    samples = max(batch * 8, 1024)
    words = [program, "train", "--device", "cuda", "--precision", "bf16", "--graph", "on", "--model", model, "--batch-size", str(batch),
             "--image-size", str(pixels), "--data", DATA, "--train-samples", str(samples), "--augment", "none", "--validate-every",
             "0", "--steps", str(steps + 40), "--skip-steps", "40", "--loader-threads", "12", "--prefetch", "16", "--store", store,
             "--progress", "none", "--json", *flags]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False)
    if done.returncode != 0:
        print(f"{case}: exit {done.returncode}: {done.stderr[-600:]}")
        return None
    return json.loads(done.stdout)


def interval(values):
    return f"[{min(values):.2f}, {max(values):.2f}]"


def bench(options, case, store):
    ratios, rates, peers, split = [], [], [], {}
    for _ in range(options.repeats):
        other = theirs(case, options.steps)
        record = ours(options.lockstep, store, case, options.steps, options.flags.split())
        if other is None or record is None:
            return None
        rate = CASES[case][1] / record["steps"]["seconds"]["median"]
        ratios.append(rate / other)
        rates.append(rate)
        peers.append(other)
        split = record["steps"]["split_seconds"]
        warnings = record.get("warnings", [])
    spans = ", ".join(f"{name} {seconds * 1e6:.0f}" for name, seconds in split.items())
    print(f"{case:20} ours {statistics.median(rates):9.0f} img/s, PyTorch {statistics.median(peers):9.0f}, ratio "
          f"{statistics.median(ratios):.2f} {interval(ratios)}; us: {spans}; {warnings[:1] if warnings else ''}", flush=True)
    return max(ratios) >= 1.0


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
