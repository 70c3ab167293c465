"""Bilinear resizing as lockstep/data/resampler.cc does it: the same weights, the same order of sums, single precision."""

import math

import numpy as np


def axis_taps(source, target):
    """(first, weights): for every target pixel its first source pixel and its weights, padded with zeros."""
    scale = source / target
    reach = max(1.0, scale)
    firsts, rows = [], []
    for i in range(target):
        centre = (i + 0.5) * scale
        first, end = max(0, math.floor(centre - reach)), min(source, math.ceil(centre + reach))
        weights = [max(0.0, 1 - abs(j + 0.5 - centre) / reach) for j in range(first, end)]
        firsts.append(first)
        rows.append([weight / sum(weights) for weight in weights])
    most = max(map(len, rows))
    padded = np.array([row + [0.0] * (most - len(row)) for row in rows], dtype=np.float32)
    return np.array(firsts), padded


def resample(images, height, width):
    """[..., from_height, from_width] bytes to [..., height, width] floats: across first, then down."""
    first, weights = axis_taps(images.shape[-1], width)
    rows = np.zeros(images.shape[:-1] + (width,), dtype=np.float32)
    for k in range(weights.shape[1]):
        rows += weights[:, k] * images[..., np.minimum(first + k, images.shape[-1] - 1)].astype(np.float32)
    first, weights = axis_taps(images.shape[-2], height)
    out = np.zeros(rows.shape[:-2] + (height, width), dtype=np.float32)
    for k in range(weights.shape[1]):
        out += weights[:, k, None] * rows[..., np.minimum(first + k, images.shape[-2] - 1), :]
    return out
