#!/usr/bin/env python3
"""make bench-comm: all-reduce over the CPU backends, interleaved within each run, and the promises about them.

For each size there is one run for each of gloo's algorithms, and shm and Open MPI take turns with gloo in all of them. A ratio
is taken within one run, never between runs, and the worst over the runs counts; so gloo appears with its best algorithm.
Figures go to out/bench/comm.json. Exits 5 when a promise is not kept here.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKSTEP = ROOT / "build/release/bin/lockstep"
OUT = ROOT / "out/bench/comm.json"
RUN_TIMEOUT_SECONDS = 600
THRESHOLD_MISSED = 5

SIZES = ("4K", "44.7M", "244M")
LARGE = SIZES[1:]
GLOO_ALGORITHMS = ("auto", "ring", "native-ring", "native-bcube", "native-ring-chunked", "native-halving-doubling")

# Who must be how many times faster than whom, at which sizes. A lane is a backend and, unless the better counts, a buffer.
PROMISES = (
    (("shm", "owned"), 8.0, ("gloo", None), LARGE),
    (("shm", "owned"), 3.0, ("mpi", None), LARGE),
    (("shm", "private"), 1.3, ("mpi", None), LARGE),
    (("shm", None), 1.0, ("mpi", None), SIZES[:1]),
)


def bench(size, backends, workers, gloo_algorithm):
    command = [LOCKSTEP, "bench", "allreduce", "--backend", ",".join(backends), "--workers", workers, "-b", size, "-e", size,
               "--buffer", "both", "--progress", "none", "--json"]
    if "gloo" in backends:
        command += ["--algorithm", f"gloo:{gloo_algorithm}"]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          timeout=RUN_TIMEOUT_SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-comm: lockstep bench ended with {done.returncode}: {' '.join(str(word) for word in command)}")
    return json.loads(done.stdout)


def usable_backends():
    listed = subprocess.run([LOCKSTEP, "backends", "--json"], capture_output=True, text=True, timeout=60, check=True)
    backends = {entry["name"]: entry for entry in json.loads(listed.stdout)["backends"]}
    usable = [name for name in ("shm", "gloo", "mpi") if backends[name]["available"]]
    for name in ("shm", "gloo", "mpi"):
        if name not in usable:
            print(f"{name} is absent: {backends[name]['detail']}")
    return usable


def run_all(workers):
    """size -> the documents of its runs, one for each algorithm of gloo."""
    backends = usable_backends()
    algorithms = GLOO_ALGORITHMS if "gloo" in backends else ("auto",)
    return {size: [bench(size, backends, workers, algorithm) for algorithm in algorithms] for size in SIZES}


def seconds_of(document, lane):
    """The lane's median; the better of its buffers when none is named; None when it is not in the run."""
    backend, buffer = lane
    found = [row["seconds"]["median"] for row in document["results"]
             if row["backend"] == backend and buffer in (None, row["buffer"])]
    return min(found) if found else None


def ratio(documents, lane, other):
    """The least, over the runs of one size, of how many times faster `lane` is than `other`."""
    pairs = [(seconds_of(document, lane), seconds_of(document, other)) for document in documents]
    ratios = [slow / fast for fast, slow in pairs if fast and slow]
    return min(ratios) if ratios else None


def print_figures(runs):
    print(f"{'size':>8} {'backend':>8} {'buffer':>8} {'algorithm':>24} {'time (us)':>12} {'busbw (GB/s)':>13} {'of copy':>8}")
    for size, documents in runs.items():
        for index, document in enumerate(documents):
            for row in document["results"]:
                if index > 0 and row["backend"] != "gloo":
                    continue  # they take part in every run; the first stands for them here, the JSON has all
                rate = row["busbw_bytes_per_second"]
                print(f"{size:>8} {row['backend']:>8} {row['buffer']:>8} {row['algorithm']:>24} "
                      f"{row['seconds']['median'] * 1e6:12.1f} {rate / 1e9:13.3f} "
                      f"{rate / document['memory_copy_bytes_per_second']:8.1%}")


def lane_name(lane):
    return " ".join(part for part in (lane[0], lane[1] or "(better buffer)") if part)


def print_promises(runs):
    """Returns whether every promise that could be looked at was kept."""
    kept = True
    for lane, factor, other, sizes in PROMISES:
        for size in sizes:
            found = ratio(runs[size], lane, other)
            verdict = "cannot be told here" if found is None else "kept" if found >= factor else "MISSED"
            kept = kept and verdict != "MISSED"
            shown = "-" if found is None else f"{found:.2f}"
            print(f"{size:>8}  {lane_name(lane):<22} {shown:>7} times {lane_name(other):<22} (promised {factor:g})  {verdict}")
    return kept


def main(arguments):
    workers = int(arguments[1]) if len(arguments) > 1 else 2
    runs = run_all(workers)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"schema": 1, "kind": "bench-comm", "workers": workers, "runs": runs}, indent=1))
    print_figures(runs)
    print()
    kept = print_promises(runs)
    print(f"\nfigures: {OUT.relative_to(ROOT)}")
    return 0 if kept else THRESHOLD_MISSED


if __name__ == "__main__":
    sys.exit(main(sys.argv))
