"""Counts and times the buckets of DistributedDataParallel through a communication hook around its usual all-reduce.

On the CPU backward runs on the calling thread and the last bucket goes out when the last gradient is there: from then on
until backward returns, the worker does nothing but wait.
"""

import time

import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks


class BucketWatch:
    def __init__(self, module, compression, world):
        self.world = world
        self.all_reduce = {"none": self.plain, "f16": default_hooks.fp16_compress_hook,
                           "bf16": getattr(default_hooks, "bf16_compress_hook", None)}[compression]
        self.sent_share = 1 if compression == "none" else 2
        self.buckets = []
        module.register_comm_hook(None, self.hook)

    def plain(self, _, bucket):
        tensor = bucket.buffer()
        tensor.div_(self.world)
        return dist.all_reduce(tensor, async_op=True).get_future().then(lambda future: future.value()[0])

    def hook(self, _, bucket):
        tensor = bucket.buffer()
        entry = {"bytes": tensor.numel() * tensor.element_size() // self.sent_share, "start": time.perf_counter(), "end": None}
        self.buckets.append(entry)
        future = self.all_reduce(None, bucket)
        future.add_done_callback(lambda _: entry.update(end=time.perf_counter()))
        return future

    def begin(self):
        self.buckets = []

    def exposed_after(self, end):
        """Seconds from the moment the last bucket went out to the end of backward."""
        return max(0.0, end - self.buckets[-1]["start"]) if self.buckets else 0.0

    def busy_seconds(self):
        busy, until = 0.0, 0.0
        for entry in self.buckets:
            end = entry["end"] or entry["start"]
            busy += max(0.0, end - max(entry["start"], until))
            until = max(until, end)
        return busy

    def times(self, backward_began):
        """The step's buckets for its event, in seconds from the start of backward."""
        return [{"bytes": entry["bytes"], "ready_seconds": entry["start"] - backward_began,
                 "start_seconds": entry["start"] - backward_began,
                 "end_seconds": entry["end"] - backward_began if entry["end"] else None} for entry in self.buckets]

    def count(self, ledger):
        for entry in self.buckets:
            ledger.add("gradient", "all_reduce", entry["bytes"])
