"""Splits steps into spans. On the CPU the clock is read where one span ends and the next begins; on a GPU events are put on the
stream there, and read once the GPU has passed them, so that nothing waits inside a step."""

import time
from collections import deque

import torch

SPANS = ("data", "input", "forward", "backward", "exposed_comm", "optimizer")


class HostClock:
    def __init__(self):
        self.done = deque()
        self.spans = {}
        self.last = self.begin = time.perf_counter()

    def restart(self):
        """A step begins now and not where the last one ended: after validation, say."""
        self.last = self.begin = time.perf_counter()

    def lap(self, span):
        now = time.perf_counter()
        self.spans[span] = self.spans.get(span, 0.0) + now - self.last
        self.last = now

    def move(self, span, to, seconds):
        """Part of a span turned out to be another one."""
        self.spans[span] -= seconds
        self.spans[to] = self.spans.get(to, 0.0) + seconds

    def end_step(self, step):
        now = time.perf_counter()
        self.done.append((step, now - self.begin, self.spans))
        self.begin = self.last = now
        self.spans = {}

    def take(self, wait=False):
        while self.done:
            yield self.done.popleft()


class DeviceClock:
    def __init__(self):
        self.waiting = deque()
        self.restart()

    @staticmethod
    def mark():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def restart(self):
        self.marks = [(None, self.mark())]

    def lap(self, span):
        self.marks.append((span, self.mark()))

    def end_step(self, step):
        self.lap("other")
        self.waiting.append((step, self.marks))
        self.marks = [(None, self.marks[-1][1])]

    def take(self, wait=False):
        while self.waiting:
            step, marks = self.waiting[0]
            if wait:
                marks[-1][1].synchronize()
            elif not marks[-1][1].query():
                return
            self.waiting.popleft()
            spans = {}
            for (_, begin), (span, end) in zip(marks, marks[1:]):
                spans[span] = spans.get(span, 0.0) + begin.elapsed_time(end) / 1e3
            yield step, marks[0][1].elapsed_time(marks[-1][1]) / 1e3, spans


def split_of(seconds, spans):
    """split_seconds of an event: other is what the measured spans leave."""
    split = {span: spans[span] for span in SPANS if span in spans}
    split["other"] = max(0.0, seconds - sum(split.values()))
    return split
