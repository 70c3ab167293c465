"""Whether any rank wants to stop: each step adds up, over ranks, who does."""

import torch


class StopWishes:
    """On the CPU a step hears of its own sum. On a GPU it hears of the step before's: to read its own, the host would have to wait
    until the GPU has finished the step, in every step. All ranks read the same sums, so all of them stop after the same step."""

    def __init__(self, on_gpu):
        self.on_gpu = on_gpu
        self.before = None  # the last step's sum on its way to the host, and when it is there

    @staticmethod
    def mark():
        event = torch.cuda.Event()
        event.record()
        return event

    def heard(self, wishes):
        """`wishes`: this step's sum, where the host will find it once the GPU has come so far. To be called after every step."""
        if not self.on_gpu:
            return bool(wishes > 0)
        before, self.before = self.before, (wishes, self.mark())
        return self.is_stop(before)

    def last_heard(self):
        """Of the last step too, once nothing runs any more."""
        return self.is_stop(self.before)

    @staticmethod
    def is_stop(sent):
        if sent is None:
            return False
        wishes, arrived = sent
        arrived.synchronize()
        return bool(wishes > 0)
