"""Trains the same spec with our engine and through PyTorch, one worker each, and compares the losses of every step."""

import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import torch_engine_case
from torch_engine_case import RUN_TIMEOUT_SECONDS, EngineCase, Rank

WORKER = Path(os.environ.get("LOCKSTEP_BINARY_DIR", "/nonexistent")) / "bin/lockstep-worker"
COMMON = {"data": "fashion-mnist", "strategy": "single", "backend": "local", "device": "cpu", "threads": 1, "batch_size": 8, "steps": 10,
          "train_samples": 200, "validate_every": 0, "precision": "f64"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class AgreementTest(EngineCase):
    def ours(self, spec):
        if not WORKER.exists():
            self.skipTest(f"{WORKER} is not built")
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder)
            (directory / "spec.json").write_text(json.dumps(spec))
            environment = {**self.rank_environment(0, 1, {}), "MASTER_PORT": str(free_port())}
            done = subprocess.run([str(WORKER), "train", "--run", folder], capture_output=True, text=True, env=environment,
                                  timeout=RUN_TIMEOUT_SECONDS)
            self.assertEqual(done.returncode, 0, done.stderr)
            return Rank(0, done.stderr, directory / "rank0.jsonl").losses()

    def agree(self, tolerance=1e-9, **more):
        spec = {**COMMON, **more}
        self.assert_close(self.ours(spec), self.train(spec)[0].losses(), tolerance)

    def test_lenet5_in_single_precision(self):
        self.agree(tolerance=1e-4, model="lenet5", precision="f32", steps=25)

    def test_vit_with_adam(self):
        self.agree(model="vit", optimizer="adam", learning_rate=0.001)

    def test_a_narrow_resnet_with_augmentation_accumulation_clipping_and_cosine(self):
        self.agree(model="resnet18-cifar", model_options={"width": 4}, augment="crop-flip", accumulate=2, clip_norm=1.0,
                   schedule="cosine", nesterov=True, weight_decay=0.0005)

    def test_resized_grey_images_with_frozen_layers(self):
        self.agree(model="resnet18", image_size=33, batch_size=4, steps=3, trainable="last:5")


if __name__ == "__main__":
    torch_engine_case.main()
