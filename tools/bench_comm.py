#!/usr/bin/env python3
"""make bench-comm: all-reduce over the CPU backends, and what is promised of them.

Every size is one run in which all lanes take turns, sample by sample: shm in place and staged, gloo with each of its own
algorithms and with ours over its transport, Open MPI blocking and not. A ratio is the median of the ratios within the
rounds, with its 95 % interval; "at least r times" holds when the interval reaches r. Figures go to out/bench/comm.json.
Exits 5 when a promise is not kept here.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKSTEP = ROOT / "build/release/bin/lockstep"
OUT = ROOT / "out/bench/comm.json"
RUN_TIMEOUT_SECONDS = 600
THRESHOLD_MISSED = 5

SIZES = ("4K", "1M", "44.7M", "244M")
LARGE = SIZES[2:]
ALGORITHMS = {"gloo": ("auto", "native-ring", "native-bcube", "native-ring-chunked", "native-halving-doubling"),
              "mpi": ("blocking", "non-blocking")}

IN_PLACE = ("shm in place", lambda row: row["backend"] == "shm" and row["buffer"] == "owned")
STAGED = ("shm staged", lambda row: row["backend"] == "shm" and row["buffer"] == "private")
MPI = ("Open MPI's best", lambda row: row["backend"] == "mpi")
GLOO = ("gloo's best", lambda row: row["backend"] == "gloo" and row["algorithm"].startswith("native-"))
OURS_OVER_GLOO = ("our ring over gloo", lambda row: row["backend"] == "gloo" and row["algorithm"] == "auto")

# Who is how many times faster than whom, at which sizes; without a factor it is only said.
PROMISES = (
    (IN_PLACE, 8.0, GLOO, LARGE),
    (IN_PLACE, 3.0, MPI, LARGE),
    (STAGED, 1.3, MPI, LARGE),
    (IN_PLACE, 1.0, MPI, SIZES[:1]),
    (STAGED, 1.0, MPI, SIZES[:1]),
    (IN_PLACE, None, OURS_OVER_GLOO, LARGE),
    (OURS_OVER_GLOO, None, GLOO, SIZES),
)


def usable_backends():
    listed = subprocess.run([LOCKSTEP, "backends", "--json"], capture_output=True, text=True, timeout=60, check=True)
    backends = {entry["name"]: entry for entry in json.loads(listed.stdout)["backends"]}
    usable = [name for name in ("shm", "gloo", "mpi") if backends[name]["available"]]
    for name in ("shm", "gloo", "mpi"):
        if name not in usable:
            print(f"{name} is absent: {backends[name]['detail']}")
    return usable


def bench(size, backends, workers):
    algorithms = [f"{backend}:{name}" for backend in backends for name in ALGORITHMS.get(backend, ())]
    command = [str(LOCKSTEP), "bench", "allreduce", "--backend", ",".join(backends), "--workers", str(workers), "-b", size,
               "-e", size, "--buffer", "both", "--progress", "none", "--json"]
    if algorithms:
        command += ["--algorithm", ",".join(algorithms)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          timeout=RUN_TIMEOUT_SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-comm: lockstep bench ended with {done.returncode}: {' '.join(command)}")
    return json.loads(done.stdout)


def best_row(document, lane):
    """The row of the lane with the lowest median; None when the run has none."""
    rows = [row for row in document["results"] if lane[1](row)]
    return min(rows, key=lambda row: row["seconds"]["median"]) if rows else None


def interval_of_median(samples):
    """The median and its distribution-free 95 % interval (the order statistics around the binomial's middle)."""
    ordered, count = sorted(samples), len(samples)
    below = max(0, int(count / 2 - 0.98 * count ** 0.5))
    return statistics.median(ordered), ordered[below], ordered[count - 1 - below]


def ratio(document, fast_lane, slow_lane):
    """How many times faster, round by round; None when a lane is missing."""
    fast, slow = best_row(document, fast_lane), best_row(document, slow_lane)
    if fast is None or slow is None:
        return None
    return interval_of_median([s / f for f, s in zip(fast["seconds"]["samples"], slow["seconds"]["samples"])])


def print_figures(runs):
    print(f"{'size':>8} {'backend':>8} {'buffer':>8} {'algorithm':>24} {'time (us)':>12} {'busbw (GB/s)':>13} {'of copy':>8}")
    for size, document in runs.items():
        for row in document["results"]:
            rate = row["busbw_bytes_per_second"]
            print(f"{size:>8} {row['backend']:>8} {row['buffer']:>8} {row['algorithm']:>24} "
                  f"{row['seconds']['median'] * 1e6:12.1f} {rate / 1e9:13.3f} "
                  f"{rate / document['memory_copy_bytes_per_second']:8.1%}")


def verdict_of(found, factor):
    if found is None:
        return "cannot be told here"
    if factor is None:
        return ""
    return f"promised {factor:g}: {'kept' if found[2] >= factor else 'MISSED'}"


def print_promises(runs):
    """Returns whether every promise that could be looked at was kept."""
    kept = True
    for fast, factor, slow, sizes in PROMISES:
        for size in sizes:
            found = ratio(runs[size], fast, slow)
            verdict = verdict_of(found, factor)
            kept = kept and "MISSED" not in verdict
            shown = "-" if found is None else f"{found[0]:.2f} [{found[1]:.2f}, {found[2]:.2f}]"
            print(f"{size:>8}  {fast[0]:<18} {shown:>22} times {slow[0]:<18} {verdict}")
    return kept


def main(arguments):
    workers = int(arguments[1]) if len(arguments) > 1 else 2
    backends = usable_backends()
    runs = {size: bench(size, backends, workers) for size in SIZES}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"schema": 1, "kind": "bench-comm", "workers": workers, "runs": runs}, indent=1))
    print_figures(runs)
    print()
    kept = print_promises(runs)
    print(f"\nfigures: {OUT.relative_to(ROOT)}")
    return 0 if kept else THRESHOLD_MISSED


if __name__ == "__main__":
    sys.exit(main(sys.argv))
