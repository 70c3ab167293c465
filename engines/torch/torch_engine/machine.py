"""The fingerprint of the machine, and the versions of what trains: record/machine.h's fields."""

import os
import platform
import socket
from pathlib import Path

import numpy
import torch

from torch_engine.models import torchvision_version


def cpu_model():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def cgroup_memory_bytes():
    """What a control group grants, or None."""
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return int(Path(file).read_text())
        except (OSError, ValueError):
            continue
    return None


def memory_bytes():
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(physical, cgroup_memory_bytes() or physical)


def libraries(settings):
    found = {"torch": torch.__version__, "torchvision": torchvision_version(), "numpy": numpy.__version__,
             "python": platform.python_version(), "cuda": torch.version.cuda}
    if torch.cuda.is_available():
        found["cudnn"] = str(torch.backends.cudnn.version())
        found["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
    found["torch settings"] = ", ".join(f"{name}={value}" for name, value in settings.items())
    return {name: version for name, version in found.items() if version}


def machine_facts(device, settings):
    return {"host": socket.gethostname(), "cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)), "memory_bytes": memory_bytes(),
            "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None, "libraries": libraries(settings)}
