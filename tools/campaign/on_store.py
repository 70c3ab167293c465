"""Faults of what is kept: hostile records, full disks, limits, damaged notes, studies that are killed and resumed."""

import json
import os
import resource
import shutil
import signal
import time

import mutation
from fault import NotPossible
from on_files import STUDY
from on_ranks import conclude
from room import Program
from training import Training, draw_flags

LISTINGS = (["runs", "list"], ["runs", "list", "--json"], ["runs", "list", "--study", "small"], ["runs", "export"], ["runs", "export", "--format", "csv"],
            ["runs", "export", "small", "--format", "study"], ["report", "small"], ["report", "small", "--format", "html"], ["report", "small", "--format", "csv", "-o", "tables"],
            ["runs", "reindex"], ["runs", "list"])


def small_study(fault):
    """A store with a finished study, which others copy."""
    def make(folder):
        (folder / "small.yaml").write_text(STUDY)
        done = fault.run(["study", str(folder / "small.yaml"), "--progress", "none", "--store", str(folder / "store")], promise=120, codes={0})
        assert done.code == 0, done.err
    return fault.settings.material("study", make)


def hostile_record(fault):
    """Imported or copied in: refused, or listed; never the end of a listing of others."""
    how = fault.draw("how", ("import", "import", "import", "copied"))
    inputs = fault.number("inputs", 5, 9)
    bytewise = fault.draw("damage", ("a value", "a value", "a value", "bytes")) == "bytes"
    fault.begin()
    shutil.copytree(small_study(fault) / "store", fault.room.store, dirs_exist_ok=True)
    whole = json.loads(next(fault.room.store.glob("runs/*/record.json")).read_text())
    good = {entry.name for entry in fault.room.runs()}
    for number in range(inputs):
        record = dict(whole, id=f"20260102T03040{number}.678Z-1a2b3c4d-9f8e")
        how_deep = fault.random.random()
        name = fault.random.choice(("spec",) * 4 + tuple(record))
        if how_deep < 0.4:
            record[name] = fault.random.choice(mutation.ODD_VALUES)
        elif how_deep < 0.7 and isinstance(record[name], (dict, list)) and record[name]:
            record[name] = mutation.damaged_json(fault.random, record[name])
        else:
            record = mutation.damaged_json(fault.random, record)
        data = json.dumps(record).encode(errors="surrogatepass")
        data = mutation.damaged(fault.random, data) if bytewise else data
        if how == "import":
            (fault.room.work / f"{number}.jsonl").write_bytes(data + b"\n")
            fault.run(["runs", "import", str(fault.room.work / f"{number}.jsonl")], codes={0, 3})
        else:
            run = fault.room.store / "runs" / f"20260102T03040{number}.678Z-1a2b3c4d-9f8e"
            run.mkdir()
            (run / "record.json").write_bytes(data)
    for command in LISTINGS:
        done = fault.run(command, codes={0})
        fault.expect("\x1b" not in done.out, "exposed", f"`{' '.join(command)}` prints escape characters: {done.out[max(0, done.out.find(chr(27)) - 80) :][:200]!r}")
        if command[:2] in (["runs", "list"], ["runs", "export"]) and done.code == 0:
            missing = [run for run in good if run not in done.out]
            fault.expect(not missing, "lost", f"`{' '.join(command)}` no longer lists {missing[:2]}")
        if "csv" in command and "export" in command:
            cells = [cell for line in done.out.splitlines() for cell in line.split(",")]
            formulas = [cell for cell in cells if cell[:1] in "=+@" and cell[:1]]
            fault.expect(not formulas, "exposed", f"cells of the CSV are formulas: {formulas[:3]}")
    for run in fault.room.runs():
        if run.name not in good:
            fault.run(["runs", "show", run.name], codes={0, 3, 1})
            fault.run(["compare", run.name, sorted(good)[0]], codes={0, 3, 1})
    fault.expect_nothing_left()


def full_disk(fault):
    """What did not fit is named; what had been written stays, and is made into a record once there is room again."""
    where = fault.draw("where", ("store", "store", "store", "weights", "trace"))
    killed = fault.draw("then", ("nothing", "nothing", "the launcher is killed at the end")) != "nothing"
    moment = fault.draw("moment", ("a small disk", "first steps", "checkpoint", "end", "end"))
    flags = draw_flags(fault, workers=(1, 2, 2))
    room, delay = fault.number("kilobytes", 4, 900), fault.share("delay", 0.0, 0.2)
    if not fault.settings.private_shm and not fault.settings.plan_only:
        raise NotPossible("no file system can be mounted here")
    fault.begin()
    disk = fault.room.mount_small("disk", f"{room}k" if moment == "a small disk" else "8m")
    more = {"store": [], "weights": ["--export-weights", str(disk / "w.safetensors")], "trace": ["--trace", str(disk / "t.json")]}[where]
    if where == "store":
        fault.room.store.rmdir()
        fault.room.store.symlink_to(disk)
    run = Training(fault, flags, slowly=moment != "end", more=more)
    if moment != "a small disk":
        run.reach(moment, 0, delay if moment != "end" else delay / 50)
        fill(disk)
    if killed:
        fault.await_that(lambda: all(run.count(rank, "finished") for rank in range(run.workers)), 20, run.programs)
        run.programs[0].send(signal.SIGKILL)
    fault.expect_end(run.programs, 30)
    program = run.programs[0]
    if not killed:
        fault.expect_sane(program, {0, 1})
        named = ("o room", "o space", "not written", "cannot be written", "could not be written")
        fault.expect(program.code != 1 or any(word in program.err for word in named), "words", f"nothing says that the disk is full: {program.err[-400:]}")
    had_record = run.record() is not None
    (disk / "filler").unlink(missing_ok=True)
    fault.room.widen(disk, "64m")
    if run.directory() is not None:
        conclude(fault, run)
        record = run.record()
        if record is not None and where != "store":
            fault.expect(record["status"] in ("finished", "failed"), "lost", f"the record says {record['status']}")
        whole = all(run.count(rank, "finished") for rank in range(run.workers)) and where == "store"
        if whole and had_record and not killed and record["status"] == "finished":
            fault.expect(program.code == 0, "code", f"it ended with {program.code}, and its record is there and says finished: {program.err[-300:]}")
        if whole and record is not None:
            fault.expect(record["status"] == "finished" or program.code == 1, "lost", f"all ranks had finished, and the record says {record['status']}: {record.get('failure')}")
        if where == "store":
            run.expect_nothing_lost()
    fault.expect_nothing_left(half_written=False)


def record_on_a_full_disk(fault):
    """At the end there is room for the record, and not for the larger file of all ranks' events: the run has finished, and says so."""
    flags = draw_flags(fault, workers=(2, 2, 3))
    spared = fault.number("spared kilobytes", 20, 32)  # of two and three ranks' records, 11 to 15 KB; their events are 43 to 67 KB
    if not fault.settings.private_shm and not fault.settings.plan_only:
        raise NotPossible("no file system can be mounted here")
    fault.begin()
    disk = fault.room.mount_small("disk", "8m")
    fault.room.store.rmdir()
    fault.room.store.symlink_to(disk)
    run = Training(fault, flags)
    merged = lambda: run.directory() is not None and (run.directory() / "events.jsonl").exists()
    fault.await_that(lambda: all(run.count(rank, "finished") for rank in range(run.workers)), 40, run.programs)
    fill(disk, spared << 10)
    if merged():
        fault.miss("all had been written")
    fault.expect_end(run.programs, 30)
    run.expect_sane({0})
    run.expect_status(("finished",))
    if not fault.missed and not merged():
        fault.expect("runs conclude" in run.said(), "words", f"nobody says that events are missing, and what to do: {run.said()[-300:]}")
    (disk / "filler").unlink()
    if run.directory() is not None:
        fault.run(["runs", "conclude", run.directory().name], codes={0})
        fault.expect(merged(), "lost", "with room again, runs conclude did not make the file of all events")
    fault.expect_nothing_left()
    run.expect_nothing_lost()


def fill(disk, spared=0):
    """Until not one byte more fits than is spared."""
    with open(disk / "filler", "wb", buffering=0) as filler:
        for size in (1 << 16, 4096, 1):
            try:
                while filler.write(bytes(size)):
                    pass
            except OSError:
                continue
        filler.truncate(max(filler.tell() - spared, 0))


def limits(fault):
    """A launcher or ranks with small limits: done, or one word about the cause."""
    which = fault.draw("limit", ("file size", "file size", "stack", "open files", "open files", "memory"))
    flags = draw_flags(fault, workers=(1, 2, 3), strategies=("ddp",))
    value = {"file size": fault.draw("bytes", (0, 1000, 20_000, 100_000, 150_000, 400_000, 2_000_000)), "stack": fault.draw("stack", (65536, 131_072, 262_144, 1 << 20)),
             "open files": fault.draw("files", (12, 16, 16, 20, 24, 32)), "memory": fault.draw("memory", (1 << 28, 1 << 29, 1 << 30, 3 << 29))}[which]
    number = {"file size": resource.RLIMIT_FSIZE, "stack": resource.RLIMIT_STACK, "open files": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_AS}[which]
    fault.begin()
    if which == "memory":
        if cannot_even_start(fault, number, value):
            return fault.note("the loader itself needs more")
    run = Training(fault, flags, slowly=False, limits={number: value})
    fault.expect_end(run.programs, 30)
    program = run.programs[0]
    output_cut = which == "file size" and value < 2000  # its own words do not fit into the file they go to
    fault.expect_sane(program, {0, 1, 3, 4, 124}, errors=None if output_cut else 1)
    words = {"file size": ("room", "limit", "large", "ulimit", "not written"), "stack": ("stack", "memory", "thread"), "memory": ("memory", "limit", "thread"),
             "open files": ("open files", "descriptors", "ulimit")}[which]
    if program.code == 0:
        run.expect_status(("finished",))
    if program.code not in (0, None) and not output_cut:
        fault.expect(any(word in program.err for word in words), "words", f"nothing says which limit it was ({which} {value}): {program.err[-500:]}")
    fault.expect_nothing_left(half_written=which != "file size")


def cannot_even_start(fault, number, value):
    """Whether a program as plain as `true` fails under this limit, or ours before its first line."""
    plain = Program(fault.room, ["true"], limits={number: value})
    ours = fault.start(["--version"], limits={number: value})
    plain.wait(10), ours.wait(10)
    return plain.code != 0 or "error while loading shared libraries" in ours.err or ours.died_of() == signal.SIGSEGV


def run_study(fault, file, *flags, promise=120, codes=(0,)):
    return fault.run(["study", str(file), "--progress", "none", *flags], promise=promise, codes=set(codes))


def cells(fault):
    """What must be the same whatever happened on the way, by cell and repeat; a run that is there twice shows."""
    found = {}
    for run in fault.room.runs():
        try:
            record = json.loads((run / "record.json").read_bytes())
        except (OSError, ValueError):
            found[f"{run.name} has no record"] = None
            continue
        place = f"{record.get('cell')}#{record.get('repeat')}"
        figures = [record["status"], record["spec_hash"], record["steps"]["count"], [(epoch.get("train_loss"), epoch.get("val_loss")) for epoch in record["epochs"]]]
        found[place + (" again" if place in found else "")] = figures
    return found


def undisturbed_cells(fault):
    name, known = "cells of the study", fault.settings.references
    if name not in known:
        kept, fault.room.store = fault.room.store, small_study(fault) / "store"
        known[name] = cells(fault)
        fault.room.store = kept
    return known[name]


def killed_study(fault):
    """Killed a few times, the study or a worker or both; resumed, it has the cells of one that nobody touched."""
    kills = [(fault.draw(f"victim {index}", ("study", "worker", "both")), fault.share(f"after {index}", 0.05, 3.0)) for index in range(fault.number("kills", 1, 3))]
    fault.begin()
    expected = undisturbed_cells(fault)
    file = small_study(fault) / "small.yaml"
    for victim, after in kills:
        program = fault.start(["study", str(file), "--progress", "none", "--resume"])
        program.wait(after)
        workers = fault.room.workers()
        if victim in ("worker", "both") and workers:
            os.kill(sorted(workers.items())[0][1].pid, signal.SIGKILL)
        if victim in ("study", "both") and program.alive():
            program.send(signal.SIGKILL)
        fault.expect_end([program], 60)
        fault.await_that(lambda: not fault.room.workers(), 10)
    run_study(fault, file, "--resume")
    fault.expect(cells(fault) == expected, "lost", f"the resumed study has {sorted(map(str, cells(fault)))}, an undisturbed one {sorted(expected)}")
    fault.run(["report", "small"], codes={0})
    fault.expect_nothing_left(half_written=False)


def damaged_place(fault):
    """A finished cell whose note of its place is damaged does not run again."""
    how = fault.draw("how", ("cut", "empty", "a value", "removed", "bytes"))
    record_too = fault.draw("record", ("there", "there", "there", "missing"))
    fault.begin()
    shutil.copytree(small_study(fault) / "store", fault.room.store, dirs_exist_ok=True)
    file, before = small_study(fault) / "small.yaml", cells(fault)
    run = fault.random.choice(fault.room.runs())
    note = run / "place.json"
    text = note.read_bytes()
    if how == "removed":
        note.unlink()
    else:
        note.write_bytes({"cut": text[: fault.random.randrange(1, len(text))], "empty": b"", "a value": json.dumps(mutation.damaged_json(fault.random, json.loads(text))).encode(),
                          "bytes": mutation.damaged(fault.random, text)}[how])
    directories = {entry.name for entry in fault.room.runs()}
    if record_too == "missing":  # a launcher that was killed at the end: the ranks' files are whole
        (run / "record.json").unlink()
        note.write_bytes(text)
    run_study(fault, file, "--resume")
    new = {entry.name for entry in fault.room.runs()} - directories
    fault.expect(not new, "lost", f"a finished cell was run again: {sorted(new)}")
    fault.expect({name: figures for name, figures in cells(fault).items()} == before, "lost", f"the study has {sorted(map(str, cells(fault)))}, before {sorted(before)}")
    fault.expect_nothing_left()


def study_on_a_full_disk(fault):
    """The study ends with a word; with room again, --resume has every cell once."""
    after, then = fault.share("after", 0.2, 2.5), fault.draw("then", ("nothing", "killed"))
    if not fault.settings.private_shm and not fault.settings.plan_only:
        raise NotPossible("no file system can be mounted here")
    fault.begin()
    expected, file = undisturbed_cells(fault), small_study(fault) / "small.yaml"
    disk = fault.room.mount_small("disk", "16m")
    fault.room.store.rmdir()
    fault.room.store.symlink_to(disk)
    program = fault.start(["study", str(file), "--progress", "none"])
    program.wait(after)
    fill(disk)
    if then == "killed":
        time.sleep(0.3)
        program.send(signal.SIGKILL)
    fault.expect_end([program], 60)
    fault.expect_sane(program, {0, 1}, errors=None)
    (disk / "filler").unlink()
    run_study(fault, file, "--resume")
    fault.expect(cells(fault) == expected, "lost", f"the resumed study has {sorted(map(str, cells(fault)))}, an undisturbed one {sorted(expected)}")
    fault.expect_nothing_left(half_written=False)
