"""The parts of engine torch that must agree with our own engine to the bit or to the name."""

import contextlib
import json
import os
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path
from types import SimpleNamespace

import torch_engine_case

PARAMETERS_AT_1000_CLASSES = {"resnet18": 11689512, "vgg16": 138357544, "squeezenet1_0": 1248424, "densenet121": 7978856,
                              "alexnet": 61100840}
WORKER = Path(os.environ.get("LOCKSTEP_BINARY_DIR", "/nonexistent")) / "bin/lockstep-worker"


def mix(x):
    """docs/data.md, word for word."""
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def key(*words):
    k = 0
    for word in words:
        k = mix(k ^ word)
    return k


class RandomTest(unittest.TestCase):
    def test_philox_gives_the_published_words(self):
        from torch_engine import philox
        words = philox.words(0, 0, 0, 1).reshape(-1)
        self.assertEqual([int(words[i]) for i in (0, 16, 32, 48)], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8])

    def test_a_short_fill_is_the_front_of_a_long_one(self):
        from torch_engine import philox
        longer, shorter = (philox.normal(count, 1.0, 1, "a") for count in (philox.PIECE + 100, 77))
        self.assertEqual(list(longer[:77]), list(shorter))
        self.assertAlmostEqual(float(longer.std()), 1, delta=0.02)

    def test_shuffles_follow_the_documented_formula(self):
        from torch_engine.keyed_random import shuffled_order
        expected = sorted(range(500), key=lambda i: mix(key(1, 42, 3) ^ i))
        self.assertEqual(list(shuffled_order(500, 42, 3)), expected)

    def test_draws_follow_the_documented_formula(self):
        from torch_engine.keyed_random import AUGMENTATION, Draws
        draws = Draws(AUGMENTATION, 7, 2, [11, 12])
        numbers = [[mix(mix(key(7, 2, index) ^ 2) ^ mix(j)) for index in (11, 12)] for j in (0, 1)]
        self.assertEqual(list(draws.below(9)), [((n >> 32) * 9) >> 32 for n in numbers[0]])
        self.assertEqual(list(draws.coin()), [bool(n >> 63) for n in numbers[1]])


class ModelTest(unittest.TestCase):
    def build(self, name, classes=10, shape=(3, 32, 32), **options):
        from torch_engine import models
        from torch_engine.catalogue import MODELS
        spec = SimpleNamespace(model=name, seed=1, precision="f32", input_shape=shape, model_facts=MODELS[name],
                               options={**MODELS[name].options, **options})
        return models.build(spec, classes)

    def parameters(self, *arguments, **options):
        return sum(p.numel() for p in self.build(*arguments, **options).parameters())

    def test_small_models_have_the_published_number_of_parameters(self):
        self.assertEqual(self.parameters("lenet5", shape=(1, 28, 28)), 61706)
        self.assertEqual(self.parameters("vit", shape=(1, 28, 28)), 5322)
        self.assertEqual(self.parameters("resnet18-cifar"), 11173962)

    def test_our_own_classic_models_have_torchvisions_names_and_shapes(self):
        from torch_engine import classic_models, models
        for name, parameters in PARAMETERS_AT_1000_CLASSES.items():
            with self.subTest(model=name), models.no_own_initialisation():
                own = getattr(classic_models, name)(1000)
                self.assertEqual(sum(p.numel() for p in own.parameters()), parameters)
                theirs = models.build_classic(name, 1000).state_dict()
                self.assertEqual({n: t.shape for n, t in own.state_dict().items()}, {n: t.shape for n, t in theirs.items()})

    def test_freezing_counts_layers_from_the_output(self):
        from torch_engine import trainable
        from torch_engine.catalogue import MODELS
        for words, expected in (("all", 61706), ("head", 850), ("last:2", 850 + 10164), ("share:15%", 850 + 10164)):
            model = self.build("lenet5", shape=(1, 28, 28))
            trainable.freeze(model, SimpleNamespace(model="lenet5", trainable=words, model_facts=MODELS["lenet5"]))
            self.assertEqual(sum(p.numel() for p in model.parameters() if p.requires_grad), expected, words)

    def test_initial_weights_equal_those_of_our_engine(self):
        if not WORKER.exists():
            self.skipTest(f"{WORKER} is not built")
        import torch
        for name, channels in (("lenet5", 1), ("vit", 1), ("resnet18-cifar", 1), ("squeezenet1_0", 3), ("densenet121", 3)):
            ours = self.exported(name)
            theirs = self.build(name, shape=(channels, 28, 28)).state_dict()
            self.assertEqual(set(ours), set(theirs))
            for key_, tensor in ours.items():
                self.assertTrue(torch.equal(tensor, theirs[key_]), f"{name}: {key_}")

    def exported(self, name):
        from torch_engine.weights_file import read_safetensors
        with tempfile.TemporaryDirectory() as folder:
            spec, out = Path(folder) / "spec.json", Path(folder) / "weights.safetensors"
            spec.write_text(json.dumps({"model": name, "data": "fashion-mnist"}))
            done = subprocess.run([str(WORKER), "export-weights", "--spec", str(spec), "--out", str(out)], capture_output=True, text=True,
                                  timeout=120)
            if done.returncode == 2:
                self.skipTest(f"{WORKER.name} has no export-weights: {done.stderr.strip()}")
            self.assertEqual(done.returncode, 0, done.stderr)
            return read_safetensors(out)


class Arrival:
    """What stands in for an event of a GPU: it has come once somebody has waited for it."""

    def __init__(self):
        self.waited = False

    def synchronize(self):
        self.waited = True


class StopWishesTest(unittest.TestCase):
    def heard(self, sums, on_gpu):
        from torch_engine.stop_wishes import StopWishes
        self.arrivals = []
        wishes = StopWishes(on_gpu)
        wishes.mark = lambda: self.arrivals.append(Arrival()) or self.arrivals[-1]
        answers = [wishes.heard(wish) for wish in sums]
        self.assertFalse(any(arrival.waited for arrival in self.arrivals[-1:]), "a step waited for itself")
        return answers, wishes.last_heard()

    def test_a_step_on_the_cpu_hears_of_its_own_sum(self):
        self.assertEqual(self.heard([0, 0, 2], on_gpu=False)[0], [False, False, True])
        self.assertEqual(self.arrivals, [])

    def test_a_step_on_a_gpu_hears_of_the_step_before_and_does_not_wait_for_its_own(self):
        self.assertEqual(self.heard([0, 0, 2, 2], on_gpu=True)[0], [False, False, False, True])
        self.assertEqual([arrival.waited for arrival in self.arrivals[:-1]], [True] * 3)

    def test_at_the_end_of_an_epoch_the_last_step_is_heard_too(self):
        self.assertEqual(self.heard([0, 0, 2], on_gpu=True), ([False, False, False], True))
        self.assertEqual(self.heard([0, 0], on_gpu=True), ([False, False], False))
        self.assertEqual(self.heard([], on_gpu=True), ([], False))


class Runs:
    """Unpickled by a reader that runs what it reads, it makes a directory."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (self.place,)


def program_that_runs_when_it_is_read():
    """A program whose reading alone runs code of its own."""
    import torch

    class Program(torch.nn.Module):
        def forward(self, value):
            return value

        @torch.jit.export
        def __getstate__(self):
            return self.training

        @torch.jit.export
        def __setstate__(self, training: bool):
            self.training = training
            assert not training, "it ran"
    return Program()


def with_a_harmless_list(archive):
    """The archive with a second list of its records behind the first. What looks for the list where the end says so finds the program,
    what looks for it before the end finds none (Python's zipfile)."""
    end = archive.rindex(b"PK\5\6")
    count, size, begin = struct.unpack_from("<HII", archive, end + 10)
    records = bytearray(archive[begin:begin + size].replace(b"/constants.pkl", b"/harmless_.pkl"))
    at = 0
    while at < size:
        struct.pack_into("<H", records, at + 10, zipfile.ZIP_STORED)
        struct.pack_into("<I", records, at + 24, 1)
        at += 46 + sum(struct.unpack_from("<HHH", records, at + 28))
    return archive[:begin + size] + records + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, size, begin, 0)


def write_archive(file, content):
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)


class FileTest(unittest.TestCase):
    def test_safetensors_come_back_as_they_were_written(self):
        import torch
        from torch_engine.errors import DataError
        from torch_engine.weights_file import read_safetensors, write_safetensors
        tensors = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor(7), "c": torch.ones(3, dtype=torch.bfloat16)}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "w.safetensors"
            write_safetensors(str(file), tensors)
            back = read_safetensors(file)
            self.assertEqual(set(back), set(tensors))
            for name, tensor in tensors.items():
                self.assertTrue(torch.equal(back[name], tensor) and back[name].dtype == tensor.dtype)
            file.write_bytes(file.read_bytes()[:-1])
            with self.assertRaises(DataError):
                read_safetensors(file)

    def refusal(self, file):
        from torch_engine.errors import DataError
        from torch_engine.weights_file import read_weights
        with self.assertRaises(DataError) as caught:
            read_weights(str(file))
        return str(caught.exception)

    def test_a_state_dict_of_torch_save_is_read(self):
        import torch
        from torch_engine.weights_file import read_weights
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "w.pt"
            torch.save(torch.nn.Linear(2, 3).state_dict(), file)
            self.assertEqual(set(read_weights(str(file))), {"weight", "bias"})

    def test_nothing_in_a_file_of_weights_runs(self):
        import torch
        with tempfile.TemporaryDirectory() as folder:
            file, trace = Path(folder) / "w.pt", Path(folder) / "the_program_ran"
            torch.save({"weight": Runs(str(trace))}, file)
            self.assertIn("cannot be read as data", self.refusal(file))
            self.assertFalse(trace.exists())

    def test_a_program_is_refused_as_weights_with_the_ways_out(self):
        import torch
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "w.pt"
            torch.jit.save(torch.jit.script(torch.nn.Linear(2, 3)), str(file))
            message = self.refusal(file)
            self.assertIn("TorchScript", message)
            self.assertIn("state_dict", message)
            self.assertIn("--model", message)

    def test_a_program_behind_a_second_list_of_records_does_not_run(self):
        import torch
        with tempfile.TemporaryDirectory() as folder:
            program, hidden = Path(folder) / "program.pt", Path(folder) / "hidden.pt"
            torch.jit.save(torch.jit.script(program_that_runs_when_it_is_read()), str(program))
            hidden.write_bytes(with_a_harmless_list(program.read_bytes()))
            with self.assertRaisesRegex(torch.jit.Error, "it ran"):
                torch.jit.load(str(hidden))
            self.assertIn("are damaged", self.refusal(hidden))

    def test_a_table_that_was_tampered_with_is_refused_or_is_a_table_still(self):
        import torch
        from torch_engine.errors import DataError
        from torch_engine.weights_file import read_weights
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "w.pt"
            torch.save({"a": torch.ones(3, 2).t(), "b": torch.nn.Parameter(torch.zeros(2)), "c": torch.empty(0), "d": 5}, file)
            read = read_weights(str(file))
            self.assertEqual({name: list(tensor.shape) for name, tensor in read.items()}, {"a": [2, 3], "b": [2], "c": [0]})
            with zipfile.ZipFile(file) as archive:
                content = {name: archive.read(name) for name in archive.namelist()}
            table = next(name for name in content if name.endswith("/data.pkl"))
            stride_zero = content[table].replace(b"K\x02K\x03\x86", b"J\xff\xff\xff\x7fK\x03\x86")
            self.assertNotEqual(stride_zero, content[table])
            for text in (stride_zero, b"].", b"\x80\x02r\xff\xff\xff\x7f.", b"}(K\x01K\x02\x86K\x01u.", b"cos\nsystem\n(X\x02\x00\x00\x00lstR.",
                         b"ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb."):
                write_archive(file, {**content, table: text})
                self.assertIn("cannot be read as data", self.refusal(file))
            for at in range(len(content[table])):
                for byte in (0x28, 0x81, 0xff):
                    write_archive(file, {**content, table: content[table][:at] + bytes([byte]) + content[table][at + 1:]})
                    with contextlib.suppress(DataError):
                        read_weights(str(file))

    def test_records_that_grow_beyond_the_file_are_refused(self):
        import torch
        with tempfile.TemporaryDirectory() as folder:
            stored, packed = Path(folder) / "stored.pt", Path(folder) / "packed.pt"
            torch.save({"weight": torch.zeros(1 << 20)}, stored)
            with zipfile.ZipFile(stored) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
                for name in source.namelist():
                    target.writestr(name, source.read(name))
            self.assertIn("packed as torch.save does not", self.refusal(packed))

    def test_an_empty_tensor_of_safetensors_takes_no_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "w.safetensors"
            for header in (b'{"a": {"dtype": "F32", "shape": [1099511627776], "data_offsets": [0, 0]}}', b'{"a\xb8": 1}', b'[1]', b'{"a": 1}'):
                file.write_bytes(struct.pack("<Q", len(header)) + header)
                self.assertIn("is not a whole safetensors file", self.refusal(file))

    def test_resizing_keeps_a_constant_and_a_ramp(self):
        import numpy as np
        from torch_engine.resampler import resample
        self.assertTrue(np.allclose(resample(np.full((2, 28, 28), 200, dtype=np.uint8), 64, 32), 200))
        ramp = np.tile(np.arange(8, dtype=np.uint8) * 10, (8, 1))
        self.assertTrue(np.allclose(resample(ramp, 16, 16)[0, 1:-1], np.arange(14) * 5 + 2.5))

    def test_a_crop_shifts_and_black_comes_in(self):
        import numpy as np
        import torch
        from torch_engine.catalogue import DATA
        from torch_engine.feed import Feed
        from torch_engine.keyed_random import AUGMENTATION, Draws
        from torch_engine.sample_set import SampleSet
        images = np.arange(2 * 8 * 8, dtype=np.uint8).reshape(2, 1, 8, 8)
        spec = SimpleNamespace(input_shape=(1, 8, 8), data_facts=DATA["mnist"], augment="crop-flip", batch_global=2, seed=3, steps=None,
                               shuffle="epoch")
        feed = Feed(spec, SampleSet("classification", images, labels=np.array([0, 1]), classes=2), 0, 1, True)
        batch, order = feed.batch(5, 0), feed.order(5)
        draws = Draws(AUGMENTATION, 3, 5, order)
        downs, rights, flips = draws.below(3) - 1, draws.below(3) - 1, draws.coin()
        for row, (sample, down, right, flip) in enumerate(zip(order, downs, rights, flips)):
            padded = np.pad(images[sample, 0], 1)[1 + down:9 + down, 1 + right:9 + right]
            expected = feed.normalised((padded[:, ::-1] if flip else padded)[None, None].copy())
            self.assertTrue(torch.equal(batch.inputs[row:row + 1], torch.from_numpy(expected)))


if __name__ == "__main__":
    torch_engine_case.main()
