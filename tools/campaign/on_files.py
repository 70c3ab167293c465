"""Faults that are in what the program is given: damaged weights, data, checkpoints and specs, bytes that are no UTF-8, mistyped words."""

import json
import os
import shutil
import struct

import mutation
from room import children_peak_bytes
from training import Training, expect_equal, facts_of

BRIEF = ["train", "--train-samples", "48", "--val-samples", "24", "--global-batch", "24", "--threads", "1", "--steps", "2", "--validate-every", "0",
         "--progress", "none", "--timeout", "60s"]
SMALL = ["--model", "lenet5", "--data", "digits"]
MOST_BYTES = 1 << 31  # what no run of these sizes comes near, whatever its files say
STUDY = """name: small
title: A small study
question: Are two workers faster than one?
base: {model: lenet5, data: digits, train_samples: 96, val_samples: 32, global_batch: 16, epochs: 2, overlap: "off"}
axes:
  workers: [1, 2]
  learning_rate: [0.01, 0.05]
repeats: 1
tables: [summary, scaling, split, bytes, quality]
charts: [speedup, split, bytes, loss-by-epoch]
"""
SPEC = """model: vit
model_options: {width: 8, depth: 4}
data: digits
workers: 2
global_batch: 64
epochs: 5
schedule: cosine
timeout: 1m
checkpoint_time: 10m
bucket_bytes: 25MiB
"""


def run_bounded(fault, arguments, codes, **options):
    """A run that may refuse what it is given, but takes no more memory than the whole file could want."""
    before = children_peak_bytes()
    program = fault.run(arguments, codes=codes, **options)
    after = children_peak_bytes()
    fault.expect(after <= max(before, MOST_BYTES), "memory", f"{after >> 20} MiB were taken by {arguments[-4:]}")
    return program


def keep(fault, file, number):
    """The damaged file beside the outcomes, where it is wanted."""
    if fault.settings.keep and any(complaint["rule"] != "late" for complaint in fault.complaints):
        os.makedirs(fault.settings.keep, exist_ok=True)
        shutil.copy(file, f"{fault.settings.keep}/{fault.settings.seed}-{fault.index}-{number}-{os.path.basename(file)}")


def whole_weights(fault):
    def make(folder):
        done = fault.run([*BRIEF, *SMALL, "--export-weights", str(folder / "whole.safetensors")], codes={0})
        assert done.code == 0, done.err
        header = mutation.safetensors_header((folder / "whole.safetensors").read_bytes())
        shapes = {name: entry["shape"] for name, entry in header.items() if name != "__metadata__"}
        mutation.torch_file(folder / "whole.pt", shapes)
        (folder / "shapes.json").write_text(json.dumps(shapes))
    return fault.settings.material("weights", make)


def damaged_weights(fault):
    kind = fault.draw("file", ("safetensors", "safetensors", "pt", "pt", "swollen pt"))
    inputs = fault.number("inputs", 3, 6)
    fault.begin()
    given = whole_weights(fault)
    shapes = json.loads((given / "shapes.json").read_text())
    for number in range(inputs):
        file = fault.room.work / f"damaged-{number}.{'pt' if 'pt' in kind else kind}"
        if kind == "swollen pt":
            most = fault.random.choice((2**28, 2**30, 2**33, 2**62))
            lie = fault.random.choice((([most], [0]), ([most, 1], [0, 0]), ([2, most], [1, 0]), ([most], [1]), ([-1], [1]), ([most, most], [0, 0])))
            mutation.torch_file(file, shapes, (fault.random.randrange(len(shapes)), *lie))
        else:
            file.write_bytes(mutation.damaged(fault.random, (given / f"whole.{kind}").read_bytes()))
        done = run_bounded(fault, [*BRIEF, *SMALL, "--weights", str(file)], {0, 1, 3})
        if done.code == 1:
            fault.expect("the loss of step" in done.err or "written" in done.err, "code", f"damaged weights ended with 1: {done.err[-300:]}")
        keep(fault, file, number)
    fault.expect_nothing_left()


def damaged_data(fault):
    data = fault.draw("data", ("mnist", "mnist", "cifar10", "driving", "folder", "images", "swollen gzip"))
    inputs = fault.number("inputs", 3, 6)
    fault.begin()
    given = fault.settings.material("data", mutation.write_data_sets)
    files = {"mnist": "mnist/*", "cifar10": "cifar-10-batches-bin/*", "driving": "driving/**/*.*", "folder": "pictures/*/*", "images": "pictures/a/*"}
    for number in range(inputs):
        place = fault.room.work / f"data-{number}"
        shutil.copytree(given, place)
        name = "mnist" if data == "swollen gzip" else data
        if data == "swollen gzip":
            fault.random.choice([place / "mnist/train-images-idx3-ubyte.gz", place / "mnist/t10k-images-idx3-ubyte.gz"]).write_bytes(mutation.swollen_gzip(3000))
        else:
            victim = fault.random.choice(sorted(place.glob(files[data])))
            victim.write_bytes(mutation.damaged(fault.random, victim.read_bytes()))
        model = {"driving": "pilotnet", "images": "restorer"}.get(name, "lenet5")
        where = {"folder": f"folder:{place}/pictures", "images": f"images:{place}/pictures/a"}.get(name, name)
        words = [*BRIEF, "--model", model, "--data", where, "--data-dir", str(place), "--global-batch", "4"]
        done = run_bounded(fault, words, {0, 1, 3})
        if done.code == 1:
            fault.expect("the loss of step" in done.err, "code", f"damaged data ended with 1: {done.err[-300:]}")
        shutil.rmtree(place)
    fault.expect_nothing_left()


CHECKPOINTED = [*SMALL, "--train-samples", "230", "--val-samples", "50", "--global-batch", "24", "--threads", "1", "--overlap", "off", "--checkpoint-epochs", "1",
                "--timeout", "60s"]


def checkpointed_run(fault, workers):
    """A run of two epochs with a checkpoint of each, and the facts of one of three."""
    flags = [*CHECKPOINTED, "--workers", str(workers)]

    def make(folder):
        for name, epochs in (("short", 2), ("long", 3)):
            done = fault.run(["train", *flags, "--epochs", str(epochs), "--progress", "none", "--store", str(folder / name), "--export-weights", str(folder / name) + ".safetensors"], codes={0})
            assert done.code == 0, done.err
        record = json.loads(next((folder / "long/runs").glob("*/record.json")).read_text())
        (folder / "facts.json").write_text(json.dumps(facts_of(record, folder / "long.safetensors")))
    return flags, fault.settings.material(f"checkpoints-{workers}", make)


def damaged_checkpoint(fault):
    """The newest that is whole is used, or the resume refused; never a wrong one."""
    workers, inputs = fault.draw("workers", (1, 2)), fault.number("inputs", 2, 4)
    which = fault.draw("which", ("newest", "newest", "both"))
    fault.begin()
    flags, given = checkpointed_run(fault, workers)
    for number in range(inputs):
        place = fault.room.work / f"run-{number}"
        shutil.copytree(next((given / "short/runs").iterdir()), place)
        steps = sorted((place / "checkpoints").iterdir())
        for step in steps[-1:] if which == "newest" else steps:
            victim = fault.random.choice(sorted(step.iterdir()))
            victim.write_bytes(mutation.damaged(fault.random, victim.read_bytes()))
        resumed = Training(fault, [*flags, "--epochs", "3"], slowly=False, more=["--resume", str(place)])
        fault.expect_end(resumed.programs, 30)
        program = resumed.programs[0]
        fault.expect_sane(program, {0} if which == "newest" else {0, 3})
        if program.code == 0 and resumed.expect_status(("finished",)):
            expect_equal(fault, facts_of(resumed.record(), resumed.weights), json.loads((given / "facts.json").read_text()), "the resumed run")
        shutil.rmtree(place)
    fault.expect_nothing_left()


def damaged_spec(fault):
    """Specs and studies: understood, or refused with a word; nothing runs."""
    what, inputs = fault.draw("what", ("spec", "spec json", "study")), fault.number("inputs", 8, 14)
    fault.begin()
    text = {"spec": SPEC, "study": STUDY, "spec json": '{"model": "vit", "model_options": {"width": 8}, "data": "digits", "workers": 2, "global_batch": 64, "clip_norm": 1.5}'}[what]
    for number in range(inputs):
        file = fault.room.work / f"damaged-{number}.{'json' if 'json' in what else 'yaml'}"
        data = mutation.damaged(fault.random, text.encode())
        if fault.random.random() < 0.4:  # a whole document with a wrong value
            lines = text.splitlines() if "json" not in what else [text]
            at = fault.random.randrange(len(lines))
            value = fault.random.choice((*mutation.ODD_VALUES, "!!int x", "&a [*a]", "{a: b: c}", "- x", "0x1p3", "1_000", "~", "*x"))
            lines[at] = lines[at].split(":")[0] + ": " + (value if isinstance(value, str) else json.dumps(value))
            data = "\n".join(lines).encode(errors="surrogateescape")
        file.write_bytes(data)
        fault.run(["study" if what == "study" else "train", str(file), "--dry-run"], codes={0, 2, 3, 4})
        keep(fault, file, number)
    fault.expect_nothing_left()


COMMANDS = (
    ["train", *SMALL, "--workers", "2", "--backend", "gloo", "--epochs", "2", "--checkpoint-time", "10m", "--dry-run"],
    ["train", *SMALL, "--set", "model_options.width=8", "--learning-rate", "0.1", "--no-measure", "--dry-run"],
    ["models", "--classes", "10", "--json"], ["data", "--json"], ["backends", "--json"], ["strategies"], ["completion", "bash"], ["--version"],
    ["runs", "list", "--study", "small"], ["runs", "show", "2026", "--spec"], ["runs", "export", "--format", "csv"], ["runs", "rm", "2026"],
    ["report", "small", "--format", "md", "--only", "speedup"], ["compare", "a", "b", "--threshold", "5%", "--figure", "step_seconds"], ["study", "--list"],
    ["bench", "allreduce", "--backend", "shm", "--workers", "2", "-b", "4K", "-e", "4K", "-n", "5"],
)


def mistyped_command(fault):
    """Exit 2 or 3 with the nearest word, or what the words still mean."""
    inputs = fault.number("inputs", 8, 14)
    fault.begin()
    for _ in range(inputs):
        words = mutation.mistyped(fault.random, fault.random.choice(COMMANDS))
        if "--dry-run" not in words and words[:1] == ["train"]:
            words += ["--dry-run"]
        done = fault.run(words, codes={0, 1, 2, 3, 4})
        if done.code == 1:
            fault.complain("code", f"{words} ended with 1: {done.err[-300:]}")
    fault.expect_nothing_left()


ODD = b"caf\xe9 \xff"


def bytes_that_are_no_utf8(fault):
    """In names, headers, variables and arguments: done, or refused with a clean word."""
    where = fault.draw("where", ("weights header", "weights header", "weights name", "data-dir", "store", "export", "trace", "log-dir", "resume", "spec name", "spec",
                                 "study", "model", "set", "variable", "id", "import", "record", "folder"))
    odd = os.fsdecode(ODD)
    fault.begin()
    place = fault.room.work / odd
    place.mkdir()
    words, codes, environment = [*BRIEF, *SMALL], {0, 3}, {}
    if where == "weights header":
        header = fault.random.choice((b'{"a\xb8": 1}', b'{"__metadata__": {"x": "\xff"}}', b'{"\xc3\x28": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}', b'{"conv1.weight": {"dtype": "\xe9", "shape": [1], "data_offsets": [0, 4]}}', b"\xff\xfe{}"))
        (fault.room.work / "w.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
        words, codes = [*words, "--weights", str(fault.room.work / "w.safetensors")], {3}
    elif where == "weights name":
        shutil.copy(whole_weights(fault) / fault.random.choice(("whole.safetensors", "whole.pt")), place / odd)
        words += ["--weights", str(place / fault.random.choice((odd, odd, "absent")))]
    elif where == "data-dir":
        shutil.copytree(fault.settings.material("data", mutation.write_data_sets), place, dirs_exist_ok=True)
        words = [*BRIEF, "--model", "lenet5", "--data", "mnist", "--data-dir", str(place)]
    elif where == "folder":
        shutil.copytree(fault.settings.material("data", mutation.write_data_sets) / "pictures", place, dirs_exist_ok=True)
        (place / "a").rename(place / odd)
        words = [*BRIEF, "--model", "lenet5", "--data", f"folder:{place}", "--global-batch", "4"]
    elif where in ("store", "export", "trace", "log-dir", "resume"):
        flag = {"export": "--export-weights"}.get(where, f"--{where}")
        words += [flag, str(place / odd if where in ("export", "trace") else place)]
    elif where == "variable":
        name = fault.random.choice(("LOCKSTEP_STORE", "LOCKSTEP_DATA", "HOME", "LC_ALL", "MASTER_ADDR", "LOCKSTEP_DELAY"))
        environment, codes = {name: str(place)}, {0, 1, 2, 3}
        if name == "MASTER_ADDR":
            environment.update({"RANK": "1", "WORLD_SIZE": "2", "MASTER_PORT": "29400"})
            words, codes = [*words, "--join-timeout", "2s"], {1, 3, 124}
    elif where in ("spec", "study", "spec name"):
        file = place / odd if where == "spec name" else fault.room.work / "x.yaml"
        file.write_bytes(SPEC.encode() if where == "spec name" else (STUDY if where == "study" else SPEC).encode().replace(b"lenet5" if where == "study" else b"vit", ODD))
        words, codes = ["study" if where == "study" else "train", str(file), "--dry-run"], {0, 3}
    elif where in ("model", "set"):
        words, codes = ([*BRIEF, "--model", odd, "--data", fault.random.choice((odd, "digits"))] if where == "model" else [*words, "--set", fault.random.choice((f"{odd}=1", f"model={odd}", f"model_options.{odd}=2"))]), {2, 3}
    elif where == "id":
        words, codes = [*fault.random.choice((["runs", "show"], ["report"], ["compare", "a"], ["runs", "rm"], ["runs", "export"])), odd], {2, 3}
    else:
        one = json.dumps({"schema": 1, "id": "20260102T030405.678Z-1a2b3c4d-9f8e", "status": "x"}).encode().replace(b'"x"', b'"' + ODD + b'"')
        file = place / "records.jsonl"
        file.write_bytes(one + b"\n")
        words, codes = ["runs", "import", str(file)], {0, 3}
        if where == "record":
            run = fault.room.store / "runs/20260102T030405.678Z-1a2b3c4d-9f8e"
            run.mkdir(parents=True)
            (run / "record.json").write_bytes(one)
            words, codes = ["runs", "list"], {0}
    fault.run(words, codes=codes, environment=environment)
    if fault.room.runs() or (place / "runs").exists():
        store = ["--store", str(place)] if where == "store" else []
        for command in (["runs", "list"], ["runs", "list", "--json"], ["runs", "export"], ["runs", "export", "--format", "csv"]):
            done = fault.run([*command, *store], codes={0})
            try:
                done.out.encode()
            except UnicodeEncodeError:
                fault.complain("words", f"`{' '.join(command)}` prints bytes that are no UTF-8")
    for file in fault.room.store.glob("runs/*/record.json") if where != "record" else ():
        try:
            json.loads(file.read_bytes().decode())
        except ValueError as error:
            fault.complain("lost", f"{file.name} cannot be read as JSON: {error}")
    fault.expect_nothing_left()


def decoys_in_the_current_directory(fault):
    """Files named like libraries and modules lie where the program is started; none of them is used."""
    what = fault.draw("what", ("libraries", "libraries", "modules"))
    if what == "libraries":
        names = set()
        for file in fault.settings.binaries():
            names |= mutation.library_names(file.read_bytes())
        fault.expect("libc.so.6" in names, "campaign", f"the names of libraries were not found: {sorted(names)[:5]}")
        for name in names:
            (fault.room.work / name).write_bytes(b"not a library")
        fault.run(["--version"], codes={0})
        fault.run([*BRIEF, *SMALL, "--workers", "2", "--backend", fault.random.choice(("shm", "gloo"))], codes={0})
    else:
        for name in ("torch", "json", "os", "site", "sysconfig", "encodings"):
            (fault.room.work / f"{name}.py").write_text(f"open({str(fault.room.path)!r} + '/ran-{name}', 'w')\n")
        done = fault.start(["doctor"])
        fault.expect_end([done], 60)
        fault.expect_sane(done, {0, 4}, errors=None)
    ran = [file.name for file in fault.room.path.glob("ran-*")]
    fault.expect(not ran, "exposed", f"modules of the current directory were run: {ran}")
    for file in fault.room.path.glob("ran-*"):
        file.unlink()
    fault.expect_nothing_left()
