"""One training step through PyTorch."""

import time

import torch

from torch_engine.errors import RunError
from torch_engine.objective import loss_sum, right_answers
from torch_engine.sample_set import share_of
from torch_engine.step_clock import DeviceClock, HostClock
from torch_engine.stop_wishes import StopWishes


class StepRunner:
    def __init__(self, worker):
        self.worker, self.spec = worker, worker.spec
        self.on_gpu = worker.device.type == "cuda"
        self.clock = DeviceClock() if self.on_gpu else HostClock()
        self.wishes = StopWishes(self.on_gpu)
        self.extra_of = {}  # step: fields of its event

    def parts(self, inputs, targets):
        """The batch cut into the parts whose gradients are added up."""
        parts = min(len(inputs), self.spec.accumulate)
        for part in range(parts):
            begin, count = share_of(len(inputs), parts, part)
            yield inputs[begin:begin + count], targets[begin:begin + count], part + 1 == parts

    def run(self, step, epoch, step_of_epoch, totals, wants_stop):
        """Trains on one batch. Returns whether any rank wanted to stop, as far as that is known by now."""
        worker, clock = self.worker, self.clock
        rate = worker.schedule.learning_rate(step)
        for group in worker.optimizer.param_groups:
            group["lr"] = rate
        batch = worker.train_feed.batch(epoch, step_of_epoch)
        clock.lap("data")
        inputs, targets = worker.to_device(batch)
        worker.ledger.add_input(batch.count * inputs[0].numel() * 4)
        clock.lap("input")
        loss, began = self.forward_and_backward(batch, inputs, targets, totals)
        metric = self.metric(loss, wants_stop)
        summing = worker.sum_over_ranks(metric)
        if self.spec.clip_norm is not None:
            worker.strategy.clip(worker.parameters, self.spec.clip_norm)
        worker.optimizer.step()
        worker.optimizer.zero_grad(set_to_none=True)
        clock.lap("optimizer")
        metric = self.finish(step, epoch, batch, metric, summing, began)
        return wants_stop is not None and self.wishes.heard(metric[1])

    @staticmethod
    def metric(loss, wants_stop):
        """What is added up over ranks in every step: the loss and, where time is limited, who wants to stop."""
        loss = loss.reshape(1)
        return loss if wants_stop is None else torch.cat([loss, torch.full_like(loss, float(wants_stop))])

    def forward_and_backward(self, batch, inputs, targets, totals):
        """Returns this rank's share of the step's mean loss, and when the last backward began."""
        worker, strategy, began = self.worker, self.worker.strategy, 0.0
        counted = batch.count > 0  # else two samples keep the other ranks company, with no weight
        share = torch.zeros((), device=worker.device, dtype=worker.dtype)
        if strategy.watch is not None:
            strategy.watch.begin()
        for part_inputs, part_targets, last in self.parts(inputs, targets):
            with torch.enable_grad() if last else strategy.without_reduction():
                with worker.autocast():
                    output = strategy.module(part_inputs)
                    loss = loss_sum(worker.kind, output, part_targets)
                scaled = loss * (strategy.gradient_factor() / batch.global_count if counted else 0.0)
                self.clock.lap("forward")
                began = time.perf_counter()
                scaled.backward()
                self.lap_backward()
            if counted:
                share += loss.detach().to(share.dtype) / batch.global_count
                totals.add(len(part_inputs), loss=loss, right=right_answers(worker.kind, output, part_targets))
        return share, began

    def lap_backward(self):
        self.clock.lap("backward")
        watch = self.worker.strategy.watch
        if watch is not None and not self.on_gpu:
            self.clock.move("backward", "exposed_comm", watch.exposed_after(self.clock.last))

    def finish(self, step, epoch, batch, metric, summing, began):
        """Returns what was added up over ranks, where the host will find it."""
        worker = self.worker
        if summing is not None:
            summing.wait()
            if not self.on_gpu and worker.strategy.watch is not None:
                self.clock.lap("exposed_comm")
        elif not self.on_gpu:
            self.clock.lap("exposed_comm")  # one worker: known to be nothing
        worker.strategy.count_step(worker.ledger, self.spec.accumulate)
        if self.on_gpu:
            host = torch.empty(metric.shape, dtype=metric.dtype, pin_memory=True)
            metric = host.copy_(metric, non_blocking=True)
        self.extra_of[step] = {"epoch": epoch, "samples": batch.count, "loss": metric, **self.communication(began)}
        self.clock.end_step(step)
        return metric

    def communication(self, began):
        watch = self.worker.strategy.watch
        if watch is None or self.on_gpu or not self.spec.measure:
            return {}
        exposed = self.clock.spans.get("exposed_comm", 0.0)
        return {"busy_seconds": watch.busy_seconds(), "exposed_seconds": exposed, "buckets": watch.times(began)}

    def take(self, wait=False):
        """The steps whose figures are known by now, as fields of their events. Raises when a loss is not a number."""
        for step, seconds, spans in self.clock.take(wait):
            fields = self.extra_of.pop(step)
            loss = float(fields.pop("loss")[0])
            yield {"step": step, "seconds": seconds, "spans": spans, "loss": loss, **fields}
            if loss != loss or loss in (float("inf"), float("-inf")):
                raise RunError(f"the loss is {loss} after step {step}: training diverged. Lower learning_rate, or use warmup_epochs or "
                               "clip_norm.")
