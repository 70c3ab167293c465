#!/usr/bin/env python3
"""The second engine: trains the spec of a run through the PyTorch that this machine has.

    python3 engines/torch/lockstep_torch.py train --run DIR

reads DIR/spec.json and appends this rank's events to DIR/rankN.jsonl. The rank is what RANK, WORLD_SIZE and LOCAL_RANK say.
`lockstep train --engine torch` starts it. LOCKSTEP_TORCH_COUNT=0 leaves the counting communication hook out,
LOCKSTEP_TORCH_CHANNELS_LAST=0 or 1 spares the trial of both layouts.
"""

import argparse
import os
import signal
import sys
import threading
import time
import traceback

ENDING_SIGNALS = {signal.SIGTERM, signal.SIGINT}
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from torch_engine.environment import environment_number  # noqa: E402
from torch_engine.errors import ConfigError, DeviceError, EngineError, printable, understood  # noqa: E402
from torch_engine.events import EventWriter  # noqa: E402


def parse(arguments):
    parser = argparse.ArgumentParser(prog="lockstep_torch.py", description="Trains one rank through this machine's PyTorch.")
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train the spec of a run")
    train.add_argument("--run", required=True, metavar="DIR", help="the run's directory, with its spec.json")
    return parser.parse_args(arguments)


def end_now(code):
    """Ends without tidying up: taking a process group down while another rank is gone can wait for ever."""
    sys.stderr.flush()
    os._exit(code)


def tell_of_signals(events):
    """A thread waits for the signals that end a run, since the main thread may sit in a collective and not hear them."""
    def wait():
        received = signal.sigwaitinfo(ENDING_SIGNALS)
        number = received.si_signo
        # The launcher passes on what was sent to the whole run.
        rank = None if received.si_pid == os.getppid() else events.rank
        who = "" if rank is None else f"rank {rank} was "
        events.write("failed", kind="interrupted", signalled_rank=rank,
                     message=f"{who}stopped by signal {number} ({signal.Signals(number).name}).")
        print(f"error: engine torch: stopped by signal {number}.", file=sys.stderr)
        end_now(128 + number)
    threading.Thread(target=wait, daemon=True).start()


def import_torch():
    try:
        import torch
    except Exception as error:
        raise DeviceError(f"engine 'torch' is missing: {sys.executable} cannot import torch ({error}). Install it (apt install "
                          "python3-torch, or pip install torch), or name a Python that has it in LOCKSTEP_PYTHON.") from error
    return torch


def train(directory, rank, world, events):
    torch = import_torch()
    from torch_engine import rendezvous, run_spec
    from torch_engine.training import Training
    from torch_engine.worker import Worker, device_of
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    spec = run_spec.resolve(run_spec.read_spec(directory), gpus)
    processes = 1 if spec.strategy == "dp" else spec.workers
    if processes != world:
        raise ConfigError(f"the spec asks for {processes} processes, and WORLD_SIZE is {world}. Start as many as the spec says.")
    if spec.threads:
        torch.set_num_threads(spec.threads)
    device = device_of(spec, environment_number("LOCAL_RANK", str(rank)))
    events.begin(rendezvous.join(spec, directory, rank, world, gpus) if world > 1 else time.time())
    joined = time.monotonic()
    worker = Worker(spec, rank, world, device)
    if rank == 0:
        said = ", ".join(f"{name} {value}" for name, value in worker.settings.items())
        print(f"engine torch: PyTorch {torch.__version__}; {said}", file=sys.stderr, flush=True)
    Training(worker, events, joined).run()
    events.flush()
    rendezvous.leave(directory)


def run(directory):
    rank, world = environment_number("RANK", "0"), environment_number("WORLD_SIZE", "1")
    try:
        events = EventWriter(directory, rank)
    except OSError as error:
        raise ConfigError(f"the run's directory {directory} cannot be used: {error}.") from error
    tell_of_signals(events)
    try:
        train(directory, rank, world, events)
    except Exception as error:
        known = understood(error, rank)
        kind, message = (known.kind, str(known)) if known else ("failed", f"{type(error).__name__}: {error}")
        events.write("failed", kind=kind, message=message)
        if known:
            raise known from error
        raise
    finally:
        events.flush()


def main(arguments):
    options = parse(arguments)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)  # before libraries start threads: those inherit it
    try:
        run(options.run)
        return 0
    except EngineError as error:
        print(f"error: engine torch: {printable(error)}", file=sys.stderr)
        return error.exit_code
    except Exception as error:  # a fault of this script: one message, and where to look with LOCKSTEP_TORCH_TRACEBACK=1
        if os.environ.get("LOCKSTEP_TORCH_TRACEBACK") == "1":
            traceback.print_exc()
        print(f"error: engine torch: something unforeseen happened: {type(error).__name__}: {printable(error)}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    end_now(main(sys.argv[1:]))
