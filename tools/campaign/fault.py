"""One fault: what is drawn for it, and the rules by which its outcome is judged."""

import os
import random
import re
import signal
import time

from room import Program, Room, poll

# How an outcome can fail. Only `late` may be the machine's doing, so only that is tried again before it counts.
RULES = {
    "hang": "it did not end, long after the promised time",
    "late": "it ended, but not in the promised time",
    "crash": "a signal, a raw exception or a stack trace ended it",
    "code": "the exit code is not the one docs/errors.md promises",
    "words": "the error is missing, said twice, or does not name the cause",
    "blame": "another rank was named, or none",
    "left": "processes, ports, shared memory or files were left behind",
    "lost": "a record, a checkpoint or the result is gone or wrong",
    "pace": "training did not go on at its pace",
    "memory": "a small file took far more memory than it can hold",
    "exposed": "something is open to others that should not be",
    "campaign": "the campaign itself failed, which says nothing about the program",
}
EXIT_CODES = {0, 1, 2, 3, 4, 5, 6, 124} | {128 + number for number in (1, 2, 13, 15)}
# What no program of ours may ever say: raw exceptions, stack traces, the words of crashes.
CRASHES = re.compile(r"terminate called|what\(\):|Segmentation fault|core dumped|\[json\.exception|basic_string|std::|"
                     r"Traceback \(most recent|Assertion .* failed|stack smashing|AddressSanitizer|runtime error:|"
                     r"frame #\d+:|nlohmann|c10::Error|\bvector::_M|bad_alloc")
# A program that is not over so long after its time is called hanging.
HARD_SECONDS = 15.0


class NotPossible(Exception):
    """This machine cannot have this fault; the reason is said in the table."""


class PlannedOnly(Exception):
    """All draws are made, and only they were asked for."""


class Over(Exception):
    """The outcome is known, and nothing more can be learned from it."""


class Complaint(dict):
    def __init__(self, rule, text):
        assert rule in RULES, rule
        super().__init__(rule=rule, text=text)


def verdict_of_time(seconds, promise, allowance):
    """`hang`, `late` or None for something that took so long; None seconds: it never ended."""
    if seconds is None or seconds > promise + HARD_SECONDS:
        return "hang"
    return "late" if seconds > promise + allowance else None


def crowding(load):
    """How many times slower than alone a machine of that load may be; what is beyond 4 no longer counts as an excuse."""
    return min(4.0, max(1.0, load / len(os.sched_getaffinity(0))))


def verdict_of_words(text):
    """What in the output shows a crash."""
    found = CRASHES.search(text)
    return text[max(0, found.start() - 60) : found.end() + 120].strip() if found else None


class Fault:
    """Draws come from the seed and the index alone; a kind makes all of them before it starts anything."""

    def __init__(self, settings, index, kind):
        self.settings = settings
        self.index = index
        self.kind = kind
        self.random = random.Random(f"{settings.seed}:{index}:{kind}")
        self.drawn = {}
        self.complaints = []
        self.notes = []
        self.missed = False
        self.excused = []  # late, and perhaps not beyond what the load excuses
        self._room = None

    # Draws

    def draw(self, name, choices):
        self.drawn[name] = self.random.choice(list(choices))
        return self.drawn[name]

    def number(self, name, low, high):
        """A whole number from low to high, both included."""
        self.drawn[name] = self.random.randint(low, high)
        return self.drawn[name]

    def share(self, name, low, high):
        self.drawn[name] = round(self.random.uniform(low, high), 3)
        return self.drawn[name]

    # The place

    def begin(self):
        """After the last draw of what is named; starting anything does so too."""
        if self.settings.plan_only:
            raise PlannedOnly
        if self._room is None:
            self._room = Room(self.settings.private_shm)
        return self._room

    @property
    def room(self):
        return self._room or self.begin()

    def close(self):
        if self._room is not None:
            self._room.close()
            self._room = None

    def start(self, arguments, **options):
        """The real program."""
        return Program(self.room, [self.settings.program, *arguments], **options)

    def run(self, arguments, promise=20, codes=None, **options):
        """Starts it and waits; complains of a hang, a crash, and an exit code that is not among `codes`."""
        program = self.start(arguments, **options)
        self.expect_end([program], promise)
        self.expect_sane(program, codes)
        return program

    # The rules

    def complain(self, rule, text):
        self.complaints.append(Complaint(rule, text if len(text) < 900 else text[:450] + " [...] " + text[-450:]))

    def note(self, text):
        self.notes.append(text)

    def miss(self, text):
        """It came too late to do any harm; a kind that only ever misses shows nothing, and the table says so."""
        self.missed = True
        self.note(text)

    def expect(self, holds, rule, text):
        if not holds:
            self.complain(rule, text)
        return holds

    def expect_end(self, programs, promise, since=None, what="the run"):
        """All end within `promise` seconds of `since` (a monotonic time; now, where it is not given)."""
        since = time.monotonic() if since is None else since
        end = since + promise + HARD_SECONDS
        took = None
        if all(program.wait(end - time.monotonic()) for program in programs):
            took = time.monotonic() - since
            if took > promise + self.settings.allowance:
                self.excused.append(f"{what} ended after {took:.1f} s; {promise:g} s are promised")
        verdict = verdict_of_time(took, promise, self.settings.allowance * crowding(os.getloadavg()[0]))
        if verdict == "hang":
            self.complain("hang", f"{what} was still there {promise + HARD_SECONDS:.0f} s later; {promise:g} s are promised: " + said(programs))
        elif verdict == "late":
            self.complain("late", f"{what} ended after {took:.1f} s; {promise:g} s are promised")
        if verdict == "hang":
            for program in programs:
                program.kill()
            raise Over

    def expect_sane(self, program, codes=None, errors=1):
        """No crash, a code of the table (one of `codes`, where given), and one error where it failed."""
        if program.signals and program.signals[-1] == signal.SIGKILL or program.code is None:
            return
        text = program.err + program.out
        crash = verdict_of_words(text)
        died = program.died_of()
        if crash or (died and died not in program.signals):
            word = f"by signal {died}" if died else "with a raw error"
            self.complain("crash", f"`{shell(program.command)}` ended {word}: {crash or text[-300:]}")
        codes = EXIT_CODES if codes is None else codes
        if program.code not in codes and not crash:
            self.complain("code", f"`{shell(program.command)}` ended with {program.code}, expected {sorted(codes)}: {program.err[-500:]}")
        count = len(re.findall(r"^error: ", program.err, re.MULTILINE))
        if program.code in (1, 2, 3, 4, 124) and errors is not None and count != errors:
            self.complain("words", f"`{shell(program.command)}` ended with {program.code} and said {count} errors: {program.err[-500:]}")

    def expect_blame(self, text, victim):
        """Every error names this rank; one that begins with another's name may tell what that rank saw of it."""
        errors = [line for line in text.splitlines() if "error: " in line or "because of another rank: " in line]
        wrong = [line for line in errors if not re.search(rf"\branks? ((\d+, )*\d+ and )?{victim}\b", line)]
        self.expect(errors and not wrong, "blame", f"rank {victim} is not named: {' | '.join(wrong)[:500] or text[-300:]}")

    def expect_nothing_left(self, half_written=True, patience=5):
        left = self.room.leftovers(patience)
        if half_written:
            left += self.room.half_written()
        self.expect(not left, "left", "left behind: " + ", ".join(left[:8]))

    def await_that(self, true, seconds, programs=(), every=0.004):
        """Waits for something to come true; not beyond the end of the programs."""
        poll(lambda: true() or (programs and not any(program.alive() for program in programs)), seconds, every)
        return true()


def shell(words):
    return " ".join(word if re.fullmatch(r"[\w./:=,@%+-]+", word) else repr(word) for word in words)


def said(programs):
    return " | ".join((program.err or program.out)[-250:].strip() for program in programs)[:700]
