"""Runs engine torch as one rank and as several, on Fashion-MNIST, and reads what it says in its events."""

import os
import time

import torch_engine_case
from torch_engine_case import EngineCase

LENET5_PARAMETERS = 61706
STEPS = 20
QUICK = {"model": "lenet5", "data": "fashion-mnist", "global_batch": 32, "steps": STEPS, "train_samples": 32 * STEPS, "val_samples": 200}
REQUIRED = {
    "started": ("version", "engine", "workers", "batch_per_worker", "batch_global", "started_at"),
    "step": ("step", "epoch", "seconds", "samples", "loss", "split_seconds"),
    "epoch": ("epoch", "seconds", "train_samples", "train_loss", "train_accuracy", "val_samples", "val_loss", "val_accuracy"),
    "ledger": ("rows",),
    "memory": ("peak_bytes", "by_use"),
    "finished": ("wall_seconds",),
}


class TrainTest(EngineCase):
    runs = {}

    def quick(self, world):
        """The quick run with this many workers; several tests look at the same one."""
        if world not in self.runs:
            self.runs[world] = self.train(QUICK, world=world)
        return self.runs[world]

    def test_one_and_two_workers_follow_the_same_loss(self):
        one, two = self.quick(1), self.quick(2)
        self.assert_close(one[0].losses(), two[0].losses(), 1e-4)
        self.assertEqual(two[0].losses(), two[1].losses())

    def test_every_event_has_what_a_reader_needs(self):
        (rank,) = self.quick(1)
        for kind, fields in REQUIRED.items():
            events = rank.of(kind)
            self.assertTrue(events, kind)
            for field in ("rank", "time") + fields:
                self.assertIn(field, events[0], kind)
        self.assertEqual([event["step"] for event in rank.of("step")], list(range(STEPS)))
        self.assertEqual(sum("warmup" in event for event in rank.of("step")), 5)
        self.assertEqual(rank.events[-1]["event"], "finished")
        self.assertIn("torch", rank.of("started")[0]["machine"]["libraries"])

    def test_the_ledger_counts_every_gradient_byte_and_one_loss_a_step(self):
        for counting, ranks in (("on", self.quick(2)), ("off", self.train(QUICK, world=2, environment={"LOCKSTEP_TORCH_COUNT": "0"}))):
            with self.subTest(counting_hook=counting):
                (gradient,) = ranks[0].ledger("gradient")
                self.assertEqual(gradient["payload_bytes"], LENET5_PARAMETERS * 4 * STEPS)
                self.assertTrue(gradient["estimated"])
                self.assertEqual(ranks[0].ledger("metric")[0]["payload_bytes"], 4 * STEPS)
                self.assertNotIn("payload_bytes", ranks[1].ledger("gradient")[0])
                inputs = sum(rank.ledger("input")[0]["payload_bytes"] for rank in ranks)
                self.assertEqual(inputs, STEPS * 32 * 28 * 28 * 4)

    def test_the_spans_of_a_step_sum_to_it(self):
        for rank in self.quick(2):
            for event in rank.of("step"):
                self.assertAlmostEqual(sum(event["split_seconds"].values()), event["seconds"], delta=1e-6)

    def test_uneven_last_batches_are_weighted_right(self):
        # 73 samples by 36: the last step has one sample, and with three workers two ranks have none.
        spec = {**QUICK, "precision": "f64", "global_batch": 36, "train_samples": 73, "steps": None, "epochs": 2}
        runs = [self.train(spec, world=world) for world in (1, 3)]
        for ranks in runs[1:]:
            self.assert_close(runs[0][0].losses(), ranks[0].losses(), 1e-9)
            self.assertEqual(sum(rank.of("epoch")[0]["train_samples"] for rank in ranks), 73)
            self.assertEqual(sum(rank.of("epoch")[0]["val_samples"] for rank in ranks), 200)

    def test_accumulation_gives_the_same_update(self):
        spec = {**QUICK, "precision": "f64", "steps": 6}
        whole, parts = self.train(spec, world=2), self.train({**spec, "accumulate": 4}, world=2)
        self.assert_close(whole[0].losses(), parts[0].losses(), 1e-9)

    def test_channels_last_does_not_change_the_loss(self):
        spec = {**QUICK, "model": "resnet18-cifar", "model_options": {"width": 4}, "global_batch": 8, "steps": 4, "precision": "f64"}
        one, other = (self.train(spec, environment={"LOCKSTEP_TORCH_CHANNELS_LAST": word})[0].losses() for word in "01")
        self.assert_close(one, other, 1e-9)

    def test_events_count_from_when_the_ranks_had_met(self):
        directory, processes = self.start(QUICK, world=2)
        long_ago = time.time() - 10000
        os.utime(directory / "spec.json", (long_ago, long_ago))
        for rank in self.finish(directory, processes):
            started, finished = rank.of("started")[0], rank.of("finished")[0]
            self.assertLess(started["time"], 1000)
            self.assertAlmostEqual(started["time"], finished["wall_seconds"]["load"], delta=1)

    def test_all_ranks_stop_at_the_same_step_when_the_time_is_up(self):
        ranks = self.train({**QUICK, "steps": None, "epochs": 100000, "max_time": 1.5}, world=2)
        steps = [len(rank.of("step")) for rank in ranks]
        self.assertGreater(steps[0], 1)
        self.assertEqual(*steps)

    def test_a_target_stops_the_run(self):
        (rank,) = self.train({**QUICK, "steps": None, "epochs": 5, "target_loss": 100.0})
        self.assertEqual(rank.of("finished")[0]["target"]["epochs"], 1)
        self.assertEqual(len(rank.of("epoch")), 1)


if __name__ == "__main__":
    torch_engine_case.main()
