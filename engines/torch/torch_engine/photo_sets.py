"""Sets of PNG and JPEG files, decoded by Pillow: driving, images:PATH and folder:PATH, split as docs/data.md says."""

import csv
import math

import numpy as np

from torch_engine.errors import DataError, DeviceError
from torch_engine.resampler import resample
from torch_engine.sample_set import SampleSet, share_of

BLOCKS, BLOCKS_PER_VALIDATION, VALIDATION_OF = 25, 5, 2
PHOTOS_PER_VALIDATION, IMAGES_PER_VALIDATION = 6, 5


def read_photo(file):
    """[3, height, width] bytes."""
    try:
        from PIL import Image
    except ImportError as error:
        raise DeviceError("this data set is refused: engine torch decodes images by Pillow, which this Python lacks "
                          "(apt install python3-pil). mnist, fashion-mnist and cifar10 work without it.") from error
    try:
        with Image.open(file) as image:
            return np.ascontiguousarray(np.asarray(image.convert("RGB")).transpose(2, 0, 1))
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: it cannot be decoded: {error}. Convert it, or remove it from the directory.") from error


def read_resized(files, height, width):
    """[files, 3, height, width] bytes, rounded to whole intensities."""
    out = np.empty((len(files), 3, height, width), dtype=np.uint8)
    for slot, file in zip(out, files):
        photo = read_photo(file)
        if photo.shape[1:] != (height, width):
            # Half away from zero, as std::lround does.
            photo = np.floor(np.clip(resample(photo, height, width), 0, 255) + np.float32(0.5))
        slot[...] = photo
    return out


def image_files(directory):
    return sorted(file for file in directory.rglob("*") if file.is_file() and file.suffix.lower() in (".png", ".jpg", ".jpeg"))


def read_log(log):
    rows = []
    with open(log, newline="", encoding="utf-8") as stream:
        for number, fields in enumerate(csv.reader(stream), 1):
            if not fields or (number == 1 and fields[0].strip() == "center"):
                continue
            rows.append(read_row(log, number, fields))
    if len(rows) < BLOCKS:
        raise DataError(f"{log} has {len(rows)} frames: too few to split (at least {BLOCKS} are needed).")
    return rows


def read_row(log, number, fields):
    try:
        angle = float(fields[3])
    except (IndexError, ValueError) as error:
        raise DataError(f"{log}:{number}: there is no steering angle in the fourth field. Get the log again.") from error
    if not math.isfinite(angle) or abs(angle) > 1:
        raise DataError(f"{log}:{number}: the steering angle {fields[3]} is outside [-1, 1]. Scale the log's angles.")
    named = fields[0].strip().replace("\\", "/")
    as_written, beside = log.parent / named, log.parent / "IMG" / named.rsplit("/", 1)[-1]
    frame = as_written if as_written.exists() else beside
    if not frame.exists():
        raise DataError(f"{log}:{number}: the frame {frame} is missing. Put the frames into {log.parent / 'IMG'}.")
    return frame, angle


def load_driving(directory, facts, train):
    rows, chosen = read_log(directory / "driving_log.csv"), []
    for block in range(BLOCKS):
        if (block % BLOCKS_PER_VALIDATION == VALIDATION_OF) != train:
            begin, count = share_of(len(rows), BLOCKS, block)
            chosen += rows[begin:begin + count]
    images = read_resized([frame for frame, _ in chosen], *facts.shape[1:])
    return SampleSet("steering", images, values=np.array([angle for _, angle in chosen], dtype=np.float32))


def load_images(directory, shape, train):
    files = image_files(directory)
    if len(files) < PHOTOS_PER_VALIDATION:
        raise DataError(f"{directory} holds {len(files)} PNG or JPEG images; at least {PHOTOS_PER_VALIDATION} are needed.")
    chosen = [file for i, file in enumerate(files) if (i % PHOTOS_PER_VALIDATION == PHOTOS_PER_VALIDATION - 1) != train]
    found = SampleSet("restoration", [read_photo(file) for file in chosen])
    _, height, width = shape
    for number, photo in enumerate(found.images):
        if photo.shape[1] < height or photo.shape[2] < width:
            raise DataError(f"{chosen[number]} is {photo.shape[1]}x{photo.shape[2]}, smaller than a patch of {height}x{width}. "
                            "Lower image_size.")
        found.patches += [(number, top, left) for top in range(0, photo.shape[1] - height + 1, height)
                          for left in range(0, photo.shape[2] - width + 1, width)]
    return found


def load_folder(directory, shape, train):
    has_split = (directory / "train").is_dir() and (directory / "val").is_dir()
    root = directory / "train" if has_split else directory
    classes = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
    if len(classes) < 2:
        raise DataError(f"{root} has {len(classes)} directories; one for each class is needed, at least two.")
    parent = directory / ("train" if train else "val") if has_split else directory
    files, labels = [], []
    for label, name in enumerate(classes):
        found = image_files(parent / name)
        if not has_split:
            found = [file for i, file in enumerate(found) if (i % IMAGES_PER_VALIDATION == 1) != train]
        files += found
        labels += [label] * len(found)
    if not files:
        raise DataError(f"{parent} holds no PNG or JPEG images.")
    return SampleSet("classification", read_resized(files, *shape[1:]), classes=len(classes), labels=np.array(labels, dtype=np.int64))
