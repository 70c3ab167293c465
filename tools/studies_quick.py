#!/usr/bin/env python3
"""make studies-quick: runs the quick variant of every built-in study and prints a table with minutes and status.

Usage: tools/studies_quick.py [--program build/release/bin/lockstep] [--store DIR] [--set KEY=VALUE ...] [STUDY ...]
Exits 1 when a study failed or took longer than its three minutes.
"""

import argparse
import json
import subprocess
import sys
import time

LIMIT_MINUTES = 3.0
PATIENCE_SECONDS = 1800


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", help="default: every built-in study")
    parser.add_argument("--program", default="build/release/bin/lockstep")
    parser.add_argument("--store", default="out/studies")
    parser.add_argument("--set", action="append", default=[], dest="sets")
    return parser.parse_args(arguments)


def run_one(options, study):
    """(minutes, the study's own outcome or None, what it said)."""
    command = [options.program, "study", study, "--quick", "--fresh", "--json", "--store", options.store, "--progress", "none"]
    for setting in options.sets:
        command += ["--set", setting]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    minutes = (time.monotonic() - begin) / 60
    try:
        return minutes, done.returncode, json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        return minutes, done.returncode, None, done.stderr


def status_of(code, outcome, minutes):
    if outcome is None or code != 0:
        return "FAILED"
    return "ended well" if minutes <= LIMIT_MINUTES else "TOO SLOW"


def counts(outcome):
    """How many cells ended well, could not run here, failed."""
    if outcome is None:
        return "-"
    cells = outcome["cells"]
    absent = sum("cannot_run" in cell for cell in cells)
    failed = sum(cell["failed"] for cell in cells)
    text = f"{len(cells) - absent - failed}/{len(cells)}"
    return text + (f", {absent} not here" if absent else "") + (f", {failed} failed" if failed else "")


def main(arguments):
    options = parse(arguments)
    listed = json.loads(subprocess.run([options.program, "study", "--list", "--json"], capture_output=True, text=True,
                                       timeout=60, check=True).stdout)
    studies = options.studies or [study["name"] for study in listed]
    rows, bad = [], 0
    for study in studies:
        minutes, code, outcome, said = run_one(options, study)
        status = status_of(code, outcome, minutes)
        bad += status != "ended well"
        rows.append((study, f"{minutes:.2f}", counts(outcome), str(outcome["runs"]) if outcome else "-", status))
        print(f"{study}: {status} after {minutes:.2f} minutes", file=sys.stderr, flush=True)
        if outcome is None:
            print(said, file=sys.stderr)
    total = sum(float(row[1]) for row in rows)
    rows.append(("together", f"{total:.2f}", "", "", ""))
    heading = ("study", "minutes", "cells", "runs", "status")
    widths = [max(len(row[i]) for row in [heading, *rows]) for i in range(5)]
    for row in [heading, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
