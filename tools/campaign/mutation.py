"""What damages bytes, JSON values and words, and the whole files that are damaged: made here, so that they need no network."""

import copy
import gzip
import json
import os
import random
import re
import struct
import zipfile
import zlib

LOW_BYTES = (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\xff\xff\xff\x7f", b"\xff" * 8, b"\0" * 7 + b"\x80", b"\xb8", b"caf\xe9",
             b"\x1b[2J", b"9" * 40, b"-1", b"1e999", b"[" * 2000, b"{" * 400, b'"', b"\n", b"nan")
ODD_VALUES = (5, -1, 0, 2**63, 2**64, -(2**63), 1e308, 0.5, "", "x", "\x1b[2J\x1b]0;x\x07", "=1+1", "@x", "\u202e", "a" * 5000, "../..", None, True, [], [[]],
              {}, {"a": {"b": []}}, [None], "nan", "-infinity", "1970-01-01", [1, "x", None])


def damaged(draw, data):
    """These bytes with one to three things wrong with them."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 3))):
        at = draw.randrange(len(data) + 1) if draw.random() < 0.6 else draw.randrange(min(len(data), 64) + 1)
        length = min(draw.choice((1, 2, 4, 8, 100, 5000)), max(len(data) - at, 0))
        how = draw.randrange(8)
        if how == 0 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif how == 1 and at < len(data):
            data[at] = draw.randrange(256)
        elif how == 2:
            del data[at:]
        elif how == 3:
            del data[at : at + length]
        elif how == 4:
            data[at:at] = data[at : at + length]
        elif how == 5:
            data[at : at + length] = bytes(length)
        elif how == 6:
            magic = draw.choice(LOW_BYTES)
            data[at : at + (len(magic) if draw.random() < 0.7 else 0)] = magic
        else:
            data += bytes(draw.randrange(256) for _ in range(draw.choice((1, 7, 300))))
    return bytes(data)


def places(value, path=()):
    """Every path into a JSON value."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def damaged_json(draw, value):
    """This JSON value with some member of it replaced, removed, renamed or doubled."""
    value = copy.deepcopy(value)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        paths = [path for path in places(value) if path]
        if not paths:
            return value
        # Members near the root as often as the many below.
        depth = draw.choice((1, 1, 2, 3, 6))
        path = draw.choice([path for path in paths if len(path) <= depth])
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        key = path[-1]
        how = draw.randrange(6)
        if how < 4:
            holder[key] = copy.deepcopy(draw.choice(ODD_VALUES))
        elif how == 4:
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw.choice(("", "\x1b[31m", "=x", str(key) * 2))] = holder[key]
        else:
            holder.append(holder[key])
    return value


def mistyped(draw, words):
    """This command line with one word typed wrongly."""
    words = list(words)
    at = draw.randrange(len(words))
    word, how = words[at], draw.randrange(9)
    spot = draw.randrange(max(len(word), 1))
    if how == 0:
        words[at] = word[:spot] + word[spot + 1 :]
    elif how == 1:
        words[at] = word[:spot] + word[spot : spot + 1] * 2 + word[spot + 1 :]
    elif how == 2:
        words[at] = word[:spot] + word[spot + 1 : spot + 2] + word[spot : spot + 1] + word[spot + 2 :]
    elif how == 3:
        words[at] = word.upper()
    elif how == 4:
        del words[at]
    elif how == 5:
        words.insert(at, draw.choice(("-", "--", "--no-such", "-x", "=", "", "--help=1", "--set", "--set=x=1")))
    elif how == 6:
        words[at] = draw.choice(("-1", "0", "nan", "1e400", "99999999999999999999", "x" * 3000, "0x10", " ", "1.5.2", "none", "%s%n", "./", "\x1b[1m"))
    elif how == 7:
        words[at] = os.fsdecode(word.encode() + b"\xe9\xff")
    else:
        words[at] = word.replace("-", "_") + "=" + draw.choice(("1", "on", ""))
    return words


def library_names(data):
    """Names of shared libraries that occur in a program or a library."""
    return {name.decode() for name in re.findall(rb"lib[\w.+-]+\.so[.\d]*", data)}


# Whole files

def idx(shape, data):
    return struct.pack(">I", 0x800 + len(shape)) + b"".join(struct.pack(">I", size) for size in shape) + data


def png(draw, width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + draw.randbytes(3 * width) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_data_sets(folder):
    """A small whole set of every kind that is read from files."""
    draw = random.Random(7)
    for name in ("mnist", "cifar-10-batches-bin", "driving/IMG", "pictures/a", "pictures/b"):
        (folder / name).mkdir(parents=True)
    for part, count in (("train", 48), ("t10k", 24)):
        (folder / f"mnist/{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx((count, 28, 28), draw.randbytes(count * 784))))
        (folder / f"mnist/{part}-labels-idx1-ubyte").write_bytes(idx((count,), bytes(index % 10 for index in range(count))))
    for name in [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]:
        (folder / f"cifar-10-batches-bin/{name}.bin").write_bytes(b"".join(bytes([index]) + draw.randbytes(3072) for index in range(8)))
    (folder / "cifar-10-batches-bin/records.txt").write_text("8 8\n")
    for index in range(10):
        (folder / f"driving/IMG/{index}.png").write_bytes(png(draw, 32, 16))
        (folder / f"pictures/{'ab'[index % 2]}/{index}.png").write_bytes(png(draw, 70, 66))
    rows = [f"IMG/{index % 10}.png,IMG/{index % 10}.png,IMG/{index % 10}.png,{index / 50 - 0.5},0.9,0,30" for index in range(50)]
    (folder / "driving/driving_log.csv").write_text("\n".join(rows) + "\n")


def swollen_gzip(megabytes):
    """A small gzip file that says it holds so many megabytes of zeros."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = body.compress(bytes(1 << 20)) + body.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + piece * megabytes + end + struct.pack("<II", 0, 0)


def safetensors_header(data):
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length])


def torch_file(path, shapes, lie=None):
    """A .pt as torch.save writes a state_dict; `lie` changes one tensor's (size, stride) after the storage was made."""
    pickled = bytearray(b"\x80\x02}(")

    def text(word):
        encoded = word.encode()
        return b"X" + struct.pack("<I", len(encoded)) + encoded

    def whole(number):
        return b"J" + struct.pack("<i", number) if -(2**31) <= number < 2**31 else b"\x8a\x08" + struct.pack("<q", number)

    def several(numbers):
        return b"(" + b"".join(whole(number) for number in numbers) + b"t"

    storages = {}
    for index, (name, shape) in enumerate(shapes.items()):
        count, stride = 1, []
        for size in reversed(shape):
            stride.insert(0, count)
            count *= size
        storages[str(index)] = bytes(4 * count)
        if lie and index == lie[0]:
            shape, stride = lie[1], lie[2]
        pickled += text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n(("
        pickled += text("storage") + b"ctorch\nFloatStorage\n" + text(str(index)) + text("cpu") + whole(count) + b"tQ"
        pickled += whole(0) + several(shape) + several(stride) + b"\x89ccollections\nOrderedDict\n)RtR"
    pickled += b"u."
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", bytes(pickled))
        for name, data in storages.items():
            archive.writestr(f"archive/data/{name}", data)
        archive.writestr("archive/version", "3\n")
