"""What can go wrong, with the exit codes of docs/errors.md. Each becomes one message, one event and one exit code."""


class EngineError(Exception):
    exit_code = 1
    kind = "failed"  # of the failed event, in the words of our own engine


class RunError(EngineError):
    exit_code = 1


class UsageError(EngineError):
    exit_code = 2


class ConfigError(EngineError):
    exit_code = 3
    kind = "configuration"


class DataError(EngineError):
    exit_code = 3
    kind = "data"


class DeviceError(EngineError):
    """A backend, a device or a library that is missing."""
    exit_code = 4
    kind = "device"


class OutOfMemory(EngineError):
    kind = "out_of_memory"


class Collateral(EngineError):
    """This rank ends only because another one failed."""
    kind = "collateral"


class TimedOut(EngineError):
    exit_code = 124
    kind = "communication"


LOST_PEER = ("Connection closed by peer", "Connection reset by peer", "Broken pipe", "remote process exited",
             "Connection refused", "NCCL communicator was aborted")
WAITED_TOO_LONG = ("Timed out", "timed out", "Timeout", "timeout", "ran for")


def printable(text):
    """Any text made fit for a terminal, as lockstep/base/printable.h does it."""
    return "".join(letter if letter in "\n\t" or letter.isprintable() else f"\\x{ord(letter) & 0xFF:02x}" for letter in str(text))


def understood(error, rank):
    """The EngineError that says what torch's own error means; None when it is not one of the expected ones."""
    if isinstance(error, EngineError):
        return error
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text:
        return OutOfMemory(f"rank {rank} is out of memory: {text}. Lower batch_size, or accumulate.")
    if not isinstance(error, RuntimeError):
        return None
    if any(words in text for words in LOST_PEER):
        return Collateral(f"rank {rank} lost the connection to another rank, which ended first: {text}.")
    if any(words in text for words in WAITED_TOO_LONG):
        return TimedOut(f"rank {rank} waited too long for another rank: {text}. Look into the other ranks' logs, or raise "
                        "timeout.")
    return None
