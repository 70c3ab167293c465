"""Reads a table of tensors that torch.save wrote, as data and by the rules of our own engine (lockstep/models/torch_archive.h): the pickle
can name tensors, their types and tables, and nothing else.

Not by torch.load: before 2.6 it runs a program (TorchScript) also with weights_only=True, and which records a file has it asks a reader of
its own, which a crafted file can show other records than it shows Python's."""

import collections
import math
import os
import pickle
import zipfile

import torch

from torch_engine.errors import DataError

STORAGES = {"FloatStorage": torch.float32, "DoubleStorage": torch.float64, "HalfStorage": torch.float16, "BFloat16Storage": torch.bfloat16,
            "LongStorage": torch.int64, "IntStorage": torch.int32, "ByteStorage": torch.uint8, "BoolStorage": torch.bool}
# What torch.save writes for a table of tensors, in protocols 2 to 4.
OPCODES = (pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.BININT, pickle.BININT1,
           pickle.BININT2, pickle.LONG1, pickle.BINFLOAT, pickle.BINUNICODE, pickle.SHORT_BINUNICODE, pickle.MARK, pickle.EMPTY_TUPLE,
           pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3, pickle.EMPTY_LIST, pickle.APPEND, pickle.APPENDS, pickle.EMPTY_DICT,
           pickle.SETITEM, pickle.SETITEMS, pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE, pickle.BINGET, pickle.LONG_BINGET,
           pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.REDUCE, pickle.BUILD, pickle.BINPERSID)


class Refused(Exception):
    """Why a file is not read, as the end of a sentence."""


def whole_numbers(values):
    return isinstance(values, tuple) and all(type(value) is int and value >= 0 for value in values)


def rebuild_tensor(values, offset, sizes, strides, *_):
    if not isinstance(values, torch.Tensor) or not whole_numbers((offset,)) or not whole_numbers(sizes) or not whole_numbers(strides):
        raise Refused("a tensor is not described by whole numbers")
    # One with more values than its storage (a stride of zero) would take memory for them as soon as it is copied.
    if math.prod(sizes) > values.numel():
        raise Refused("a tensor has more values than its storage")
    return torch.as_strided(values, sizes, strides, offset)


def rebuild_parameter(tensor, *_):
    return tensor


def empty_table():
    return collections.OrderedDict()


NAMES = {("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor, ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
         ("collections", "OrderedDict"): empty_table, **{("torch", name): kind for name, kind in STORAGES.items()}}


class TableReader(pickle._Unpickler):
    """Python's own stack machine, not the one in C: that one makes room for whatever number a file gives what it remembers."""

    def __init__(self, stream, storage_bytes):
        super().__init__(stream)
        self.storage_bytes = storage_bytes
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) not in NAMES:
            raise Refused(f"it names '{module} {name}', which no table of tensors needs")
        return NAMES[module, name]

    def persistent_load(self, pid):
        _, kind, key = pid[:3]
        if type(key) is not str or kind not in STORAGES.values():
            raise Refused("a tensor has no storage")
        if key not in self.storages:
            content = self.storage_bytes(key)
            self.storages[key] = torch.frombuffer(content, dtype=kind) if content else torch.empty(0, dtype=kind)
        return self.storages[key]

    def set_items(self, items):
        table = self.stack[-1]
        if not isinstance(table, dict) or any(type(key) not in (str, int) for key in items[::2]) or len(items) % 2:
            raise Refused("its table has a key that is not a name")
        table.update(zip(items[::2], items[1::2]))

    def load_setitem(self):
        value, key = self.stack.pop(), self.stack.pop()
        self.set_items([key, value])

    def load_setitems(self):
        self.set_items(self.pop_mark())

    def load_build(self):
        self.stack.pop()  # attributes of an object: the state_dict's notes on versions

    dispatch = {opcode[0]: pickle._Unpickler.dispatch[opcode[0]] for opcode in OPCODES}
    dispatch.update({pickle.SETITEM[0]: load_setitem, pickle.SETITEMS[0]: load_setitems, pickle.BUILD[0]: load_build})


def check_records(file, records):
    """Refuses a program, and records that would grow beyond what the file holds."""
    if any(record.filename.endswith("/constants.pkl") for record in records):
        raise DataError(f"'{file}' is a TorchScript archive: a program, and reading it could run its code. Weights are read as data only: save "
                        "them with torch.save(module.state_dict(), path) or with safetensors. To train the program itself, if you trust it, "
                        "give it as --model.")
    if any(record.compress_type != zipfile.ZIP_STORED for record in records) or sum(r.file_size for r in records) > os.path.getsize(file):
        raise DataError(f"the weights in '{file}' are packed as torch.save does not: save them again, or as safetensors.")


def read_table(archive, records):
    inside = {record.filename.partition("/")[2]: record for record in records}
    if "data.pkl" not in inside:
        raise Refused("it has no record data.pkl")

    def storage_bytes(key):
        return bytearray(archive.read(inside[f"data/{key}"]))
    with archive.open(inside["data.pkl"]) as stream:
        return TableReader(stream, storage_bytes).load()


def read_torch_archive(file):
    """Name to tensor."""
    try:
        with zipfile.ZipFile(file) as archive:
            records = archive.infolist()
            check_records(file, records)
            table = read_table(archive, records)
    except DataError:
        raise
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"the weights in '{file}' are damaged: {error}. Fetch or save them again.") from error
    except Exception as error:  # whatever a crafted pickle leads to is the file's fault
        why = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}".splitlines()[0]
        raise DataError(f"the weights in '{file}' cannot be read as data: {why}. Save them with torch.save(model.state_dict(), path), or as "
                        "safetensors.") from error
    tensors = {name: value for name, value in table.items() if isinstance(value, torch.Tensor)} if isinstance(table, dict) else {}
    if not tensors or any(type(name) is not str for name in tensors):
        raise DataError(f"the weights in '{file}' cannot be read as data: it holds no table of tensors by name. Save them with "
                        "torch.save(model.state_dict(), path), or as safetensors.")
    return tensors
