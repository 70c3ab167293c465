"""Initial weights: for every parameter the distribution that our models draw it from, filled from the stream of its name.

Weights are drawn here and not read from a file, so that the script stands alone; they equal our engine's to the bit.
"""

import math

import numpy as np
import torch
from torch import nn

from torch_engine import philox


def fans(weight):
    area = math.prod(weight.shape[2:])
    return weight.shape[1] * area, weight.shape[0] * area


def torch_default(fan_in, _):
    return "uniform", 1 / math.sqrt(fan_in)


def kaiming_normal_in(fan_in, _):
    return "normal", math.sqrt(2 / fan_in)


def kaiming_normal_out(_, fan_out):
    return "normal", math.sqrt(2 / fan_out)


def kaiming_uniform(fan_in, _):
    return "uniform", math.sqrt(6 / fan_in)


def normal_of(deviation):
    return lambda fan_in, fan_out: ("normal", deviation)


def zero(*_):
    return "constant", 0.0


# Model: (weights, biases) of its convolutions, then of its linear layers. The others have torch's defaults.
FAMILIES = {
    "resnet18": ((kaiming_normal_out, zero), (torch_default, torch_default)),
    "resnet18-cifar": ((kaiming_normal_out, zero), (torch_default, torch_default)),
    "vgg16": ((kaiming_normal_out, zero), (normal_of(0.01), zero)),
    "squeezenet1_0": ((kaiming_uniform, zero), (torch_default, torch_default)),
    "densenet121": ((kaiming_normal_in, zero), (torch_default, zero)),
    "deepwide": ((kaiming_normal_in, zero), (torch_default, torch_default)),
    "restorer": ((kaiming_normal_in, zero), (torch_default, torch_default)),
}
DEFAULT = ((torch_default, torch_default), (torch_default, torch_default))


def family_of(model_name, module, path, last_convolution):
    if model_name == "squeezenet1_0" and path == "classifier.1":
        return normal_of(0.01), zero
    if model_name == "restorer" and path == last_convolution:
        return normal_of(0.001), zero
    return FAMILIES.get(model_name, DEFAULT)[0 if isinstance(module, nn.Conv2d) else 1]


def fill(tensor, distribution, seed, name):
    kind, value = distribution
    with torch.no_grad():
        if kind == "constant":
            tensor.fill_(value)
            return
        draw = philox.uniform if kind == "uniform" else philox.normal
        values = draw(tensor.numel(), value, seed, name)
        tensor.copy_(torch.from_numpy(np.ascontiguousarray(values)).view(tensor.shape))


def initialise(model, model_name, seed):
    convolutions = [path for path, module in model.named_modules() if isinstance(module, nn.Conv2d)]
    last_convolution = convolutions[-1] if convolutions else ""
    for path, module in model.named_modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            weights, biases = family_of(model_name, module, path, last_convolution)
            fan_in, fan_out = fans(module.weight)
            fill(module.weight, weights(fan_in, fan_out), seed, f"{path}.weight")
            if module.bias is not None:
                fill(module.bias, biases(fan_in, fan_out), seed, f"{path}.bias")
        elif hasattr(module, "class_token"):
            fill(module.class_token, ("uniform", 1.0), seed, f"{path}.class_token")
