"""What the launcher says in environment variables; the names are torchrun's."""

import os

from torch_engine.errors import UsageError


def environment_number(name, default=None):
    text = os.environ.get(name, default)
    try:
        return int(text)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is '{text}': it must be a whole number. Start ranks with lockstep train --engine torch.") from None
