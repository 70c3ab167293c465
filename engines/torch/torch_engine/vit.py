"""The small vision transformer of lockstep/models/zoo/vit.cc: 4x4 patches, a class token, fixed sinusoidal position codes,
pre-norm blocks whose heads have q, k and v maps of their own and no output projection."""

import math

import torch
import torch.nn.functional as F
from torch import nn

PATCH = 4


def position_codes(tokens, width):
    token = torch.arange(tokens, dtype=torch.float64)[:, None]
    column = torch.arange(width)
    angle = token / torch.pow(torch.tensor(10000.0, dtype=torch.float64), (column - column % 2).double() / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())  # [tokens, width]


class Tokens(nn.Module):
    def __init__(self, shape, width):
        super().__init__()
        channels, height, image_width = shape
        tokens = 1 + (height // PATCH) * (image_width // PATCH)
        self.class_token = nn.Parameter(torch.empty(1, width))
        self.map = nn.Linear(channels * PATCH * PATCH, width)
        self.register_buffer("codes", position_codes(tokens, width), persistent=False)

    def forward(self, x):  # [batch, channels, height, width]
        batch, channels, height, width = x.shape
        rows, columns = height // PATCH, width // PATCH
        patches = x.reshape(batch, channels, rows, PATCH, columns, PATCH).permute(0, 2, 4, 1, 3, 5)
        tokens = self.map(patches.reshape(batch, rows * columns, channels * PATCH * PATCH))
        return torch.cat([self.class_token.expand(batch, 1, -1), tokens], 1) + self.codes


class HeadAttention(nn.Module):
    is_one_layer = True  # its maps are frozen and trained together

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.side = heads, width // heads
        for name in ("q", "k", "v"):
            setattr(self, name, nn.ModuleList(nn.Linear(self.side, self.side) for _ in range(heads)))

    def forward(self, x):  # [batch, tokens, width]
        batch, tokens, width = x.shape
        slices = x.reshape(batch * tokens, self.heads, self.side).transpose(0, 1)  # [heads, batch*tokens, side]
        q, k, v = (self.mapped(maps, slices).view(self.heads * batch, tokens, self.side) for maps in (self.q, self.k, self.v))
        scores = torch.bmm(q, k.transpose(1, 2)) * (1 / math.sqrt(self.side))
        mixed = torch.bmm(F.softmax(scores, -1), v)  # [heads*batch, tokens, side]
        return mixed.view(self.heads, batch, tokens, self.side).permute(1, 2, 0, 3).reshape(batch, tokens, width)

    @staticmethod
    def mapped(maps, slices):
        """All heads in one batch of products: far faster than a loop over them."""
        weight = torch.stack([linear.weight for linear in maps])  # [heads, side, side]
        bias = torch.stack([linear.bias for linear in maps])[:, None]  # [heads, 1, side]
        return torch.baddbmm(bias, slices, weight.transpose(1, 2))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = HeadAttention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):  # [batch, tokens, width]
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Vit(nn.Module):
    def __init__(self, shape, classes, width, depth, heads):
        super().__init__()
        self.tokens = Tokens(shape, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, classes)

    def forward(self, x):  # [batch, 1, 28, 28]
        return self.head(self.blocks(self.tokens(x))[:, 0])
