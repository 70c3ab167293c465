"""Philox 4x32-10 as lockstep/models/philox.cc has it, in numpy and to the bit: where initial weights come from.

A stream is made in batches of 64 words: 16 counters side by side give 16 first words, then 16 second words, and so on.
All arithmetic on fractions is single precision, one rounding an operation, in the order of the C++ source.
"""

import numpy as np

LANES = 16
BATCH = 4 * LANES
PIECE = 1 << 16  # values made at a time: they stay in the cache
LOW = np.uint64(0xFFFFFFFF)
HALF_WORD = np.uint64(32)
F = np.float32
LOG = [F(c) for c in (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                      2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)]


def mix64(one, other):
    mask = (1 << 64) - 1
    z = (one * 0x9E3779B97F4A7C15 + other + 0x632BE59BD9B4E019) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def name_hash(text):
    value = 0xCBF29CE484222325
    for letter in text.encode():
        value = ((value ^ letter) * 0x100000001B3) & ((1 << 64) - 1)
    return mix64(value, len(text.encode()))


def words(key, stream, first_batch, batches):
    """[batches, 4, 16] words of the stream, as 64-bit numbers below 2^32."""
    block = np.arange(first_batch * LANES, (first_batch + batches) * LANES, dtype=np.uint64)
    c0, c1 = block & LOW, block >> HALF_WORD
    c2 = np.full_like(block, stream & 0xFFFFFFFF)
    c3 = np.full_like(block, stream >> 32)
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        product0 = c0 * np.uint64(0xD2511F53)
        product1 = c2 * np.uint64(0xCD9E8D57)
        c0 = (product1 >> HALF_WORD) ^ c1 ^ np.uint64(k0)
        c1 = product1 & LOW
        c2 = (product0 >> HALF_WORD) ^ c3 ^ np.uint64(k1)
        c3 = product0 & LOW
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([part.reshape(batches, LANES) for part in (c0, c1, c2, c3)], axis=1)


def unit_floats(word):
    return (word >> np.uint64(8)).astype(F) * F(2.0 ** -24)


def logarithm(x):
    bits = x.view(np.int32)
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    m = (bits - (exponent << np.int32(23))).view(F) - F(1)
    p = np.full_like(m, LOG[0])
    for coefficient in LOG[1:]:
        p = p * m + coefficient
    return m - F(0.5) * m * m + p * m * m * m + exponent.astype(F) * F(0.693147180559945)


def sine(x):
    s = x * x
    return x + x * s * (F(-1.6666654611e-1) + s * (F(8.3321608736e-3) - s * F(1.9515295891e-4)))


def cosine(x):
    s = x * x
    return F(1) - F(0.5) * s + s * s * (F(4.166664568298827e-2) + s * (F(-1.388731625493765e-3) + s * F(2.443315711809948e-5)))


def normal_values(drawn, deviation):
    """Box-Muller: the first half of a batch gives radii, the second half directions."""
    halves = drawn.reshape(-1, 2, BATCH // 2)
    u = ((halves[:, 0] >> np.uint64(8)) + np.uint64(1)).astype(F) * F(2.0 ** -24)
    radius = F(deviation) * np.sqrt(F(-2) * logarithm(u))
    turn = unit_floats(halves[:, 1]) * F(4)
    quarter = turn.astype(np.int32)
    angle = (turn - quarter.astype(F) - F(0.5)) * F(1.57079632679)
    s, c = sine(angle), cosine(angle)
    odd = (quarter & 1) != 0
    sign = np.where((quarter & 2) != 0, -radius, radius)
    return np.stack([sign * np.where(odd, -s, c), sign * np.where(odd, c, s)], axis=1).reshape(-1)


def uniform_values(drawn, bound):
    low, high = F(-bound), F(bound)
    return (low + (high - low) * unit_floats(drawn)).reshape(-1)


def fill(count, seed, name, convert):
    """`count` values of the stream that belongs to a parameter's name."""
    out = np.empty(count, dtype=F)
    stream = name_hash(name)
    for begin in range(0, count, PIECE):
        wanted = min(PIECE, count - begin)
        drawn = words(seed, stream, begin // BATCH, -(-wanted // BATCH))
        out[begin:begin + wanted] = convert(drawn)[:wanted]
    return out


def uniform(count, bound, seed, name):
    return fill(count, seed, name, lambda drawn: uniform_values(drawn, bound))


def normal(count, deviation, seed, name):
    return fill(count, seed, name, lambda drawn: normal_values(drawn, deviation))
