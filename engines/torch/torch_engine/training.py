"""The run: epochs, validation, targets and limits, told in events."""

import datetime
import os
import resource
import time

import torch

from torch_engine import weights_file
from torch_engine.machine import machine_facts
from torch_engine.objective import Totals, loss_sum, psnr_sum, right_answers
from torch_engine.optimisation import total_steps
from torch_engine.step_clock import split_of
from torch_engine.steps import StepRunner

LEDGER_SECONDS = 5.0
# Field of the spec, name in the record, figure of the epoch, whether more is better. The first that is set counts.
TARGETS = (("target_loss", "loss", "train_loss", False), ("target_val_loss", "val_loss", "val_loss", False),
           ("target_accuracy", "accuracy", "val_accuracy", True), ("target_psnr", "psnr", "val_psnr", True))


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Training:
    def __init__(self, worker, events, joined):
        """`joined`: when the ranks had met, on this rank's monotonic clock."""
        self.worker, self.spec, self.events = worker, worker.spec, events
        self.joined = joined
        self.runner = StepRunner(worker)
        self.feed = worker.train_feed
        self.last_step = total_steps(self.spec, self.feed.steps_per_epoch)
        self.validate_seconds, self.target, self.step = 0.0, None, 0
        self.reported = time.monotonic()

    def run(self):
        self.tell_start()
        self.began = time.monotonic()
        stop, epoch = False, 0
        while not stop:
            stop = self.train_epoch(epoch)
            epoch += 1
        self.tell_totals()
        train_seconds = self.train_seconds()
        if self.spec.export_weights is not None and self.worker.rank == 0:
            weights_file.write_safetensors(self.spec.export_weights, self.worker.strategy.model.state_dict())
        self.events.write("finished", target=self.target, wall_seconds={
            "load": self.began - self.joined, "train": train_seconds, "validate": self.validate_seconds,
            "total": time.monotonic() - self.joined})

    def tell_start(self):
        worker, spec = self.worker, self.spec
        self.events.write("started", version=os.environ.get("LOCKSTEP_VERSION", f"torch {torch.__version__}"), engine="torch",
                          workers=spec.workers, batch_per_worker=spec.batch_per_worker, batch_global=spec.batch_global,
                          started_at=utc_now(), threads=torch.get_num_threads(),
                          machine=machine_facts(worker.device, worker.settings))

    def train_epoch(self, epoch):
        """Trains to the end of the epoch or to the limit; returns whether the run is over."""
        worker, totals, began = self.worker, Totals(), time.monotonic()
        worker.train_mode()
        self.runner.clock.restart()
        stop = False
        for step_of_epoch in range(self.feed.steps_per_epoch):
            stop = self.runner.run(self.step, epoch, step_of_epoch, totals, self.wants_stop())
            self.step += 1
            self.tell_steps()
            stop = stop or self.step == self.last_step
            if stop:
                break
        self.tell_steps(wait=True)
        stop = stop or self.runner.wishes.last_heard()
        if step_of_epoch + 1 < self.feed.steps_per_epoch:
            return True  # an epoch that was cut short has no figures
        figures = {"train_samples": totals.samples, "train_loss": totals.mean("loss"), "train_accuracy": totals.mean("right")}
        seconds = time.monotonic() - began
        due = worker.validates and ((epoch + 1) % self.spec.validate_every == 0 or stop)
        figures.update(self.validate() if due else {})
        self.events.write("epoch", epoch=epoch + 1, seconds=seconds, learning_rate=worker.schedule.learning_rate(self.step - 1), **figures)
        return self.reached_target(epoch + 1, figures) or stop

    def wants_stop(self):
        return None if self.spec.max_time is None else time.monotonic() - self.began >= self.spec.max_time

    def tell_steps(self, wait=False):
        for taken in self.runner.take(wait):
            spans = taken.pop("spans")
            split = split_of(taken["seconds"], spans) if self.spec.measure else None
            self.events.write("step", warmup=True if taken["step"] < self.spec.skip_steps else None, split_seconds=split, **taken)
        if time.monotonic() - self.reported > LEDGER_SECONDS:
            self.tell_totals()

    def tell_totals(self):
        self.reported = time.monotonic()
        self.events.write("ledger", rows=self.worker.ledger.rows())
        self.events.write("memory", peak_bytes=self.peak_bytes(), by_use={})

    def peak_bytes(self):
        """On a GPU what PyTorch's allocator held; on the CPU what the process grew by since its data was loaded."""
        if self.worker.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.worker.device)
        return max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - self.worker.resident_before)

    def validate(self):
        worker, totals, began = self.worker, Totals(), time.monotonic()
        worker.strategy.settle(worker.ledger)
        # FSDP gathers inside forward; the replicas of the others are whole.
        module = worker.strategy.model
        module.eval()
        with torch.no_grad():
            for step in range(worker.val_feed.steps_per_epoch):
                self.validate_batch(module, worker.val_feed.batch(0, step), totals)
        self.validate_seconds += time.monotonic() - began
        return {"val_samples": totals.samples, "val_loss": totals.mean("loss"), "val_accuracy": totals.mean("right"),
                "val_psnr": totals.mean("psnr")}

    def validate_batch(self, module, batch, totals):
        worker = self.worker
        inputs, targets = worker.to_device(batch)
        with worker.autocast():
            output = module(inputs)
        if batch.count:
            restores = self.spec.data_facts.task == "restoration"
            totals.add(batch.count, loss=loss_sum(worker.kind, output, targets), right=right_answers(worker.kind, output, targets),
                       psnr=psnr_sum(output, targets) if restores else None)

    def reached_target(self, epochs, figures):
        asked = [target for target in TARGETS if getattr(self.spec, target[0]) is not None]
        if not asked:
            return False
        field, name, figure, more_is_better = asked[0]
        value, part = getattr(self.spec, field), figure.split("_")[0]
        self.target = {"metric": name, "value": value}
        if f"{part}_samples" not in figures:
            return False
        mean = self.mean_over_ranks(figures[figure] or 0.0, figures[f"{part}_samples"])
        # Written so that what is not a number reaches nothing.
        if not (mean >= value if more_is_better else mean < value):
            return False
        self.target.update(epochs=float(epochs), seconds=self.train_seconds())
        return True

    def train_seconds(self):
        return time.monotonic() - self.began - self.validate_seconds

    def mean_over_ranks(self, mean, samples):
        sums = torch.tensor([mean * samples, float(samples)], dtype=torch.float64, device=self.worker.device)
        summing = self.worker.sum_over_ranks(sums)
        if summing is not None:
            summing.wait()
        return float(sums[0] / sums[1])
