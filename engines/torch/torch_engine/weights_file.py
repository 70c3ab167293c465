"""Weights in files: safetensors (read and written here, without its package) and PyTorch's .pt. Read as data: nothing in them runs."""

import json
import os
import struct

import numpy as np
import torch

from torch_engine.errors import DataError, RunError
from torch_engine.torch_archive import read_torch_archive

TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
         "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}
NAMES = {value: name for name, value in TYPES.items()}


def as_bytes(tensor):
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def write_safetensors(file, tensors):
    """`tensors`: name to tensor. Whole or absent: written beside its place and moved there."""
    header, at = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    try:
        with open(f"{file}.partial", "wb") as stream:
            stream.write(struct.pack("<Q", len(text)) + text)
            for tensor in tensors.values():
                stream.write(as_bytes(tensor))
        os.replace(f"{file}.partial", file)
    except OSError as error:
        raise RunError(f"the weights could not be written to '{file}': {error.strerror}.") from error


def read_safetensors(file):
    with open(file, "rb") as stream:
        content = stream.read()
    try:
        (size,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8:8 + size])
        data = np.frombuffer(content, dtype=np.uint8, offset=8 + size)
        return {name: read_entry(data, entry) for name, entry in header.items() if name != "__metadata__"}
    except (struct.error, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise DataError(f"'{file}' is not a whole safetensors file: {error}. Fetch or save it again.") from error


def read_entry(data, entry):
    begin, end = entry["data_offsets"]
    if end > data.size:
        raise ValueError(f"it ends at byte {data.size} of {end}")
    kind = TYPES[entry["dtype"]]
    if begin == end:
        return torch.empty(0, dtype=kind).view(entry["shape"])
    return torch.from_numpy(data[begin:end].copy()).view(kind).view(entry["shape"])


def read_weights(file):
    try:
        with open(file, "rb") as stream:
            is_zip = stream.read(2) == b"PK"
    except OSError as error:
        raise DataError(f"the weights file '{file}' cannot be opened: {error.strerror}.") from error
    if not is_zip:
        return read_safetensors(file)
    return read_torch_archive(file)


def load_into(model, spec):
    """Loads spec.weights by name. A head of another shape is left as it is, as in our own engine."""
    given, own = read_weights(spec.weights), model.state_dict()
    head = spec.model_facts.head + "."
    other_shape = [name for name in own if name in given and given[name].shape != own[name].shape]
    misfits = [name for name in other_shape if head == "." or not name.startswith(head)]
    missing = [name for name in own if name not in given and not name.endswith("num_batches_tracked")]
    unknown = [name for name in given if name not in own]
    if misfits or missing or unknown:
        parts = [f"{what}: {', '.join(names[:5])}" for what, names in
                 (("missing", missing), ("unknown", unknown), ("other shape", misfits)) if names]
        raise DataError(f"the weights in '{spec.weights}' do not fit model '{spec.model}': {'; '.join(parts)}.")
    model.load_state_dict({name: value for name, value in given.items() if name not in other_shape}, strict=False)
