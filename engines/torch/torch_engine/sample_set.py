"""A data set in memory: bytes of images with labels, angles or patches; read once, whole."""

from dataclasses import dataclass, field

import numpy as np

from torch_engine.errors import DataError


@dataclass
class SampleSet:
    task: str
    images: object  # [samples, channels, height, width] bytes; for restoration a list of photographs [3, height, width]
    origin: str = ""
    classes: int = 0
    labels: np.ndarray = None  # classification: [samples]
    values: np.ndarray = None  # steering: [samples]
    patches: list = field(default_factory=list)  # restoration: (photograph, top, left)

    def __len__(self):
        if self.task == "restoration":
            return len(self.patches)
        return len(self.labels if self.task == "classification" else self.values)

    def keep_first(self, count):
        if count is None:
            return
        if count > len(self):
            raise DataError(f"{count} samples were asked for, and {self.origin} has {len(self)}. Ask for at most {len(self)}.")
        if self.task == "classification":
            self.labels = self.labels[:count]
        elif self.task == "steering":
            self.values = self.values[:count]
        else:
            self.patches = self.patches[:count]


def share_of(total, parts, part):
    """(begin, count) of the part-th contiguous share: the first total % parts of them are one larger."""
    even, larger = divmod(total, parts)
    return part * even + min(part, larger), even + (1 if part < larger else 0)
