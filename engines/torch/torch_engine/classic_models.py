"""ResNet-18 (and its variant for small images), VGG-16, SqueezeNet 1.0, DenseNet-121 and AlexNet with torchvision's names, for
machines without torchvision."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


def convolution(in_channels, out_channels, kernel, stride=1):
    return nn.Conv2d(in_channels, out_channels, kernel, stride=stride, padding=kernel // 2, bias=False)


class ResidualBlock(nn.Module):
    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.conv1 = convolution(in_channels, out_channels, 3, stride)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = convolution(out_channels, out_channels, 3)
        self.bn2 = nn.BatchNorm2d(out_channels)
        changes = stride != 1 or in_channels != out_channels
        self.downsample = nn.Sequential(convolution(in_channels, out_channels, 1, stride),
                                        nn.BatchNorm2d(out_channels)) if changes else None

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(x)).add_(shortcut), inplace=True)


class ResNet18(nn.Module):
    def __init__(self, classes, channels=3, width=64, small_images=False):
        super().__init__()
        self.conv1 = convolution(channels, width, 3) if small_images else convolution(channels, width, 7, 2)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = None if small_images else nn.MaxPool2d(3, stride=2, padding=1)
        sides = (width, width, 2 * width, 4 * width, 8 * width)
        for number in range(1, 5):
            inner, outer = sides[number - 1], sides[number]
            stage = nn.Sequential(ResidualBlock(inner, outer, 1 if number == 1 else 2), ResidualBlock(outer, outer, 1))
            setattr(self, f"layer{number}", stage)
        self.fc = nn.Linear(8 * width, classes)

    def forward(self, x):  # [batch, channels, height, width]
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = x if self.maxpool is None else self.maxpool(x)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Classifier(nn.Module):
    """Features, a pool to a fixed side, linear layers."""

    def __init__(self, features, side, classifier):
        super().__init__()
        self.features, self.classifier = features, classifier
        self.avgpool = nn.AdaptiveAvgPool2d(side)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def relu():
    return nn.ReLU(inplace=True)


def resnet18(classes):
    return ResNet18(classes)


def alexnet(classes):
    pool = lambda: nn.MaxPool2d(3, stride=2)  # noqa: E731
    features = nn.Sequential(nn.Conv2d(3, 64, 11, stride=4, padding=2), relu(), pool(), nn.Conv2d(64, 192, 5, padding=2), relu(),
                             pool(), nn.Conv2d(192, 384, 3, padding=1), relu(), nn.Conv2d(384, 256, 3, padding=1), relu(),
                             nn.Conv2d(256, 256, 3, padding=1), relu(), pool())
    classifier = nn.Sequential(nn.Dropout(), nn.Linear(256 * 36, 4096), relu(), nn.Dropout(), nn.Linear(4096, 4096), relu(),
                               nn.Linear(4096, classes))
    return Classifier(features, 6, classifier)


def vgg16(classes):
    layers, channels = [], 3
    for out in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        layers += [nn.MaxPool2d(2)] if out == 0 else [nn.Conv2d(channels, out, 3, padding=1), relu()]
        channels = out or channels
    classifier = nn.Sequential(nn.Linear(512 * 49, 4096), relu(), nn.Dropout(), nn.Linear(4096, 4096), relu(), nn.Dropout(),
                               nn.Linear(4096, classes))
    return Classifier(nn.Sequential(*layers), 7, classifier)


class Fire(nn.Module):
    def __init__(self, in_channels, narrow, wide):
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, narrow, 1)
        self.expand1x1 = nn.Conv2d(narrow, wide, 1)
        self.expand3x3 = nn.Conv2d(narrow, wide, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x), inplace=True)
        return torch.cat([F.relu(self.expand1x1(x), inplace=True), F.relu(self.expand3x3(x), inplace=True)], 1)


class SqueezeNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        pool = lambda: nn.MaxPool2d(3, stride=2, ceil_mode=True)  # noqa: E731
        self.features = nn.Sequential(nn.Conv2d(3, 96, 7, stride=2), relu(), pool(), Fire(96, 16, 64), Fire(128, 16, 64),
                                      Fire(128, 32, 128), pool(), Fire(256, 32, 128), Fire(256, 48, 192), Fire(384, 48, 192),
                                      Fire(384, 64, 256), pool(), Fire(512, 64, 256))
        self.classifier = nn.Sequential(nn.Dropout(), nn.Conv2d(512, classes, 1), relu(), nn.AdaptiveAvgPool2d(1))

    def forward(self, x):
        return self.classifier(self.features(x)).flatten(1)


def squeezenet1_0(classes):
    return SqueezeNet(classes)


class DenseLayer(nn.Module):
    def __init__(self, in_channels, growth=32):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(in_channels)
        self.conv1 = convolution(in_channels, 4 * growth, 1)
        self.norm2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = convolution(4 * growth, growth, 3)

    def forward(self, maps):
        x = self.conv1(F.relu(self.norm1(torch.cat(maps, 1)), inplace=True))
        return self.conv2(F.relu(self.norm2(x), inplace=True))


class DenseBlock(nn.ModuleDict):
    def __init__(self, in_channels, layers):
        super().__init__(OrderedDict((f"denselayer{i + 1}", DenseLayer(in_channels + 32 * i)) for i in range(layers)))

    def forward(self, x):
        maps = [x]
        for layer in self.values():
            maps.append(layer(maps))
        return torch.cat(maps, 1)


def densenet121(classes):
    parts = OrderedDict(conv0=convolution(3, 64, 7, 2), norm0=nn.BatchNorm2d(64), relu0=relu(), pool0=nn.MaxPool2d(3, 2, 1))
    width = 64
    for number, layers in enumerate((6, 12, 24, 16), 1):
        parts[f"denseblock{number}"] = DenseBlock(width, layers)
        width += 32 * layers
        if number < 4:
            parts[f"transition{number}"] = nn.Sequential(OrderedDict(
                norm=nn.BatchNorm2d(width), relu=relu(), conv=convolution(width, width // 2, 1), pool=nn.AvgPool2d(2)))
            width //= 2
    parts.update(norm5=nn.BatchNorm2d(width), relu5=relu())
    return Classifier(nn.Sequential(parts), 1, nn.Linear(width, classes))
