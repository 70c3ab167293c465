"""What this rank moved, by cause. PyTorch hides what its libraries send, so wire bytes come from the formulas of
lockstep/measure/collective.cc and every such row is marked estimated; payload bytes are counted."""

from collections import defaultdict


def wire_bytes(collective, payload, world, is_root):
    others = payload * (world - 1) // world
    return {"all_reduce": 2 * others, "reduce_scatter": others, "all_gather": others,
            "broadcast": payload if is_root and world > 1 else 0}[collective]


class Ledger:
    def __init__(self, rank, world, link, copies_input):
        self.rank, self.world, self.link = rank, world, link
        self.input_bytes = self.inputs = 0
        self.copies_input = copies_input
        self.payload, self.wire, self.busy = defaultdict(int), defaultdict(int), defaultdict(float)

    def add(self, purpose, collective, payload, times=1, busy=None):
        row = (purpose, collective)
        self.payload[row] += payload * times
        self.wire[row] += wire_bytes(collective, payload, self.world, self.rank == 0) * times
        if busy is not None:
            self.busy[row] += busy

    def add_input(self, payload):
        """A batch at the boundary from the loader to the device; on the CPU nothing is copied."""
        self.input_bytes += payload
        self.inputs += 1

    def rows(self):
        rows = [{"rank": self.rank, "purpose": "input", "collective": "send", "link": "pcie" if self.copies_input else "local",
                 "payload_bytes": self.input_bytes, "wire_bytes": self.input_bytes if self.copies_input else 0, "messages": self.inputs}]
        for (purpose, collective), payload in sorted(self.payload.items()):
            # A collective is counted once, not on every rank.
            rows.append({"rank": self.rank, "purpose": purpose, "collective": collective, "link": self.link,
                         "payload_bytes": payload if self.rank == 0 else None, "wire_bytes": self.wire[purpose, collective],
                         "busy_seconds": self.busy.get((purpose, collective)), "estimated": True})
        return rows
