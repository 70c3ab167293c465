#!/usr/bin/env python3
"""Weights of torchvision's five models go both ways, and the logits agree to 1e-4. Needs torch and torchvision.

For each model, in evaluation mode on the same random images:
  ours to theirs:  weights saved by `lockstep train --export-weights` load into torchvision's model, strictly by name;
  theirs to ours:  torchvision's weights, saved as safetensors and as .pt, are read by `lockstep-worker logits`.
Exits 6 when one differs, 4 when torchvision is missing.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "engines/torch"))

MISSING, VERIFICATION_FAILED = 4, 6
MODELS = {"resnet18": 32, "vgg16": 32, "squeezenet1_0": 32, "densenet121": 32, "alexnet": 64}  # model: pixels
CLASSES = 10
TOLERANCE = 1e-4
RUN_TIMEOUT_SECONDS = 600

try:
    import torch
    import torchvision
except ImportError as absent:
    print(f"check_torchvision: {sys.executable} cannot import it: {absent}", file=sys.stderr)
    sys.exit(MISSING)

from torch_engine.weights_file import read_safetensors, write_safetensors  # noqa: E402


def run(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, text=True,
                          timeout=RUN_TIMEOUT_SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"check_torchvision: {' '.join(map(str, words))}\nended with {done.returncode}: {done.stderr.strip()}")


def our_logits(options, model, weights, folder):
    out = folder / "logits.safetensors"
    run([options.bin / "lockstep-worker", "logits", "--model", model, "--weights", weights, "--input", folder / "input.safetensors",
         "--out", out])
    (logits,) = read_safetensors(out).values()
    return logits


def their_logits(network, images):
    network.eval()
    with torch.no_grad():
        return network(images)


def random_network(model):
    """torchvision's, with statistics of batch norm that are not the initial ones."""
    torch.manual_seed(7)
    network = getattr(torchvision.models, model)(num_classes=CLASSES)
    for name, buffer in network.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0, 0.1)
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    return network


def largest_difference(one, other):
    """Against the largest logit, where it is above 1: single precision has no more to give."""
    return ((one - other).abs().max() / max(1.0, float(other.abs().max()))).item()


def ours_to_theirs(options, model, pixels, images, folder):
    weights = folder / "ours.safetensors"
    run([options.bin / "lockstep", "train", "--model", model, "--data", options.data, "--image-size", pixels, "--batch-size", 4,
         "--steps", 1, "--export-weights", weights, "--device", "cpu", "--progress", "none", "--json"])
    network = getattr(torchvision.models, model)(num_classes=CLASSES)
    network.load_state_dict(read_safetensors(weights), strict=True)
    return largest_difference(our_logits(options, model, weights, folder), their_logits(network, images))


def theirs_to_ours(options, model, images, folder):
    network = random_network(model)
    write_safetensors(str(folder / "theirs.safetensors"), network.state_dict())
    torch.save(network.state_dict(), folder / "theirs.pt")
    expected = their_logits(network, images)
    return [largest_difference(our_logits(options, model, folder / name, folder), expected) for name in ("theirs.safetensors", "theirs.pt")]


def check(options, model, pixels):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images = torch.randn(4, 3, pixels, pixels, generator=torch.Generator().manual_seed(3))
        write_safetensors(str(folder / "input.safetensors"), {"input": images})
        differences = [ours_to_theirs(options, model, pixels, images, folder), *theirs_to_ours(options, model, images, folder)]
    agrees = all(difference <= TOLERANCE for difference in differences)
    print(f"{model:>14} {pixels:>4} px  ours to torchvision {differences[0]:.1e}  torchvision to ours {differences[1]:.1e} (safetensors) "
          f"{differences[2]:.1e} (.pt)  {'agree' if agrees else 'DIFFER'}", flush=True)
    return agrees


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help="where lockstep and lockstep-worker are")
    parser.add_argument("--data", default="fashion-mnist", help="what our side trains its one step on")
    parser.add_argument("--models", default=",".join(MODELS))
    options = parser.parse_args(arguments)
    print(f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}; logits may differ by {TOLERANCE:g}")
    agreed = [check(options, model, MODELS[model]) for model in options.models.split(",")]
    return 0 if all(agreed) else VERIFICATION_FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
