"""make campaign: faults drawn from a seed, done to the real program, each judged by what docs/errors.md promises.

Usage: tools/campaign [--seed N] [--faults N] [--bin DIR] [--kinds NAME,...]   all of them; the same command goes on after an interruption
       tools/campaign --only SEED:INDEX                                       one of them again, with everything it said
docs/campaign.md explains kinds, rules and the file of outcomes.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from fault import Fault, NotPossible, Over, PlannedOnly
from kinds import KINDS
from room import ROOM_PREFIX, make_private_mounts, remove_rooms_of_the_dead

LATE_TRIES = 3  # a busy machine may be late once; not three times


def deck(seed, kinds, faults):
    """The kind of every fault: in each round every kind has its share, shuffled."""
    cards = [name for name in kinds for _ in range(KINDS[name].share)]
    order = []
    while len(order) < faults:
        shuffled = list(cards)
        random.Random(f"{seed}:deck:{len(order)}").shuffle(shuffled)
        order += shuffled
    return order[:faults]


def play(settings, index, kind):
    """One fault, once: what was drawn, what did not hold."""
    fault = Fault(settings, index, kind)
    began = time.monotonic()
    skipped = None
    try:
        KINDS[kind].play(fault)
    except (PlannedOnly, Over):
        pass
    except NotPossible as why:
        skipped = str(why)
    except Exception:  # of the campaign itself, which must go on and say so
        fault.complain("campaign", "its own error: " + traceback.format_exc()[-800:])
    finally:
        fault.close()
    return {"index": index, "kind": kind, "drawn": fault.drawn, "complaints": fault.complaints, "notes": fault.notes, "missed": fault.missed, "excused": fault.excused,
            "skipped": skipped, "seconds": round(time.monotonic() - began, 2), "load": round(os.getloadavg()[0], 1)}


def judged(settings, index, kind):
    """Only lateness is tried again, and openly: it counts where it comes every time."""
    outcome = play(settings, index, kind)
    late = [outcome["complaints"]] if outcome["complaints"] else []
    while late and all(complaint["rule"] == "late" for complaint in outcome["complaints"]) and len(late) < settings.tries:
        again = play(settings, index, kind)
        if not again["complaints"]:
            again["late_before"] = [complaint["text"] for complaints in late for complaint in complaints]
            return {**again, "verdict": "held"}
        late.append(again["complaints"])
        outcome = again
    verdict = "skipped" if outcome["skipped"] else "failed" if outcome["complaints"] else "held"
    return {**outcome, "verdict": verdict}


class Journal:
    """Outcomes as JSON lines, each on the disk before the next fault begins."""

    def __init__(self, path, head, fresh):
        self.path = path
        self.outcomes = {}
        lines = [] if fresh or not path.exists() else path.read_text(encoding="utf-8").splitlines()
        if lines and json.loads(lines[0]) != head:
            raise SystemExit(f"error: {path} is of another campaign, seed or build: {lines[0]}. Next step: --fresh, or another --out")
        for line in lines[1:]:
            try:
                outcome = json.loads(line)
            except ValueError:
                continue  # cut short by whatever ended the campaign; that fault is done again
            self.outcomes[outcome["index"]] = outcome
        path.parent.mkdir(parents=True, exist_ok=True)
        self.stream = open(path, "w", encoding="utf-8")
        for entry in [head, *self.outcomes.values()]:
            self._write(entry)

    def _write(self, entry):
        self.stream.write(json.dumps(entry, default=str) + "\n")
        self.stream.flush()
        os.fsync(self.stream.fileno())

    def add(self, outcome):
        self.outcomes[outcome["index"]] = outcome
        self._write(outcome)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()


def repeat_command(settings, index):
    words = ["tools/campaign", *(["--bin", settings.bin] if settings.bin else []), "--only", f"{settings.seed}:{index}"]
    if settings.kinds != ",".join(KINDS):
        words += ["--kinds", f"'{settings.kinds}'"]
    return "python3 " + " ".join(words)


def table(settings, outcomes):
    """By kind: tried, held, failed; below it every failure with what repeats it."""
    kinds = [kind for kind in KINDS if any(outcome["kind"] == kind for outcome in outcomes)]
    lines = [f"{'kind':32} {'tried':>6} {'held':>6} {'failed':>7} {'seconds':>8}"]
    for kind in kinds:
        mine = [outcome for outcome in outcomes if outcome["kind"] == kind]
        skipped = [outcome for outcome in mine if outcome["verdict"] == "skipped"]
        tried, held = len(mine) - len(skipped), sum(outcome["verdict"] == "held" for outcome in mine)
        missed = sum(outcome.get("missed", False) for outcome in mine)
        lines.append(f"{kind:32} {tried:6} {held:6} {tried - held:7} {sum(outcome['seconds'] for outcome in mine):8.0f}"
                     + (f"  {len(skipped)} not tried: {skipped[0]['skipped']}" if skipped else "") + (f"  {missed} came too late to harm" if missed else ""))
    tried = [outcome for outcome in outcomes if outcome["verdict"] != "skipped"]
    held = [outcome for outcome in tried if outcome["verdict"] == "held"]
    lines.append(f"{'all':32} {len(tried):6} {len(held):6} {len(tried) - len(held):7} {sum(outcome['seconds'] for outcome in outcomes):8.0f}")
    late = [outcome for outcome in held if outcome.get("late_before")]
    if late:
        lines.append(f"\n{len(late)} of those that held were late at first and in time when tried again (load up to "
                     f"{max(outcome['load'] for outcome in late)}): " + ", ".join(f"{outcome['index']} ({outcome['late_before'][0]})" for outcome in late))
    excused = [outcome for outcome in held if outcome.get("excused")]
    if excused:
        lines.append(f"\n{len(excused)} of those that held were in time only because of the load, which hides delays of seconds; again on a quiet machine: "
                     + ", ".join(f"{outcome['index']} ({outcome['kind']}: {outcome['excused'][0]})" for outcome in excused))
    for outcome in tried:
        if outcome["verdict"] == "failed":
            lines.append("\n" + described(settings, outcome))
    return "\n".join(lines)


def described(settings, outcome):
    draws = ", ".join(f"{name} {value}" for name, value in outcome["drawn"].items())
    said = "\n".join(f"  {complaint['rule']}: {complaint['text']}" for complaint in outcome["complaints"])
    return f"{outcome['kind']} ({draws})\n{said}\n  again: {repeat_command(settings, outcome['index'])}"


class Materials:
    """Whole runs, weights and data that several faults start from, each made once."""

    def __init__(self):
        self.place = None

    def __call__(self, name, make):
        self.place = self.place or Path(tempfile.mkdtemp(prefix=f"{ROOM_PREFIX}{os.getpid()}-material-"))
        folder, draft = self.place / name, self.place / f"{name}.draft"
        if not folder.exists():
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            make(draft)
            draft.rename(folder)
        return folder

    def remove(self):
        if self.place:
            shutil.rmtree(self.place, ignore_errors=True)


def find_program(given):
    for place in [given] if given else ["build/dev/bin", "build/release/bin"]:
        program = Path(place) / "lockstep"
        if program.exists():
            return program.resolve()
    raise SystemExit("error: there is no lockstep in " + (given or "build/dev/bin or build/release/bin") + ". Next step: `make build`, or --bin DIR")


def binaries_of(program):
    return sorted([*program.parent.glob("lockstep*"), *program.parent.parent.glob("lib/lockstep/*.so")])


def digest_of(files):
    """Of the programs and plugins together: outcomes of another build do not count for this one."""
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()[:16]


def read_options(arguments):
    kinds = "\n".join(f"  {name:24} {kind.holds}" for name, kind in KINDS.items())
    parser = argparse.ArgumentParser(prog="tools/campaign", description=__doc__.splitlines()[0], epilog="kinds of fault, and what must hold:\n" + kinds,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=300, metavar="N")
    parser.add_argument("--bin", default="", help="directory of the built programs (default: build/dev/bin, else build/release/bin)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="names, or parts of names, with commas between them")
    parser.add_argument("--out", default="", help="file of outcomes (default: out/campaign-SEED.jsonl)")
    parser.add_argument("--fresh", action="store_true", help="begin anew where that file has outcomes")
    parser.add_argument("--resume", action="store_true", help="go on with that file, which is what happens anyway; an error where it is not there")
    parser.add_argument("--only", default="", metavar="SEED:INDEX", help="one fault again, and everything it said")
    parser.add_argument("--list", action="store_true", help="only say what would be drawn")
    parser.add_argument("--allowance", type=float, default=1.0, metavar="SECONDS", help="what a machine may take beyond a promised time (default 1)")
    parser.add_argument("--keep", default="", metavar="DIR", help="copies of the damaged files that did harm")
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first fault that did not hold")
    settings = parser.parse_args(arguments)
    wanted = [kind for kind in KINDS if any(part.strip() in kind for part in settings.kinds.split(","))]
    if not wanted:
        parser.error(f"no kind matches '{settings.kinds}'; there are: {', '.join(KINDS)}")
    settings.wanted = wanted
    settings.only_index = None
    if settings.only:
        seed, _, index = settings.only.partition(":")
        settings.seed, settings.only_index = int(seed), int(index)
        settings.faults = max(settings.faults, settings.only_index + 1)
    settings.plan_only, settings.tries, settings.references, settings.material = settings.list, LATE_TRIES, {}, Materials()
    settings.binaries = lambda: binaries_of(Path(settings.program))
    return settings


def prepare(settings):
    settings.program = str(find_program(settings.bin)) if not settings.plan_only else "lockstep"
    why = None if settings.plan_only else make_private_mounts()
    settings.private_shm = why is None
    remove_rooms_of_the_dead()
    if why:
        print(f"no mounts of our own ({why}): faults of full disks and hosts are not tried, and /dev/shm is not looked at")


def run_only(settings, order):
    outcome = judged(settings, settings.only_index, order[settings.only_index])
    print(json.dumps(outcome, indent=2, default=str))
    return 1 if outcome["verdict"] == "failed" else 0


def run_all(settings, order):
    head = {"campaign": 1, "seed": settings.seed, "kinds": settings.wanted, "build": digest_of(settings.binaries())}
    path = Path(settings.out or f"out/campaign-{settings.seed}.jsonl")
    if settings.resume and not path.exists():
        raise SystemExit(f"error: there is no {path} to go on with")
    with Journal(path, head, settings.fresh) as journal:
        known = sum(index < settings.faults for index in journal.outcomes)
        print(f"{settings.faults} faults of seed {settings.seed} against {settings.program}, outcomes in {path}" + (f"; {known} are done" if known else ""), flush=True)
        for index, kind in enumerate(order):
            if index in journal.outcomes:
                continue
            outcome = judged(settings, index, kind)
            journal.add(outcome)
            if outcome["verdict"] == "failed":
                print("\n" + described(settings, outcome), flush=True)
                if settings.fail_fast:
                    break
            elif index % 20 == 19:
                print(f"{index + 1} of {settings.faults}", flush=True)
    outcomes = [journal.outcomes[index] for index in sorted(journal.outcomes) if index < settings.faults]
    print("\n" + table(settings, outcomes))
    return 1 if any(outcome["verdict"] == "failed" for outcome in outcomes) else 0


def main(arguments):
    settings = read_options(arguments)
    order = deck(settings.seed, settings.wanted, settings.faults)
    prepare(settings)
    if settings.list:
        for index, kind in enumerate(order):
            print(f"{settings.seed}:{index} {kind} {play(settings, index, kind)['drawn']}")
        return 0
    try:
        return run_only(settings, order) if settings.only_index is not None else run_all(settings, order)
    finally:
        settings.material.remove()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
