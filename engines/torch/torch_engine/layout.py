"""Channels-last or not: whichever is faster for this model, batch and machine, found by trying both."""

import os
import time

import torch
import torch.distributed as dist
from torch import nn

TIMED_STEPS = 3


def has_convolutions(model):
    return any(isinstance(module, nn.Conv2d) for module in model.modules())


def format_of(channels_last):
    return torch.channels_last if channels_last else torch.contiguous_format


def seconds_of(model, inputs, channels_last, autocast):
    """The fastest of a few forward and backward passes."""
    model.to(memory_format=format_of(channels_last))
    inputs = inputs.contiguous(memory_format=format_of(channels_last))
    times = []
    for _ in range(1 + TIMED_STEPS):
        begin = time.perf_counter()
        with autocast():
            loss = model(inputs).float().sum()
        loss.backward()
        if inputs.is_cuda:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
        model.zero_grad(set_to_none=True)
    return min(times[1:])


def faster(model, inputs, autocast):
    kept = {name: buffer.clone() for name, buffer in model.named_buffers()}
    plain, last = (seconds_of(model, inputs, channels_last, autocast) for channels_last in (False, True))
    for name, buffer in model.named_buffers():
        buffer.data.copy_(kept[name])
    return last < plain


def choose(model, inputs, autocast):
    """Applies the faster layout to the model and says whether it is channels-last. All ranks take rank 0's word: buckets of
    different layouts would be added up wrongly."""
    asked = os.environ.get("LOCKSTEP_TORCH_CHANNELS_LAST", "auto")
    if asked in ("0", "1"):
        decision = asked == "1"
    elif not has_convolutions(model) or inputs.dtype == torch.float64:
        decision = False
    else:
        decision = faster(model, inputs, autocast)
    if dist.is_available() and dist.is_initialized():
        word = torch.tensor([int(decision)], device=inputs.device)
        dist.broadcast(word, 0)
        decision = bool(word.item())
    model.to(memory_format=format_of(decision))
    return decision
