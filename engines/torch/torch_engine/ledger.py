"""What this rank moved, by cause. PyTorch hides what its libraries send, so wire bytes come from the formulas of
lockstep/measure/collective.cc and every such row is marked estimated; payload bytes are counted."""

from collections import defaultdict


def wire_bytes(collective, payload, world, is_root):
    others = payload * (world - 1) // world
    return {"all_reduce": 2 * others, "reduce_scatter": others, "all_gather": others,
            "broadcast": payload if is_root and world > 1 else 0}[collective]


class Ledger:
    def __init__(self, rank, world, link):
        self.rank, self.world, self.link = rank, world, link
        self.input_bytes = 0
        self.payload, self.wire, self.busy = defaultdict(int), defaultdict(int), defaultdict(float)

    def add(self, purpose, collective, payload, times=1, busy=None):
        row = (purpose, collective)
        self.payload[row] += payload * times
        self.wire[row] += wire_bytes(collective, payload, self.world, self.rank == 0) * times
        if busy is not None:
            self.busy[row] += busy

    def rows(self):
        rows = [{"rank": self.rank, "purpose": "input", "collective": "send", "link": "local", "payload_bytes": self.input_bytes}]
        for (purpose, collective), payload in sorted(self.payload.items()):
            # A collective is counted once, not on every rank.
            rows.append({"rank": self.rank, "purpose": purpose, "collective": collective, "link": self.link,
                         "payload_bytes": payload if self.rank == 0 else None, "wire_bytes": self.wire[purpose, collective],
                         "busy_seconds": self.busy.get((purpose, collective)), "estimated": True})
        return rows
