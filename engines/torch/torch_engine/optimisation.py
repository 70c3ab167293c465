"""The update rule with the fastest form that this PyTorch has, and the learning rate of every step."""

import math

import torch

from torch_engine.errors import ConfigError


def make_optimizer(spec, parameters):
    """(optimizer, name of its form): fused where it exists, else over whole lists of tensors, else a plain loop."""
    kind, options = {
        "sgd": (torch.optim.SGD, {"momentum": spec.momentum, "nesterov": spec.nesterov}),
        "adam": (torch.optim.Adam, {"betas": (spec.beta1, spec.beta2), "eps": spec.epsilon}),
        "adamw": (torch.optim.AdamW, {"betas": (spec.beta1, spec.beta2), "eps": spec.epsilon}),
    }[spec.optimizer]
    options.update(lr=spec.learning_rate, weight_decay=spec.weight_decay)
    for form in ("fused", "foreach"):
        try:
            return kind(parameters, **options, **{form: True}), form
        except (TypeError, RuntimeError):  # not in this version, or not for this device
            continue
    try:
        return kind(parameters, **options), "plain"
    except ValueError as error:
        raise ConfigError(f"optimizer '{spec.optimizer}' is refused: {error}.") from error


class Schedule:
    """Base rate, linear scaling rule, gradual warm-up, schedule: a pure function of the step."""

    def __init__(self, spec, steps_per_epoch):
        self.spec, self.steps_per_epoch = spec, steps_per_epoch
        self.base_rate = self.full_rate = spec.learning_rate
        if spec.learning_rate_scaling == "linear":
            self.full_rate *= spec.batch_global / (spec.scaling_batch or spec.batch_per_worker)
        self.warmup_steps = round(spec.warmup_epochs * steps_per_epoch)
        self.total_steps = total_steps(spec, steps_per_epoch)
        if spec.schedule == "cosine" and self.total_steps is None:
            raise ConfigError("schedule 'cosine' is refused: it decays over the whole run, whose length is not known. Set epochs or "
                              "steps.")

    def learning_rate(self, step):
        if step < self.warmup_steps:
            return self.base_rate + (self.full_rate - self.base_rate) * step / self.warmup_steps
        if self.spec.schedule == "step":
            return self.full_rate * self.spec.schedule_factor ** (step // self.steps_per_epoch // self.spec.schedule_epochs)
        if self.spec.schedule == "cosine":
            done = (step - self.warmup_steps) / (self.total_steps - self.warmup_steps)  # the rate does not jump after warm-up
            return self.full_rate * 0.5 * (1 + math.cos(math.pi * done))
        return self.full_rate


def total_steps(spec, steps_per_epoch):
    limits = [spec.steps, spec.epochs and spec.epochs * steps_per_epoch]
    return min((limit for limit in limits if limit), default=None)
