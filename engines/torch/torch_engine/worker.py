"""One rank, made ready: data, model, strategy, optimiser."""

import contextlib
import os

import torch
import torch.distributed as dist

from torch_engine import data_files, layout, models, trainable, weights_file
from torch_engine.feed import Feed
from torch_engine.ledger import Ledger
from torch_engine.objective import loss_kind
from torch_engine.optimisation import Schedule, make_optimizer
from torch_engine.strategies import make_strategy


def device_of(spec, local_rank):
    if spec.device == "cpu":
        return torch.device("cpu")
    device = torch.device("cuda", 0 if spec.strategy == "dp" else local_rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False  # f32 means f32, as in our own engine
    torch.backends.cuda.matmul.allow_tf32 = False
    if spec.device_memory is not None:
        whole = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, spec.device_memory / whole), device)
    return device


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Worker:
    def __init__(self, spec, rank, world, device):
        self.spec, self.rank, self.world, self.device = spec, rank, world, device
        self.dtype = torch.float64 if spec.precision == "f64" else torch.float32
        self.kind = loss_kind(spec)
        self.load_data()
        self.resident_before = resident_bytes()
        self.build_model()

    def load_data(self):
        spec = self.spec
        ranks = (0, 1) if spec.strategy == "dp" else (self.rank, self.world)
        train_set = data_files.load_set(spec, train=True)
        self.classes = train_set.classes
        self.train_feed = Feed(spec, train_set, *ranks, train=True)
        self.validates = spec.validate_every > 0 and (spec.steps is None or spec.steps >= self.train_feed.steps_per_epoch)
        self.val_feed = Feed(spec, data_files.load_set(spec, train=False), *ranks, train=False) if self.validates else None

    def build_model(self):
        spec = self.spec
        model = models.build(spec, self.classes)
        if spec.weights is not None:
            weights_file.load_into(model, spec)
        self.frozen_norms = trainable.freeze(model, spec)
        model.to(self.device)
        self.memory_format = torch.contiguous_format
        inputs = self.to_device(self.train_feed.batch(0, 0))[0]
        channels_last = layout.choose(model, inputs, self.autocast)
        self.memory_format = layout.format_of(channels_last)
        torch.manual_seed(spec.seed * 65537 + self.rank)  # dropout: masks differ from our engine's, and between ranks
        self.ledger = Ledger(self.rank, self.world, "nccl" if spec.backend == "nccl" else "tcp", self.device.type == "cuda")
        counts = os.environ.get("LOCKSTEP_TORCH_COUNT", "1") != "0"
        self.strategy = make_strategy(spec, model, self.world, self.device, self.ledger, counts)
        self.parameters = [p for p in self.strategy.module.parameters() if p.requires_grad]
        self.optimizer, form = make_optimizer(spec, self.parameters)
        self.schedule = Schedule(spec, self.train_feed.steps_per_epoch)
        self.settings = {"channels_last": channels_last, "optimizer": form, "threads": torch.get_num_threads(),
                         **self.strategy.settings}
        if self.strategy.watch is not None:
            self.settings["communication_hook"] = "counts bytes"

    def autocast(self):
        if self.spec.precision != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def to_device(self, batch):
        """What the model is fed and what it should answer. A GPU copies from pinned memory, behind the host's back."""
        inputs, targets = batch.inputs, batch.targets
        if self.device.type == "cuda":
            inputs, targets = (t.pin_memory().to(self.device, non_blocking=True) for t in (inputs, targets))
        inputs = inputs.to(self.dtype).expand(-1, self.spec.input_shape[0], -1, -1)  # grey feeds all three
        return inputs.contiguous(memory_format=self.memory_format), targets if targets.dtype == torch.int64 else targets.to(self.dtype)

    def train_mode(self):
        self.strategy.module.train()
        for norm in self.frozen_norms:
            norm.eval()

    def sum_over_ranks(self, tensor):
        """Starts adding up a small tensor; returns what to wait for."""
        if self.world == 1:
            return None
        self.ledger.add("metric", "all_reduce", tensor.numel() * tensor.element_size())
        return dist.all_reduce(tensor, async_op=True)
