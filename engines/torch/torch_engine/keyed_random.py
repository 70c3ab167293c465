"""The keyed random numbers of docs/data.md, over whole arrays: shuffles and the draws for a sample's augmentation."""

import numpy as np

SHUFFLE, AUGMENTATION, NOISE = 1, 2, 3


def mix(x):
    """The finaliser of SplitMix64 on an array of 64-bit words."""
    x = np.asarray(x, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def key_of(*words):
    """Each word is mixed into what the words before it gave; a word may be an array."""
    key = np.zeros(1, dtype=np.uint64)
    for word in words:
        key = mix(key ^ np.asarray(word, dtype=np.uint64))
    return key


def shuffled_order(samples, seed, epoch):
    keys = mix(key_of(SHUFFLE, seed, epoch) ^ np.arange(samples, dtype=np.uint64))
    return np.argsort(keys, kind="stable")


class Draws:
    """The numbers of one stream for several samples at once, in order; each call draws the next one of every sample."""

    def __init__(self, stream, seed, epoch, indices):
        self.key = mix(key_of(seed, epoch, np.asarray(indices)) ^ np.uint64(stream))
        self.count = 0

    def next(self):
        number = mix(self.key ^ mix(np.full(1, self.count)))
        self.count += 1
        return number

    def below(self, bound):
        return (((self.next() >> np.uint64(32)) * np.asarray(bound, dtype=np.uint64)) >> np.uint64(32)).astype(np.int64)

    def coin(self):
        return (self.next() >> np.uint64(63)) != 0


def uniforms(key, counts):
    """Draws number `counts` (an array) of one sample's stream, in [0, 1)."""
    return (mix(key ^ mix(counts)) >> np.uint64(40)).astype(np.float32) * np.float32(2.0 ** -24)


def normals(stream, seed, epoch, index, elements):
    """Standard normal numbers of one sample, drawn in pairs (Box and Muller)."""
    key = mix(key_of(seed, epoch, index) ^ np.uint64(stream))
    u = uniforms(key, np.arange(elements + elements % 2, dtype=np.uint64))
    radius = np.sqrt(np.float32(-2) * np.log(np.float32(1) - u[0::2]))
    angle = np.float32(2 * np.pi) * u[1::2]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)[:elements]
