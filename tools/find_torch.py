#!/usr/bin/env python3
"""Says whether a PyTorch can be built against, without importing it, which takes seconds: python3 tools/find_torch.py [DIR]

DIR is a virtual environment, an installed package torch or an unpacked libtorch; without it the PyTorch that this Python imports is
meant. The answer is four lines: its version, its directory, the CUDA it was built with and its Python (the last two may be empty). Or one
line that says why not, and exit code 1; 2 where there is none at all.
"""

import importlib.util
import re
import sys
from pathlib import Path

OLDEST = (2, 7)  # the first whose wheels have the C++ ABI that distributions have
CMAKE_FILE = "share/cmake/Torch/TorchConfig.cmake"
WHOLE = ("include/torch/csrc/api/include/torch/torch.h", "include/torch/csrc/autograd/function.h", "include/ATen/ATen.h",
         "include/c10/core/Device.h", "lib/libtorch_cpu.so", "lib/libc10.so")


class Unfit(Exception):
    """Why a PyTorch cannot be built against."""
    exit_code = 1


class Absent(Unfit):
    """There is none."""
    exit_code = 2


def imported():
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        raise Absent(f"{sys.executable or 'python3'} has no module torch")
    return Path(next(iter(found.submodule_search_locations)))


def inside(directory):
    """The package torch of a virtual environment or of what was unpacked."""
    places = [directory, directory / "torch", *sorted(directory.glob("lib/python3*/site-packages/torch"))]
    for place in places:
        if (place / "version.py").is_file() or (place / "lib/libtorch_cpu.so").is_file():
            return place.resolve()
    raise Absent(f"{directory} holds no PyTorch: no virtual environment with a torch in it, no package torch, no unpacked libtorch")


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def version_and_cuda(torch):
    module = text_of(torch / "version.py")
    version = re.search(r"^__version__ = '([^']+)'", module, re.M)
    cuda = re.search(r"^cuda\b[^=]*= '([^']+)'", module, re.M)
    return version[1] if version else text_of(torch / "build-version").strip(), cuda[1] if cuda else ""


def python_of(torch):
    """The Python of the virtual environment around a package; else, for a package without one, this Python if it is its own."""
    for folder in torch.parents:
        if (folder / "pyvenv.cfg").is_file():
            return str(folder / "bin/python")
    found = importlib.util.find_spec("torch")
    places = [Path(place).resolve() for place in (found.submodule_search_locations or [])] if found else []
    return sys.executable if torch.resolve() in places else ""


def examine(torch):
    version, cuda = version_and_cuda(torch)
    number = re.match(r"(\d+)\.(\d+)", version)
    if not number:
        raise Unfit(f"the PyTorch in {torch} does not say its version")
    name = f"PyTorch {version} in {torch}"
    if tuple(map(int, number.groups())) < OLDEST:
        raise Unfit(f"{name} is older than {'.'.join(map(str, OLDEST))}, and older ones have another C++ ABI or bring no headers")
    missing = [file for file in WHOLE if not (torch / file).is_file()]
    if missing:
        raise Unfit(f"{name} is not whole: {', '.join(missing)} missing")
    if "_GLIBCXX_USE_CXX11_ABI=0" in text_of(torch / CMAKE_FILE):
        raise Unfit(f"{name} was built with the old C++ ABI (_GLIBCXX_USE_CXX11_ABI=0), which does not link with the system's libraries")
    return version, torch, cuda, python_of(torch)


def main():
    try:
        print(*examine(inside(Path(sys.argv[1])) if sys.argv[1:] else imported()), sep="\n")
    except Unfit as reason:
        print(reason)
        sys.exit(reason.exit_code)


if __name__ == "__main__":
    main()
