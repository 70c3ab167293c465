"""Small real runs: drawn, started in one of three ways, met at a moment, and compared with an undisturbed one."""

import hashlib
import json
import os
import shutil
import signal
import time

from fault import EXIT_CODES, NotPossible, said
from room import Program, free_port, is_free, poll, read_bytes

STEPS_PER_EPOCH = 10
EPOCHS = 3
MOMENTS = ("joining", "loading", "first steps", "checkpoint", "validation", "end")
BACKENDS = ("shm", "gloo", "mpi")
SLOWLY = {"LOCKSTEP_DELAY": "compute=15ms"}  # a step is long enough to be met in its middle
MOST_STEPS_UNTIL_ALL_AGREE = 8
LOCAL_TIMEOUT, JOIN_TIMEOUT = 3, 6
LEISURE = ("--timeout", "60s", "--join-timeout", "60s")  # time-outs are for disturbed runs; others are not to meet them on a busy machine


def draw_flags(fault, workers=None, backends=BACKENDS, strategies=("ddp", "ddp", "horovod", "zero1", "zero3", "localsgd")):
    """The flags of a run; every combination gives the same bits each time."""
    workers = fault.draw("workers", workers or (1, 2, 2, 3, 4))
    flags = ["--model", "lenet5", "--data", "digits", "--train-samples", "230", "--val-samples", "300", "--global-batch", "24",
             "--epochs", str(EPOCHS), "--threads", "1", "--overlap", "off", "--workers", str(workers),
             "--timeout", f"{LOCAL_TIMEOUT}s"]
    if workers > 1:
        flags += ["--backend", fault.draw("backend", backends), "--strategy", fault.draw("strategy", strategies)]
        if fault.drawn["backend"] == "mpi" and not shutil.which("mpirun"):
            raise NotPossible("no mpirun here")
    flags += fault.draw("checkpoints", (("--checkpoint-epochs", "1"), ("--checkpoint-time", "150ms")))
    flags += fault.draw("optimizer", (("--optimizer", "sgd"), ("--optimizer", "adam", "--learning-rate", "0.001")))
    return flags


class Training:
    """One run and its processes. `way`: our launcher, by hand (RANK, WORLD_SIZE) or mpirun."""

    def __init__(self, fault, flags, way="launcher", slowly=True, more=(), environment=None, **options):
        self.fault = fault
        self.flags = flags
        self.way = way
        self.workers = int(flags[flags.index("--workers") + 1]) if "--workers" in flags else 1
        self.before = set(fault.room.runs())
        self.weights = fault.room.work / f"weights-{len(fault.room.programs)}.safetensors"
        self.ports = []
        self.struck_rank = self.struck_with = None
        arguments = ["train", *flags, "--progress", "none", "--export-weights", str(self.weights),
                     "--join-timeout", f"{JOIN_TIMEOUT}s", *more]
        environment = {**(SLOWLY if slowly else {}), **(environment or {})}
        if way == "hand":
            self.ports = [free_port()]
            self.programs = [fault.start(arguments, environment={**environment, "RANK": str(rank), "WORLD_SIZE": str(self.workers),
                                                                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.ports[0])}, **options)
                             for rank in range(self.workers)]
        elif way == "mpirun":
            mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(self.workers)]
            self.programs = [Program(fault.room, [*mpirun, fault.settings.program, *arguments], environment, **options)]
        else:
            self.programs = [fault.start(arguments, environment=environment, **options)]

    # What it is doing

    def directory(self):
        new = [run for run in self.fault.room.runs() if run not in self.before]
        return new[0] if new else None

    def count(self, rank, event):
        directory = self.directory()
        return read_bytes(directory / f"rank{rank}.jsonl").count(b'"event":"%s"' % event.encode()) if directory else 0

    def events(self, rank, kind):
        found = []
        for line in read_bytes(self.directory() / f"rank{rank}.jsonl").splitlines() if self.directory() else ():
            try:
                event = json.loads(line)
            except ValueError:
                break
            if event.get("event") == kind:
                found.append(event)
        return found

    def nearly_done(self):
        """Whether what is to stop it after the step that runs may come after its last one."""
        return self.count(0, "step") >= STEPS_PER_EPOCH * EPOCHS - MOST_STEPS_UNTIL_ALL_AGREE

    def losses(self):
        return [event.get("loss") for event in self.events(0, "step")]

    def checkpoints(self):
        directory = self.directory()
        return sorted(directory.glob("checkpoints/step-*/manifest.json")) if directory else []

    def record(self):
        directory = self.directory()
        try:
            return json.loads((directory / "record.json").read_bytes().decode())
        except (OSError, TypeError, ValueError):
            return None

    def alive(self):
        return any(program.alive() for program in self.programs)

    def reach(self, moment, victim, delay, patience=40):
        """Waits for the moment, and `delay` seconds more; whether it came before the run was over."""
        epoch = self.fault.drawn.get("epoch", 1)
        rank = max(victim, 0)
        beginnings = {
            "start": lambda: True,
            "joining": lambda: victim < 0 or victim in self.fault.room.workers(),
            "loading": lambda: len(self.fault.room.workers()) == self.workers,
            "first steps": lambda: self.count(0, "step") >= 1,
            "checkpoint": lambda: self._checkpoint_begins(),
            "validation": lambda: self.count(0, "step") >= STEPS_PER_EPOCH * epoch,
            "end": lambda: self.count(rank, "finished") > 0,
        }
        came = self.fault.await_that(beginnings[moment], patience, self.programs)
        if came:
            time.sleep(delay)
        else:
            self.fault.miss(f"{moment} never came")
        return came

    def _checkpoint_begins(self):
        directory = self.directory()
        return bool(directory) and any(directory.glob("checkpoints/step-*"))

    def worker(self, rank):
        return self.fault.room.workers().get(rank)

    def signal_rank(self, rank, number):
        """Whether there was still somebody to receive it. Sets the time from which promises count."""
        process = self.worker(rank)
        self.struck_rank, self.struck_with = rank, number
        self.had_finished = self.count(rank, "finished") > 0
        self.struck = time.monotonic()
        if process is None:
            self.fault.miss(f"rank {rank} had ended")
            return False
        try:
            os.kill(process.pid, number)
        except OSError:
            self.fault.miss(f"rank {rank} had just ended")
            return False
        for program in self.programs:
            if program.pid == process.pid:
                program.signals.append(number)
        return True

    # What must hold

    def said(self):
        return "\n".join(program.err for program in self.programs)

    def end(self, promise, since=None):
        self.fault.expect_end(self.programs, promise, since or getattr(self, "struck", None))

    def expect_sane(self, codes, finished=frozenset()):
        """Codes are of the run; by hand every rank has one, and those that were only ended may say nothing. One that finished, and does not serve the others, also `finished`."""
        for program in self.programs:
            known = codes if self.way == "launcher" else EXIT_CODES | {137}
            self.fault.expect_sane(program, known, errors=1 if self.way == "launcher" else None)
        if self.way == "hand":
            for rank, program in enumerate(self.programs):
                # The shell of the rank that was struck has that signal's code, as any shell.
                own = {128 + number for number in program.signals} | ({128 + self.struck_with} if rank == self.struck_rank else set())
                if rank not in (0, self.struck_rank) and self.count(rank, "finished"):
                    own |= finished
                self.fault.expect(program.code in codes | own, "code", f"rank {rank} ended with {program.code}, expected {sorted(codes | own)}: {program.err[-300:]}")
        if self.way == "mpirun":
            self.fault.expect((self.programs[0].code == 0) == (codes == {0}) or 0 in codes, "code", f"mpirun ended with {self.programs[0].code}")

    def expect_status(self, statuses, victim=None):
        record = self.record()
        if self.way == "mpirun":  # which ends the others by SIGTERM, perhaps before rank 0 has written
            self.fault.expect(record is None or record.get("status") in {*statuses, "interrupted"}, "lost", f"the record says {record and record.get('status')}")
            return record
        if record is None:
            self.fault.complain("lost", f"there is no record: {said(self.programs)}")
            return None
        self.fault.expect(record.get("status") in statuses, "lost", f"the record says {record.get('status')}, expected {statuses}")
        if victim is not None and record.get("status") != "finished":
            named = record.get("failure", {}).get("rank")
            self.fault.expect(named == victim, "blame", f"the record names rank {named}, not {victim}: {record.get('failure')}")
        return record

    def expect_nothing_left(self, half_written=True):
        self.fault.expect_nothing_left(half_written)
        for port in self.ports:
            self.fault.expect(poll(lambda: is_free(port), 2), "left", f"somebody listens at port {port}")

    def expect_nothing_lost(self):
        """The result is that of an undisturbed run, now or after a resume from the last checkpoint."""
        reference = reference_of(self.fault, self.flags)
        record = self.record()
        if record is not None and record.get("status") == "finished":
            return expect_equal(self.fault, facts_of(record, self.weights), reference, "the run")
        announced = self.count(0, "checkpoint")
        if not self.checkpoints():
            self.fault.expect(announced == 0, "lost", f"{announced} checkpoints were announced and none is there")
            return
        resumed = Training(self.fault, self.flags, slowly=False, more=[*LEISURE, "--resume", str(self.directory())])
        self.fault.expect_end(resumed.programs, 40, what="the resumed run")
        resumed.expect_sane({0})
        again = resumed.record()
        if self.fault.expect(again is not None and again.get("status") == "finished", "lost", f"the resumed run did not finish: {resumed.said()[-300:]}"):
            expect_equal(self.fault, facts_of(again, resumed.weights), reference, "the resumed run")
        self.fault.note("resumed")


def facts_of(record, weights):
    """What must be equal bit by bit: the last losses, the weights, and the bytes that each step's gradients were."""
    last = record["epochs"][-1] if record.get("epochs") else {}
    payload = sum(row.get("payload_bytes", 0) for row in record.get("ledger", ()) if row["purpose"] == "gradient")
    return {"train_loss": last.get("train_loss"), "val_loss": last.get("val_loss"),
            "gradient_bytes_per_step": payload / max(1, record.get("steps", {}).get("count", 0)),
            "weights": hashlib.sha256(read_bytes(weights)).hexdigest()}


def expect_equal(fault, one, other, whose):
    for name, value in other.items():
        if one["train_loss"] is None and name != "weights":
            continue  # it had nothing left to train
        if name == "gradient_bytes_per_step" and "localsgd" in fault.drawn.values():
            continue  # averaged now and then, not once a step
        fault.expect(one[name] == value, "lost", f"{name} of {whose} is {one[name]}, and {value} undisturbed")


def reference_of(fault, flags):
    """The facts of an undisturbed run of these flags, which is made once."""
    known = fault.settings.references
    key = " ".join(flags)
    if key not in known:
        run = Training(fault, flags, slowly=False, more=[*LEISURE, "--store", str(fault.room.path / "reference")])
        fault.expect_end(run.programs, 40, what="an undisturbed run")
        fault.expect_sane(run.programs[0], {0})
        record = json.loads(next((fault.room.path / "reference" / "runs").glob("*/record.json")).read_bytes())
        assert record["status"] == "finished" and run.weights.stat().st_size > 0, record["status"]
        known[key] = facts_of(record, run.weights)
        shutil.rmtree(fault.room.path / "reference")
    return known[key]


def wake(processes):
    for process in processes:
        try:
            os.kill(process.pid, signal.SIGCONT)
        except OSError:
            pass
