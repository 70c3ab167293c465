"""The networks that torchvision lacks, with the unit names of lockstep/models/zoo as module names."""

from collections import OrderedDict

import torch.nn.functional as F
from torch import nn


class LeNet5(nn.Module):
    def __init__(self, shape, classes):
        super().__init__()
        channels, height, width = shape
        self.conv1 = nn.Conv2d(channels, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * ((height // 2 - 4) // 2) * ((width // 2 - 4) // 2), 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, x):  # [batch, channels, 28, 28]
        x = F.max_pool2d(F.relu(self.conv1(x), inplace=True), 2)  # [batch, 6, 14, 14]
        x = F.max_pool2d(F.relu(self.conv2(x), inplace=True), 2).flatten(1)  # [batch, 400]
        x = F.relu(self.fc1(x), inplace=True)
        return self.fc3(F.relu(self.fc2(x), inplace=True))


class PilotNet(nn.Module):
    """NVIDIA's steering network."""

    def __init__(self, shape):
        super().__init__()
        channels, height, width = shape
        sizes = ((channels, 24, 5, 2), (24, 36, 5, 2), (36, 48, 5, 2), (48, 64, 3, 1), (64, 64, 3, 1))
        self.features = named_chain(*(("conv", nn.Conv2d(i, o, k, stride=s)) for i, o, k, s in sizes))
        inner = 64 * self.final_side(height) * self.final_side(width)
        self.regressor = named_chain(*(("fc", nn.Linear(i, o)) for i, o in ((inner, 100), (100, 50), (50, 10), (10, 1))))

    @staticmethod
    def final_side(side):
        for _ in range(3):
            side = (side - 5) // 2 + 1
        return side - 4

    def forward(self, x):  # [batch, 3, 66, 200]
        for layer in self.features:
            x = F.relu(layer(x), inplace=True)
        x = x.flatten(1)
        for layer in self.regressor[:-1]:
            x = F.relu(layer(x), inplace=True)
        return self.regressor[-1](x)  # [batch, 1]


def named_chain(*parts):
    """A Sequential whose layers are called conv1, conv2, ..."""
    return nn.Sequential(OrderedDict((f"{name}{number}", layer) for number, (name, layer) in enumerate(parts, 1)))


class DeepWide(nn.Module):
    """Equal convolutions at full resolution: made to exhaust memory."""

    def __init__(self, channels, classes, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(width if i else channels, width, 3, padding=1) for i in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):  # [batch, channels, height, width]
        for layer in self.layers:
            x = F.relu(layer(x), inplace=True)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Restorer(nn.Module):
    """Predicts the noise and takes it away."""

    def __init__(self, channels, width, depth):
        super().__init__()
        sides = [channels] + [width] * (depth - 1) + [channels]
        self.layers = nn.ModuleList(nn.Conv2d(i, o, 3, padding=1) for i, o in zip(sides, sides[1:]))

    def forward(self, noisy):  # [batch, channels, height, width]
        x = noisy
        for layer in self.layers[:-1]:
            x = F.relu(layer(x), inplace=True)
        return noisy - self.layers[-1](x)
