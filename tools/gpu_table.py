#!/usr/bin/env python3
"""Prints short tables of what tools/gpu_check.sh benched: gpu_table.py bench.jsonl

Every line of the file is {"table": NAME, "bench": the document of `lockstep bench --json`}. A table has one row for
each backend, buffer and number of workers, and one column for each size, in milliseconds (median).
"""
import json
import sys


def size_text(size):
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.4g}{unit}"
    return str(size)


def milliseconds(result):
    wrong = result.get("wrong", 0)
    text = f"{result['seconds']['median'] * 1e3:.4g}"
    return f"{text} ({wrong} WRONG)" if wrong else text


def read_tables(path):
    """{table: {(workers, backend, buffer, link): {bytes: text}}}, in the order of the file."""
    tables = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            rows = tables.setdefault(entry["table"], {})
            for result in entry["bench"]["results"]:
                key = (result["workers"], result["backend"], result.get("buffer", ""), result.get("link", ""))
                rows.setdefault(key, {})[result["bytes"]] = milliseconds(result)
    return tables


def print_table(name, rows):
    sizes = sorted({size for row in rows.values() for size in row})
    head = ["workers", "backend", "buffer", "link"] + [size_text(size) for size in sizes]
    body = [[str(part) for part in key] + [rows[key].get(size, "-") for size in sizes] for key in sorted(rows)]
    widths = [max(len(line[i]) for line in [head] + body) for i in range(len(head))]
    print(f"\nall_reduce sum f32, milliseconds (median), {name}")
    for line in [head] + body:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def main():
    for name, rows in read_tables(sys.argv[1]).items():
        print_table(name, rows)


if __name__ == "__main__":
    main()
