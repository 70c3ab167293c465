"""PyTorch's own ways to train on several workers, each with its best settings."""

import contextlib
import functools

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DataParallel, DistributedDataParallel

from torch_engine.bucket_watch import BucketWatch
from torch_engine.errors import ConfigError, DeviceError

MEBIBYTE = 1 << 20


def bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class Single:
    """One worker, and the base of the others: what they all can be asked."""
    settings = {}
    watch = None
    world = 1

    def __init__(self, model):
        self.model = self.module = model

    def gradient_factor(self):
        """What a worker multiplies its loss by: libraries average gradients, and we want their sum."""
        return self.world

    def without_reduction(self):
        return contextlib.nullcontext()

    def count_step(self, ledger, forwards):
        pass

    def settle(self, ledger):
        """Before validation: every rank has the same buffers."""

    def clip(self, parameters, norm):
        nn.utils.clip_grad_norm_(parameters, norm)


class Replicas(Single):
    """DataParallel: one process, a replica on every GPU."""

    def __init__(self, model, spec):
        super().__init__(model)
        self.module = DataParallel(model, device_ids=list(range(spec.workers)))


class Ddp(Single):
    def __init__(self, model, spec, world, ledger, counts):
        super().__init__(self.with_buffers(model, spec))
        self.world = world
        buffers = self.batch_norm_buffers()
        self.broadcasts = spec.buffers == "broadcast" and bool(buffers)
        self.buffer_bytes = bytes_of(buffers)
        ignored = [name for name, _ in model.named_buffers() if name not in model.state_dict()]
        model._ddp_params_and_buffers_to_ignore = ignored  # constants that every rank computes for itself
        self.settings = {"bucket_cap_mb": spec.bucket_bytes / MEBIBYTE, "gradient_as_bucket_view": True,
                         "static_graph": spec.accumulate == 1, "broadcast_buffers": self.broadcasts}
        device = next(model.parameters()).device
        self.module = DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None,
                                              find_unused_parameters=False, **self.settings)
        ledger.add("parameter", "broadcast", bytes_of(model.state_dict().values()))
        self.gradient_bytes = bytes_of(p for p in model.parameters() if p.requires_grad)
        self.watch = BucketWatch(self.module, spec.compression, world) if counts or spec.compression != "none" else None

    @staticmethod
    def with_buffers(model, spec):
        if not any(isinstance(module, _BatchNorm) for module in model.modules()):
            return model
        if spec.buffers == "average":
            raise ConfigError("buffers 'average' is refused: PyTorch's DistributedDataParallel does not average buffers. The nearest "
                              "that works: broadcast.")
        if spec.buffers == "sync":
            if spec.device != "cuda":
                raise ConfigError("buffers 'sync' is refused: PyTorch's SyncBatchNorm needs GPUs, and device is cpu. The nearest that "
                                  "works: broadcast.")
            return nn.SyncBatchNorm.convert_sync_batchnorm(model)
        return model

    def batch_norm_buffers(self):
        return [buffer for module in self.model.modules() if isinstance(module, _BatchNorm) for buffer in module.buffers()]

    def without_reduction(self):
        return self.module.no_sync()

    def count_step(self, ledger, forwards):
        if self.watch is not None:
            self.watch.count(ledger)
        else:  # every bucket goes out in every step, whole
            ledger.add("gradient", "all_reduce", self.gradient_bytes)
        if self.broadcasts:
            ledger.add("buffer", "broadcast", self.buffer_bytes)  # before the first forward of a step

    def settle(self, ledger):
        if not self.broadcasts:
            return
        for buffer in self.batch_norm_buffers():
            dist.broadcast(buffer, 0)
        ledger.add("buffer", "broadcast", self.buffer_bytes)


class Sharded(Single):
    """FullyShardedDataParallel: parameters, gradients and optimiser state divided among the workers."""

    def __init__(self, model, spec, world, device):
        super().__init__(model)
        try:
            from torch.distributed.fsdp import FullyShardedDataParallel
            from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
            policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1_000_000)
            self.parameter_bytes = bytes_of(model.parameters())
            self.gradient_bytes = bytes_of(p for p in model.parameters() if p.requires_grad)
            self.module = FullyShardedDataParallel(model, device_id=device, auto_wrap_policy=policy, use_orig_params=True)
        except (ImportError, TypeError) as error:
            raise DeviceError(f"strategy 'zero3' is refused: PyTorch {torch.__version__} has no FSDP that can do it. The nearest that "
                              "works: ddp.") from error
        self.model, self.world = self.module, world
        self.settings = {"fsdp": "full shard", "wrapped_from": "1000000 parameters"}

    def without_reduction(self):
        return self.module.no_sync()

    def count_step(self, ledger, forwards):
        """By the documented algorithm: parameters are gathered for forward and again for backward."""
        ledger.add("parameter", "all_gather", self.parameter_bytes, times=2 * forwards)
        ledger.add("gradient", "reduce_scatter", self.gradient_bytes)

    def clip(self, parameters, norm):
        self.module.clip_grad_norm_(norm)


def make_strategy(spec, model, world, device, ledger, counts):
    if spec.strategy == "dp":
        return Replicas(model, spec)
    if spec.strategy == "zero3":
        return Sharded(model, spec, world, device)
    return Ddp(model, spec, world, ledger, counts) if spec.strategy == "ddp" else Single(model)
