"""Writes a rank's events, one JSON object a line (docs/record.md). Lines go out together, a few times a second."""

import fcntl
import json
import math
import os
import re
import threading
import time

from torch_engine.errors import RunError

FLUSH_SECONDS = 0.25
WORDS = {math.inf: "infinity", -math.inf: "-infinity"}


def bytes_to_text(path):
    """A path's text as Lockstep writes it into JSON: a byte that is no UTF-8 becomes the character U+EF00 + byte."""
    return re.sub("[\udc80-\udcff]|[\uef80-\uefff]",
                  lambda found: "".join(chr(0xEF00 + byte) for byte in os.fsencode(found.group())), path)


def text_to_bytes(text):
    """The other direction: the path as Python holds one."""
    return re.sub("[\uef80-\uefff]+", lambda found: os.fsdecode(bytes(ord(letter) & 0xFF for letter in found.group())), text)


def hold(stream):
    """Says, as long as this process lives, that somebody still writes there."""
    try:
        fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # a file system without locks
        pass


def plain(value):
    """The value as JSON can hold it; what is unknown (None) is left out."""
    if isinstance(value, str):
        return bytes_to_text(value)
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items() if member is not None}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    if isinstance(value, float) and not math.isfinite(value):
        return WORDS.get(value, "nan")
    return value


class EventWriter:
    def __init__(self, directory, rank):
        # Until the ranks have met: the spec is written once, before any rank starts.
        self.began = os.stat(os.path.join(directory, "spec.json")).st_mtime
        self.rank = rank
        self.stream = open(os.path.join(directory, f"rank{rank}.jsonl"), "a", encoding="utf-8")
        hold(self.stream)
        self.lines = []
        self.flushed = time.monotonic()
        self.lock = threading.RLock()  # a signal is told from a thread of its own

    def begin(self, at):
        """`at`: the moment, by the time of day, from which all ranks count."""
        self.began = at

    def now(self):
        return max(0.0, time.time() - self.began)

    def write(self, event, at=None, **fields):
        body = {"event": event, "rank": self.rank, "time": self.now() if at is None else at, **fields}
        with self.lock:
            self.lines.append(json.dumps(plain(body)))
            if event != "step" or time.monotonic() - self.flushed > FLUSH_SECONDS:
                self.flush()

    def flush(self):
        with self.lock:
            lines, self.lines = self.lines, []
            self.flushed = time.monotonic()
            try:
                self.stream.write("".join(line + "\n" for line in lines))
                self.stream.flush()
            except OSError as error:
                raise RunError(f"cannot write events to {self.stream.name}: {error.strerror}. Free some space, or choose another "
                               "--store.") from error
