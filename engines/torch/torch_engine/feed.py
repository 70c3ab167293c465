"""Which samples a rank works on in which step, and the tensors of a step.

Everything that does not change from epoch to epoch (decoding, resizing, normalising) is done once, before training, for the
samples that the run will use: a step only gathers rows. Shifts, mirrors and noise are drawn for each epoch, keyed as
docs/data.md says.
"""

from dataclasses import dataclass

import numpy as np
import torch

from torch_engine.keyed_random import AUGMENTATION, NOISE, Draws, normals, shuffled_order
from torch_engine.resampler import resample
from torch_engine.sample_set import share_of

CROP_PART = 8
PIECE = 2048  # images prepared at a time


@dataclass
class Batch:
    inputs: torch.Tensor  # [count, channels, height, width]; grey where grey is to feed three channels
    targets: torch.Tensor  # [count] labels, [count, 1] angles or clean patches
    count: int  # samples that count: 0 where a rank only keeps the others company
    global_count: int
    last_of_epoch: bool


class Feed:
    def __init__(self, spec, samples, rank, world, train):
        self.spec, self.set, self.rank, self.world, self.train = spec, samples, rank, world, train
        self.shape, self.facts = spec.input_shape, spec.data_facts
        augment = self.facts.augmentation if spec.augment == "auto" else spec.augment
        self.crop = train and augment.startswith("crop")
        self.flip = train and augment.endswith("flip")
        self.jitter = train and augment != "none"
        self.steps_per_epoch = -(-len(samples) // spec.batch_global)
        self.orders = {}
        if samples.task != "restoration":
            self.prepare()

    def order(self, epoch):
        if not self.train or self.spec.shuffle == "none":
            return np.arange(len(self.set))
        epoch = 0 if self.spec.shuffle == "once" else epoch
        if epoch not in self.orders:
            self.orders = {epoch: shuffled_order(len(self.set), self.spec.seed, epoch)}
        return self.orders[epoch]

    def plan(self, epoch, step):
        """(this rank's samples, samples of all ranks). A rank without samples gets two of the step's first ones."""
        begin = step * self.spec.batch_global
        total = min(self.spec.batch_global, len(self.set) - begin)
        first, count = share_of(total, self.world, self.rank)
        order = self.order(epoch)
        own = order[begin + first:begin + first + count]
        return (own if count else order[begin:begin + min(2, total)]), count, total

    def prepare(self):
        """Resizes and normalises the samples that will be used, and remembers in which row each stands."""
        used = self.used_samples()
        self.row_of = np.full(len(self.set), -1, dtype=np.int64)
        self.row_of[used] = np.arange(len(used))
        channels = self.set.images.shape[1]
        self.inputs = torch.empty((len(used), channels) + tuple(self.shape[1:]))
        for begin in range(0, len(used), PIECE):
            piece = self.set.images[used[begin:begin + PIECE]]
            self.inputs[begin:begin + PIECE] = torch.from_numpy(self.normalised(piece))
        targets = self.set.labels if self.set.task == "classification" else self.set.values[:, None]
        self.targets = torch.from_numpy(np.ascontiguousarray(targets[used]))

    def used_samples(self):
        if self.train and self.spec.steps is not None and self.spec.steps < self.steps_per_epoch:
            return np.unique(np.concatenate([self.plan(0, step)[0] for step in range(self.spec.steps)]))
        if not self.train:
            return np.unique(np.concatenate([self.plan(0, step)[0] for step in range(self.steps_per_epoch)]))
        return np.arange(len(self.set))

    def normalised(self, images):
        """(pixel / 255 - mean) / deviation as one product and one sum, in single precision."""
        if images.shape[2:] != tuple(self.shape[1:]):
            images = resample(images, *self.shape[1:])
        scale, bias = self.scale_and_bias(images.shape[1])
        return images.astype(np.float32) * scale + bias

    def scale_and_bias(self, channels):
        mean = np.array(self.facts.mean[:channels], dtype=np.float32).reshape(-1, 1, 1)
        deviation = np.array(self.facts.deviation[:channels], dtype=np.float32).reshape(-1, 1, 1)
        return np.float32(1) / (np.float32(255) * deviation), -mean / deviation

    def batch(self, epoch, step):
        samples, count, total = self.plan(epoch, step)
        last = step + 1 == self.steps_per_epoch
        if self.set.task == "restoration":
            inputs, targets = self.patches(samples, epoch if self.train else 0)
        else:
            rows = torch.from_numpy(self.row_of[samples])
            inputs, targets = self.inputs.index_select(0, rows), self.targets.index_select(0, rows)
            if self.crop or self.flip:
                inputs, targets = self.changed(inputs, targets, samples, epoch)
        return Batch(inputs, targets, count, total, last)

    def changed(self, inputs, targets, samples, epoch):
        """Shifted and mirrored; what comes in at the border is black."""
        _, height, width = self.shape
        draws = Draws(AUGMENTATION, self.spec.seed, epoch, samples)
        down = right = np.zeros(len(samples), dtype=np.int64)
        if self.crop:
            most_down, most_right = max(1, height // CROP_PART), max(1, width // CROP_PART)
            down = draws.below(2 * most_down + 1) - most_down
            right = draws.below(2 * most_right + 1) - most_right
        flip = draws.coin() if self.flip else np.zeros(len(samples), dtype=bool)
        columns = np.where(flip[:, None], width - 1 - np.arange(width), np.arange(width)) + right[:, None]
        rows = np.arange(height) + down[:, None]
        inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None, :]
        flat = np.clip(rows, 0, height - 1)[:, :, None] * width + np.clip(columns, 0, width - 1)[:, None, :]
        pixels = torch.from_numpy(flat.reshape(len(samples), 1, -1)).expand(-1, inputs.shape[1], -1)
        moved = inputs.flatten(2).gather(2, pixels).view(inputs.shape)
        black = torch.from_numpy(self.scale_and_bias(inputs.shape[1])[1])
        moved = torch.where(torch.from_numpy(inside)[:, None], moved, black)
        if self.set.task == "steering":
            targets = torch.where(torch.from_numpy(flip)[:, None], -targets, targets)
        return moved, targets

    def patches(self, samples, epoch):
        """Noisy and clean patches of photographs, in intensities from 0 to 1."""
        _, height, width = self.shape
        draws = Draws(AUGMENTATION, self.spec.seed, epoch, samples)
        photos = [self.set.images[self.set.patches[sample][0]] for sample in samples]
        tops, lefts = (np.array([self.set.patches[sample][i] for sample in samples]) for i in (1, 2))
        if self.jitter:
            tops = draws.below([photo.shape[1] - height + 1 for photo in photos])
            lefts = draws.below([photo.shape[2] - width + 1 for photo in photos])
        flips = draws.coin() if self.flip else np.zeros(len(samples), dtype=bool)
        scale, bias = self.scale_and_bias(3)
        sigma = np.float32(self.spec.noise_sigma / 255)
        clean, noisy = np.empty((2, len(samples), 3, height, width), dtype=np.float32)
        for i, sample in enumerate(samples):
            patch = photos[i][:, tops[i]:tops[i] + height, lefts[i]:lefts[i] + width]
            clean[i] = (patch[:, :, ::-1] if flips[i] else patch).astype(np.float32) * scale + bias
            noise = normals(NOISE, self.spec.seed, epoch, int(sample), clean[i].size)
            noisy[i] = clean[i] + sigma * noise.reshape(clean[i].shape)
        return torch.from_numpy(noisy), torch.from_numpy(clean)
