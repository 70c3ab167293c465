"""What engine torch refuses and how it fails: one message, the right exit code, a failed event."""

import signal
import time

import torch_engine_case
from torch_engine_case import EngineCase

QUICK = {"model": "lenet5", "data": "fashion-mnist", "steps": 3, "train_samples": 500, "val_samples": 100}


class FailureTest(EngineCase):
    def refused(self, code, words, **spec):
        world = spec.pop("processes", 1)
        for rank in self.run_engine({**QUICK, **spec}, world=world):
            self.assertEqual(rank.code, code, rank.said)
            self.assertIn(words, rank.said)
            self.assertNotIn("Traceback", rank.said)
            self.assertIn(rank.of("failed")[0]["message"], rank.said)

    def test_what_pytorch_lacks_is_refused_by_name(self):
        self.refused(3, "strategy 'horovod' is refused", strategy="horovod")
        self.refused(3, "backend 'shm' is refused", strategy="ddp", backend="shm")
        self.refused(3, "backend 'nccl' is refused", strategy="ddp", backend="nccl")
        self.refused(3, "data 'digits' is refused", data="digits")
        self.refused(3, "resume is refused", resume="checkpoint")
        self.refused(3, "compression 'bf16' is refused", strategy="ddp", backend="gloo", compression="bf16")
        self.refused(4, "strategy 'dp' is refused", strategy="dp")
        self.refused(4, "strategy 'zero3' is refused", strategy="zero3")

    def test_a_missing_data_set_is_named_with_the_places(self):
        self.refused(3, "data set 'driving' was not found", model="pilotnet", data="driving", data_dir="/nonexistent")

    def test_a_path_that_is_no_text_is_told_in_an_event_and_on_a_terminal(self):
        (rank,) = self.run_engine({**QUICK, "model": "pilotnet", "data": "driving", "data_dir": "/nonexistent/caf\uefe9"})
        self.assertEqual(rank.code, 3, rank.said)
        self.assertIn("/nonexistent/caf\uefe9", rank.of("failed")[0]["message"])
        self.assertIn("/nonexistent/caf\\xe9", rank.said)

    def test_ranks_meet_in_a_directory_whose_name_is_no_text(self):
        self.directory_suffix = "caf\udce9"
        for rank in self.run_engine({**QUICK, "steps": 2}, world=2):
            self.assertEqual(rank.code, 0, rank.said)

    def test_a_model_that_does_not_fit_the_data_is_refused(self):
        self.refused(3, "it is for classification, and model pilotnet is for steering", model="pilotnet")

    def test_a_loss_that_is_not_a_number_ends_the_run(self):
        self.refused(1, "training diverged", learning_rate=1e20, steps=20)

    def test_what_is_not_a_number_reaches_no_target(self):
        # After one step the weights are huge, so that validation gives none; the second step then finds it out.
        (rank,) = self.run_engine({**QUICK, "steps": None, "epochs": 3, "train_samples": 32, "learning_rate": 1e30, "target_val_loss": 1.0})
        self.assertEqual(rank.of("epoch")[0]["val_loss"], "nan")
        self.assertEqual(rank.code, 1, rank.said)
        self.assertIn("training diverged", rank.said)

    def test_a_world_of_another_size_is_refused(self):
        self.refused(3, "WORLD_SIZE is 1", workers=2)

    def test_a_killed_rank_ends_the_others(self):
        directory, processes = self.start({**QUICK, "steps": 100000, "epochs": 10000, "timeout": 20}, world=2)
        events = directory / "rank1.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (events.exists() and '"step"' in events.read_text()):
            time.sleep(0.1)
        processes[1].send_signal(signal.SIGKILL)
        rank, _ = self.finish(directory, processes)
        self.assertEqual(rank.code, 1, rank.said)
        self.assertEqual(rank.of("failed")[0]["kind"], "collateral")

    def test_a_signal_ends_the_run_and_is_told(self):
        directory, processes = self.start({**QUICK, "steps": 100000, "epochs": 10000})
        events = directory / "rank0.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (events.exists() and '"step"' in events.read_text()):
            time.sleep(0.1)
        processes[0].send_signal(signal.SIGTERM)
        (rank,) = self.finish(directory, processes)
        self.assertEqual(rank.code, 128 + signal.SIGTERM)
        self.assertEqual(rank.of("failed")[0]["kind"], "interrupted")


if __name__ == "__main__":
    torch_engine_case.main()
