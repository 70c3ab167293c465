"""Faults that happen to the processes of a run: killed, stopped, paused and signalled ranks and launchers."""

import os
import re
import shutil
import signal
import socket
import time

from fault import NotPossible
from room import is_held, listening, poll, read_bytes
from training import BACKENDS, JOIN_TIMEOUT, LOCAL_TIMEOUT, MOMENTS, Training, draw_flags, wake

KILL_SECONDS = 2.0
EARLY_MPI_SECONDS = 5.0
ASKING_SECONDS = 1.0  # in which everybody is asked where it is
MPI_SECONDS = 1.0  # until a control thread ends a rank that waits inside MPI
UNMISSED_SECONDS = 3.0  # beyond --timeout, where nobody waits for the rank that is stopped
STUCK_SECONDS = 2.0  # beyond --join-timeout, for who is stuck inside MPI_Init
WIND_DOWN_SECONDS = 10.0
LEAST_PACE = 0.4  # of what it was before a pause; clocks that are apart leave 0.1 to 0.25 of it


def draw_moment(fault, moments=MOMENTS):
    moment = fault.draw("moment", moments)
    fault.number("epoch", 1, 2)
    return moment, fault.share("delay", 0.0, 0.35 if moment in ("start", "joining", "loading") else 0.06)


def require_mpirun():
    if not shutil.which("mpirun"):
        raise NotPossible("no mpirun here")


def killed(fault, way, flags, moment, delay, victim):
    run = Training(fault, flags, way)
    run.reach(moment, victim, delay)
    struck = run.signal_rank(victim, signal.SIGKILL)
    early = moment in ("joining", "loading")
    unseen = way == "hand" and early  # nobody knows of a rank that ends before it has joined
    promise = EARLY_MPI_SECONDS if early and "mpi" in (fault.drawn.get("backend"), way) else KILL_SECONDS
    run.end(JOIN_TIMEOUT + ASKING_SECONDS if unseen else promise + (3 if way == "mpirun" else 0))
    # A rank that has said its last word may be gone without being missed.
    over = run.had_finished or not struck
    run.expect_sane({0, 1} if over else {1, 124} if unseen else {1})
    record = run.expect_status(("finished", "failed") if over else ("failed",), victim)
    if record is not None and record.get("status") == "failed" and struck and way != "mpirun":
        fault.expect_blame(run.said(), victim)
    run.expect_nothing_left(half_written=way != "mpirun")
    run.expect_nothing_lost()


def killed_rank(fault):
    flags = draw_flags(fault)
    moment, delay = draw_moment(fault)
    killed(fault, "launcher", flags, moment, delay, fault.number("victim", 0, fault.drawn["workers"] - 1))


def killed_rank_by_hand(fault):
    flags = draw_flags(fault, workers=(2, 2, 3), backends=("shm", "gloo"))
    moment, delay = draw_moment(fault)
    killed(fault, "hand", flags, moment, delay, fault.number("victim", 0, fault.drawn["workers"] - 1))


def killed_rank_of_mpirun(fault):
    flags = draw_flags(fault, workers=(2, 3), backends=BACKENDS)
    moment, delay = draw_moment(fault)
    victim = fault.number("victim", 0, fault.drawn["workers"] - 1)
    require_mpirun()
    killed(fault, "mpirun", flags, moment, delay, victim)


def stopped(fault, way, flags, moment, delay, victim):
    run = Training(fault, flags, way)
    run.reach(moment, victim, delay)
    process = run.worker(victim)
    struck = run.signal_rank(victim, signal.SIGSTOP)
    promise = JOIN_TIMEOUT + STUCK_SECONDS if moment in ("joining", "loading") else LOCAL_TIMEOUT + (UNMISSED_SECONDS if moment == "end" else ASKING_SECONDS + (MPI_SECONDS if fault.drawn.get("backend") == "mpi" else 0))
    others = [program for program in run.programs if process is None or program.pid != process.pid]
    fault.expect_end(others, promise + (2 if way == "mpirun" else 0), run.struck)
    if way == "hand" and process is not None:
        # A process that its user stopped is its user's to wake; it then has to notice that the run is over.
        wake([process])
        late = JOIN_TIMEOUT if moment in ("joining", "loading") else 0  # it looks for the others first
        fault.expect_end(run.programs, KILL_SECONDS + ASKING_SECONDS + late, what="the rank that was woken")
    over = not struck or run.had_finished
    run.expect_sane({0, 124} if over else {124})
    record = run.expect_status(("finished", "failed") if over else ("failed",), victim)
    if record is not None and record.get("status") == "failed" and way != "mpirun":
        fault.expect_blame("\n".join(program.err for program in others), victim)
    run.expect_nothing_left(half_written=way != "mpirun")
    run.expect_nothing_lost()


def stopped_rank(fault):
    flags = draw_flags(fault, workers=(2, 2, 3))
    moment, delay = draw_moment(fault)
    stopped(fault, "launcher", flags, moment, delay, fault.number("victim", 0, fault.drawn["workers"] - 1))


def stopped_rank_by_hand(fault):
    flags = draw_flags(fault, workers=(2, 2, 3), backends=("shm", "gloo"))
    moment, delay = draw_moment(fault, ("loading", "first steps", "checkpoint", "validation"))
    stopped(fault, "hand", flags, moment, delay, fault.number("victim", 0, fault.drawn["workers"] - 1))


def stopped_rank_of_mpirun(fault):
    flags = draw_flags(fault, workers=(2, 3))
    moment, delay = draw_moment(fault, ("first steps", "checkpoint", "validation"))
    victim = fault.number("victim", 0, fault.drawn["workers"] - 1)
    require_mpirun()
    stopped(fault, "mpirun", flags, moment, delay, victim)


def last_rank_stopped(fault):
    """Nobody of the run waits for this rank: it is alone, or its peers have finished."""
    alone = fault.draw("alone", (True, True, False))
    flags = draw_flags(fault, workers=(1,) if alone else (2, 3))
    way = fault.draw("way", ("launcher", "launcher", "hand") if fault.drawn.get("backend") != "mpi" else ("launcher",))
    moment, delay = draw_moment(fault, ("first steps", "checkpoint", "validation"))
    victim = fault.number("victim", 0, fault.drawn["workers"] - 1)
    run = Training(fault, flags, way)
    if alone:
        run.reach(moment, victim, delay)
    else:
        others = [rank for rank in range(run.workers) if rank != victim]
        fault.await_that(lambda: any(run.count(rank, "finished") for rank in others) or run.count(victim, "finished"), 40, run.programs)
    process = run.worker(victim)
    struck = run.signal_rank(victim, signal.SIGSTOP)
    others = [program for program in run.programs if process is None or program.pid != process.pid]
    fault.expect_end(others, LOCAL_TIMEOUT + UNMISSED_SECONDS, run.struck, "the run of a stopped last rank")
    if way == "hand" and process is not None:
        wake([process])
        fault.expect_end(run.programs, KILL_SECONDS + ASKING_SECONDS, what="the rank that was woken")
    over = not struck or run.had_finished
    # A rank by hand that has taken leave is out of it; the run's code is that of rank 0.
    run.expect_sane({0, 124} if over else {124}, finished={0})
    run.expect_status(("finished", "failed") if over else ("failed",), victim)
    run.expect_nothing_left()
    run.expect_nothing_lost()


def signalled_launcher(fault):
    number = fault.draw("signal", (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
    flags = draw_flags(fault)
    moment, delay = draw_moment(fault, ("start", *MOMENTS))
    run = Training(fault, flags)
    run.reach(moment, -1, delay)
    began = run.directory() is not None
    over, nearly = run.count(0, "finished") > 0, run.nearly_done()
    run.programs[0].send(number)
    fault.expect_end(run.programs, WIND_DOWN_SECONDS + KILL_SECONDS, time.monotonic())
    over = over or nearly and run.count(0, "finished") > 0 and not run.events(0, "failed")
    program = run.programs[0]
    fault.expect_sane(program, {0, 128 + number} if over else {128 + number}, errors=None)
    if began:
        record = run.expect_status(("interrupted", "finished") if over else ("interrupted",), -1)
        steps = run.count(0, "step")
        if record is not None and record["status"] == "interrupted" and steps > 2 and not run.events(0, "failed"):
            fault.expect(run.checkpoints(), "lost", f"{steps} steps were done and no checkpoint was written: {run.said()[-300:]}")
    run.expect_nothing_left()
    run.expect_nothing_lost()


def killed_launcher(fault):
    """Nothing stays; what the ranks wrote can be made into a record, and trained on from."""
    flags = draw_flags(fault)
    moment, delay = draw_moment(fault, ("joining", "loading", "first steps", "checkpoint", "validation", "end", "end"))
    run = Training(fault, flags)
    run.reach(moment, 0, delay)
    run.programs[0].send(signal.SIGKILL)
    run.programs[0].wait(5)
    run.expect_nothing_left(half_written=False)
    conclude(fault, run)
    run.expect_nothing_lost()


def conclude(fault, run):
    """A run without a record gets it from its ranks' files: finished where every rank had said so."""
    if run.directory() is None or run.record() is not None:
        return
    whole = all(run.count(rank, "finished") for rank in range(run.workers))
    files = [run.directory() / "spec.json", *run.directory().glob("rank*.jsonl")]
    fault.expect(poll(lambda: not any(map(is_held, files)), KILL_SECONDS, 0.02), "left", "somebody still works on the run")
    done = fault.run(["runs", "conclude", run.directory().name], codes={0})
    record = run.record()
    if done.code == 0 and fault.expect(record is not None, "lost", "runs conclude ended with 0 and wrote no record"):
        fault.expect((record["status"] == "finished") == whole, "lost", f"concluded as {record['status']}, and {'all' if whole else 'not all'} ranks had finished")
        listed = fault.run(["runs", "list"], codes={0})
        fault.expect(run.directory().name[:20] in listed.out, "lost", "the concluded run is not listed")
    fault.note("concluded")


def signalled_rank(fault):
    """SIGTERM or SIGINT to one rank that has joined is somebody's wish to interrupt the run."""
    number = fault.draw("signal", (signal.SIGTERM, signal.SIGINT))
    way = fault.draw("way", ("launcher", "launcher", "hand"))
    flags = draw_flags(fault, workers=(2, 3), backends=BACKENDS if way == "launcher" else ("shm", "gloo"))
    moment, delay = draw_moment(fault, ("loading", "loading", "first steps", "checkpoint", "validation"))
    victim = fault.number("victim", 0, fault.drawn["workers"] - 1)
    run = Training(fault, flags, way)
    run.reach(moment, victim, delay)
    joined = run.count(victim, "started") > 0 or moment not in ("joining", "loading")
    nearly = run.nearly_done()
    struck = run.signal_rank(victim, number)
    run.end(WIND_DOWN_SECONDS + KILL_SECONDS)
    over = not struck or run.had_finished or nearly and not run.events(0, "failed") and run.count(0, "finished") > 0
    # Before it has joined, a rank that a signal ends is one that died, or never came.
    run.expect_sane({128 + number} | ({0} if over else set()) | (set() if joined else {1, 124}))
    record = run.expect_status(("interrupted",) + (("finished",) if over else ()) + (() if joined else ("failed",)))
    if record is not None and record.get("failure"):
        named = record["failure"].get("rank")
        fault.expect(named == victim or named == -1 and not joined, "blame", f"the record names rank {named} for a signal to {victim}: {record['failure']}")
    told = [program.err for program in run.programs] if joined else [run.programs[0].err]
    others = [int(rank) for rank in re.findall(r"error: rank (\d+)", "\n".join(told)) if int(rank) != victim]
    fault.expect(not others, "blame", f"ranks {others} are named for a signal to {victim}: {run.said()[-400:]}")
    run.expect_nothing_left()
    run.expect_nothing_lost()


def pause_longer_than_checkpoint_time(fault):
    """Afterwards training goes on at its pace, checkpoints and all."""
    every = fault.number("checkpoint_milliseconds", 300, 700) / 1000
    # Begun with an interval and ended late in one: clocks that come apart are then far apart.
    pause = every * (fault.number("pause_intervals", 1, 3) + fault.share("pause_rest", 0.75, 0.9))
    backend = fault.draw("backend", ("shm", "gloo"))
    workers = fault.draw("workers", (2, 2, 3))
    victim = fault.number("victim", 0, workers - 1)
    flags = ["--model", "lenet5", "--data", "digits", "--train-samples", "24000", "--val-samples", "24", "--global-batch", "24",
             "--validate-every", "0", "--epochs", "1000", "--max-time", f"{6.5 + pause:.1f}s", "--threads", "1", "--workers", str(workers),
             "--backend", backend, "--timeout", "60s", "--checkpoint-time", f"{every * 1000:.0f}ms"]
    run = Training(fault, flags, slowly=False)
    if not fault.await_that(lambda: run.count(0, "checkpoint") >= 2, 40, run.programs):
        fault.miss("no two checkpoints before the end")
    begin, steps = time.monotonic(), run.count(0, "step")
    time.sleep(1.2)
    before = (run.count(0, "step") - steps) / (time.monotonic() - begin)
    checkpoints = run.count(0, "checkpoint")
    fault.await_that(lambda: run.count(0, "checkpoint") > checkpoints, 3, run.programs)
    run.signal_rank(victim, signal.SIGSTOP)
    time.sleep(pause)
    run.signal_rank(victim, signal.SIGCONT)
    time.sleep(0.3)
    begin, steps, checkpoints = time.monotonic(), run.count(0, "step"), run.count(0, "checkpoint")
    time.sleep(1.2)
    after = (run.count(0, "step") - steps) / (time.monotonic() - begin)
    later, still = run.count(0, "checkpoint") - checkpoints, run.alive()
    fault.expect_end(run.programs, 30)
    run.expect_sane({0})
    fault.expect(after > before * LEAST_PACE, "pace", f"{before:.0f} steps a second before the pause and {after:.0f} after it")
    fault.expect(later > 0 or not still, "pace", f"no checkpoint was written in the second after the pause, one every {every:.1f} s was asked for")
    fault.note(f"{before:.0f} and {after:.0f} steps a second, {later} checkpoints afterwards")
    run.expect_nothing_left()


def stopped_inside_mpi_init(fault):
    flags = draw_flags(fault, workers=(2, 3), backends=("mpi",), strategies=("ddp",))
    victim = fault.number("victim", 0, fault.drawn["workers"] - 1)
    delay = fault.share("delay", 0.0, 0.08)
    require_mpirun()
    run = Training(fault, flags)
    # The rank has loaded Open MPI, and has not met its peers yet.
    inside = lambda: (process := run.worker(victim)) is not None and process.maps("libmpi.so")
    if fault.await_that(inside, 30, run.programs):
        time.sleep(delay)
    struck = run.signal_rank(victim, signal.SIGSTOP)
    fault.expect_end(run.programs, JOIN_TIMEOUT + STUCK_SECONDS, run.struck, "a run with a rank stopped inside MPI_Init")
    run.expect_sane({124} if struck else {0, 124})
    run.expect_status(("failed",) if struck else ("failed", "finished"), victim)
    if struck:
        fault.expect_blame(run.said(), victim)
    run.expect_nothing_left()


def stranger_at_open_mpis_port(fault):
    """Somebody connects to the ports of mpirun or its ranks while they open, says nothing and stays until the end."""
    flags = draw_flags(fault, workers=(2, 3), backends=("mpi",), strategies=("ddp",))
    most, again = fault.number("connections", 4, 24), fault.number("again", 1, 4)
    require_mpirun()
    run = Training(fault, flags)
    held, met, began = [], [], time.monotonic()
    while run.alive() and time.monotonic() - began < 3 and len(held) < most and not run.count(0, "step"):
        for address in sorted(address for address in listening(fault.room.processes()) if met.count(address) < again):
            met.append(address)
            try:
                held.append(socket.create_connection(("127.0.0.1" if ":" not in address[0] else "::1", address[1]), 0.2))
            except OSError:
                pass
    fault.note(f"{len(held)} connections to {sorted(set(met))}")
    # The time counts from when every rank is there.
    fault.expect_end(run.programs, JOIN_TIMEOUT + STUCK_SECONDS + 2, began, "a run whose mpirun met a stranger")
    for connection in held:
        connection.close()
    run.expect_sane({0, 124})
    run.expect_status(("finished", "failed"))
    run.expect_nothing_left()


def early_death_under_mpi(fault):
    """A rank dies before anybody has seen it: mpirun is silent, and the run must still notice in time."""
    flags = draw_flags(fault, workers=(2, 3, 4), backends=("mpi",), strategies=("ddp",))
    victim = fault.number("victim", 0, fault.drawn["workers"] - 1)
    delay = fault.draw("delay", (0.0, 0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2))
    require_mpirun()
    run = Training(fault, flags, more=["--join-timeout", "60s"])
    fault.await_that(lambda: any(process.name == "mpirun" for process in fault.room.processes()), 30, run.programs)
    mpirun = next((process for process in fault.room.processes() if process.name == "mpirun"), None)

    def child():
        """The victim at its first instant: mpirun's children are its ranks, in order."""
        if mpirun is None or not mpirun.children()[victim:]:
            return None
        pid = mpirun.children()[victim]
        return pid if read_bytes(f"/proc/{pid}/comm").startswith(b"lockstep-worker") else None

    fault.await_that(child, 30, run.programs, every=0.0005)
    time.sleep(delay)
    pid = child()
    run.struck = time.monotonic()
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    run.end(EARLY_MPI_SECONDS)
    run.expect_sane({1} if pid is not None else {0, 1})
    run.expect_status(("failed",) if pid is not None else ("failed", "finished"), victim)
    run.expect_nothing_left()
