"""The loss of a batch, and what validation judges by."""

import torch
import torch.nn.functional as F


def loss_kind(spec):
    if spec.loss != "auto":
        return spec.loss
    return "cross-entropy" if spec.data_facts.task == "classification" else "mse"


def loss_sum(kind, output, targets):
    """The sum over samples of their losses, as a scalar in at least single precision."""
    if output.dtype not in (torch.float32, torch.float64):
        output = output.float()
    if kind == "cross-entropy":
        return F.cross_entropy(output, targets, reduction="sum")
    targets = targets.reshape(output.shape).to(output.dtype)
    return F.mse_loss(output, targets, reduction="sum") / max(1, output[0].numel())


def right_answers(kind, output, targets):
    return (output.argmax(1) == targets).sum() if kind == "cross-entropy" else None


def psnr_sum(output, targets):
    """The sum over samples of their peak signal-to-noise ratios, of intensities from 0 to 1."""
    errors = ((output.double() - targets.double()) ** 2).flatten(1).mean(1)
    return (-10 * torch.log10(errors.clamp_min(1e-12))).sum()


class Totals:
    """Sums over the samples of an epoch. They stay where the model computes until someone asks."""

    def __init__(self):
        self.samples, self.loss, self.right, self.psnr = 0, None, None, None

    def add(self, samples, **sums):
        self.samples += samples
        for name, value in sums.items():
            if value is not None:
                before = getattr(self, name)
                setattr(self, name, value.detach() if before is None else before + value.detach())

    def mean(self, name):
        total = getattr(self, name)
        return None if total is None or self.samples == 0 else float(total) / self.samples
