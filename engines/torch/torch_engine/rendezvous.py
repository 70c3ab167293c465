"""How the ranks find each other. The launcher's own server listens at MASTER_PORT, so PyTorch meets through a file in the run's
directory instead."""

import contextlib
import datetime
import hashlib
import os
import time

import torch.distributed as dist

from torch_engine.environment import environment_number
from torch_engine.errors import DeviceError, understood


def store_file(directory):
    """One file a launch: a file that an earlier launch left behind would hold ranks that are gone."""
    launch = "/".join(os.environ.get(name, "") for name in ("LOCKSTEP_KEY", "MASTER_ADDR", "MASTER_PORT"))
    return os.path.join(os.path.abspath(directory), f"torch_store_{hashlib.sha256(launch.encode()).hexdigest()[:12]}")


def prepare_environment(backend, world, gpus):
    local_world = environment_number("LOCAL_WORLD_SIZE", str(world))
    if backend == "gloo" and local_world == world:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", os.environ.get("LOCKSTEP_INTERFACE", "lo"))
    if backend == "nccl" and local_world > gpus:
        # NCCL refuses two ranks on one GPU unless it takes them for different hosts.
        os.environ.setdefault("NCCL_HOSTID", f"lockstep-{os.environ.get('RANK', '0')}")


def common_beginning(store, rank):
    """When the ranks had met, by rank 0's time of day."""
    if rank == 0:
        store.set("lockstep/began", repr(time.time()))
    return float(store.get("lockstep/began"))


def join(spec, directory, rank, world, gpus):
    """Returns when all ranks had met."""
    available = {"gloo": getattr(dist, "is_gloo_available", lambda: True), "nccl": dist.is_nccl_available}
    if not dist.is_available() or not available[spec.backend]():
        raise DeviceError(f"backend '{spec.backend}' is missing: this PyTorch was built without it.")
    prepare_environment(spec.backend, world, gpus)
    try:
        store = dist.FileStore(os.fsencode(store_file(directory)), world)
        dist.init_process_group(spec.backend, store=store, rank=rank, world_size=world,
                                timeout=datetime.timedelta(seconds=spec.timeout))
        dist.barrier()
        return common_beginning(store, rank)
    except RuntimeError as error:
        raise understood(error, rank) or DeviceError(f"rank {rank} could not join the {world} ranks over {spec.backend}: "
                                                      f"{str(error).splitlines()[0]}") from error


def leave(directory):
    """After the last word of this rank. destroy_process_group is not called: with gloo it has been seen to hang on both ranks
    after a run that had ended well, and the process is about to end anyway. The barrier keeps a fast rank's end from a slow one."""
    if not (dist.is_available() and dist.is_initialized()):
        return
    try:
        dist.barrier()
    except RuntimeError:  # the other one is gone already: so is the work
        pass
    if dist.get_rank() == 0:
        with contextlib.suppress(OSError):
            os.remove(store_file(directory))
