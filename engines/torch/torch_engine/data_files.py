"""Finding and reading the published data sets: MNIST and Fashion-MNIST (IDX, raw or gzip) and CIFAR-10 (binary batches)."""

import gzip
import os
import zlib
from pathlib import Path

import numpy as np

from torch_engine.errors import ConfigError, DataError
from torch_engine.sample_set import SampleSet


def roots(data_dir):
    found = [data_dir, os.environ.get("LOCKSTEP_DATA")]
    home = os.environ.get("HOME")
    xdg = os.environ.get("XDG_DATA_HOME") or (home and os.path.join(home, ".local", "share"))
    found.append(xdg and os.path.join(xdg, "lockstep"))
    found.append("/usr/share/datasets")
    return [Path(root) for root in found if root]


def exists_maybe_gzip(file):
    return file.exists() or file.with_name(file.name + ".gz").exists()


def find_set(name, facts, data_dir):
    looked = [root / facts.directory for root in roots(data_dir)]
    for directory in looked:
        if all(exists_maybe_gzip(directory / file) for file in facts.files):
            return directory
    places = "".join(f"\n  {directory}" for directory in looked)
    raise DataError(f"data set '{name}' was not found (none of these is whole):{places}\nTo get it: lockstep data get "
                    f"{name}.")


def read_maybe_gzip(file):
    packed = file.with_name(file.name + ".gz")
    found = file if file.exists() else packed
    try:
        content = found.read_bytes()
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{found} cannot be read: {error}. Get the file again.") from error


def read_idx(file, rank):
    content = read_maybe_gzip(file)
    refused = f"{file}: %s. Get the file again, or check that it is the right one."
    if len(content) < 4 + 4 * rank or content[:2] != b"\0\0" or content[2] != 8 or content[3] != rank:
        raise DataError(refused % f"it is not an IDX file of bytes in {rank} dimensions")
    sides = np.frombuffer(content, dtype=">u4", count=rank, offset=4).astype(np.int64)
    if int(np.prod(sides, dtype=object)) != len(content) - 4 - 4 * rank:
        raise DataError(refused % f"its header promises {tuple(sides)} elements and it holds {len(content) - 4 - 4 * rank}")
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * rank).reshape(sides)


def check_labels(labels, classes, file):
    wrong = np.flatnonzero(labels >= classes)
    if wrong.size:
        raise DataError(f"{file}: sample {wrong[0]} has label {labels[wrong[0]]}, and there are {classes} classes (0 to {classes - 1}). "
                        "Get the file again.")


def load_mnist(directory, facts, train):
    prefix = "train" if train else "t10k"
    image_file, label_file = directory / f"{prefix}-images-idx3-ubyte", directory / f"{prefix}-labels-idx1-ubyte"
    images, labels = read_idx(image_file, 3), read_idx(label_file, 1)
    if images.shape[1:] != facts.shape[1:]:
        raise DataError(f"{image_file}: its images are {images.shape[1]}x{images.shape[2]}, not 28x28. Check that it is the right file.")
    if len(images) != len(labels):
        raise DataError(f"{image_file} has {len(images)} images and {label_file} has {len(labels)} labels. They are not from the same set.")
    check_labels(labels, facts.classes, label_file)
    return SampleSet("classification", images[:, None], classes=facts.classes, labels=labels.astype(np.int64))


def expected_records(directory, train):
    """Of a file; a subset made on purpose says its numbers in a file beside it."""
    said = directory / "records.txt"
    if not said.exists():
        return 10000
    try:
        training, test = (int(word) for word in said.read_text(encoding="ascii").split())
    except ValueError as error:
        raise DataError(f"{said}: it does not say how many records a training file and the test file have, as in \"4000 5000\". "
                        "Correct or remove it.") from error
    return training if train else test


def load_cifar10(directory, facts, train):
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] if train else ["test_batch.bin"]
    record_bytes, images, labels = 1 + 3 * 32 * 32, [], []
    expected = expected_records(directory, train)
    for name in names:
        content = np.frombuffer(read_maybe_gzip(directory / name), dtype=np.uint8)
        if content.size == 0 or content.size % record_bytes:
            raise DataError(f"{directory / name}: its {content.size} bytes are not a whole number of records of {record_bytes} bytes: "
                            "it is truncated or not a CIFAR-10 binary file. Get it again.")
        records = content.reshape(-1, record_bytes)
        if len(records) != expected:
            raise DataError(f"{directory / name}: it has {len(records)} records and should have {expected}: it is truncated or of another "
                            "set. Get it again; a subset made on purpose says its numbers in records.txt beside it (docs/data.md).")
        check_labels(records[:, 0], facts.classes, directory / name)
        labels.append(records[:, 0].astype(np.int64))
        images.append(records[:, 1:].reshape(-1, 3, 32, 32))
    return SampleSet("classification", np.concatenate(images), classes=facts.classes, labels=np.concatenate(labels))


def load_set(spec, train):
    """The training or the validation samples of a spec."""
    from torch_engine import photo_sets  # needs Pillow, which the others do not
    facts, name = spec.data_facts, spec.data_name
    loaders = {"mnist": load_mnist, "fashion-mnist": load_mnist, "cifar10": load_cifar10, "driving": photo_sets.load_driving}
    if name in loaders:
        directory = find_set(name, facts, spec.data_dir)
        found = loaders[name](directory, facts, train)
    else:
        directory = Path(spec.data_path)
        if not spec.data_path or not directory.is_dir():
            raise ConfigError(f"data '{spec.data}': {directory} is not a directory; write {name}:PATH.")
        load = photo_sets.load_images if name == "images" else photo_sets.load_folder
        found = load(directory, spec.input_shape, train)
    found.origin = str(directory)
    found.keep_first(spec.train_samples if train else spec.val_samples)
    return found
