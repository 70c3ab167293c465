"""The fault campaign: the same draws from the same seed, nothing twice after an interruption, and verdicts that are what they say."""

import contextlib
import importlib.util
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PLACE = Path(os.environ["LOCKSTEP_SOURCE_DIR"]) / "tools" / "campaign"
sys.path.insert(0, str(PLACE))
import fault  # noqa: E402
import room  # noqa: E402
from kinds import KINDS, Kind  # noqa: E402

spec = importlib.util.spec_from_file_location("campaign", PLACE / "__main__.py")
campaign = importlib.util.module_from_spec(spec)
spec.loader.exec_module(campaign)


def listed(*arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        campaign.main(["--list", *arguments])
    return text.getvalue()


class Draws(unittest.TestCase):
    def test_a_seed_always_gives_the_same_faults_and_another_seed_others(self):
        self.assertEqual(listed("--seed", "7", "--faults", "60"), listed("--seed", "7", "--faults", "60"))
        self.assertNotEqual(listed("--seed", "7", "--faults", "60"), listed("--seed", "8", "--faults", "60"))

    def test_more_faults_begin_with_the_same_ones(self):
        self.assertTrue(listed("--faults", "200").startswith(listed("--faults", "20")))

    def test_one_round_has_every_kind(self):
        text = listed("--faults", str(sum(kind.share for kind in KINDS.values())))
        for name in KINDS:
            self.assertIn(f" {name} {{", text)


class WithKinds(unittest.TestCase):
    """Kinds of our own, so that what is tested is the campaign and not the program."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = Path(self.folder.name) / "lockstep"
        self.program.write_text("#!/bin/sh\n")
        self.program.chmod(0o755)
        self.played = []
        self.kinds_before = dict(KINDS)
        self.addCleanup(lambda: (KINDS.clear(), KINDS.update(self.kinds_before)))

    def use(self, play):
        KINDS.clear()
        KINDS.update({"one": Kind(1, play, ""), "other": Kind(2, play, "")})

    def settings(self, out, *more):
        settings = campaign.read_options(["--bin", self.folder.name, "--faults", "12", "--out", f"{self.folder.name}/{out}", *more])
        settings.program, settings.private_shm = str(self.program), False
        return settings

    def run_all(self, settings):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            code = campaign.run_all(settings, campaign.deck(settings.seed, settings.wanted, settings.faults))
        return code, text.getvalue()

    def outcomes(self, out):
        lines = (Path(self.folder.name) / out).read_text().splitlines()
        return [(entry["index"], entry["kind"], entry["drawn"], entry["verdict"]) for entry in map(json.loads, lines[1:])]

    def draw_and_note(self, fault):
        fault.number("size", 0, 1000000)
        self.played.append(fault.index)


class Journal(WithKinds):
    def test_an_interrupted_campaign_goes_on_and_equals_an_undisturbed_one(self):
        self.use(self.draw_and_note)
        self.assertEqual(self.run_all(self.settings("whole"))[0], 0)
        self.played.clear()

        def until_the_fifth(fault):
            self.draw_and_note(fault)
            if len(self.played) == 5:
                raise KeyboardInterrupt

        self.use(until_the_fifth)
        with self.assertRaises(KeyboardInterrupt):
            self.run_all(self.settings("cut"))
        journal = Path(self.folder.name) / "cut"
        journal.write_text(journal.read_text() + '{"index": 4, "ki')  # as a power cut leaves it
        self.use(self.draw_and_note)
        self.assertEqual(self.run_all(self.settings("cut", "--resume"))[0], 0)
        self.assertEqual(self.outcomes("cut"), self.outcomes("whole"))
        self.assertEqual(self.played, [0, 1, 2, 3, 4, *range(4, 12)])

    def test_the_command_runs_from_its_folder_and_ends_with_0_where_all_held(self):
        self.program.write_text("#!/bin/sh\nexit 3\n")  # a program that refuses everything, without a word
        command = [sys.executable, str(PLACE), "--bin", self.folder.name, "--kinds", "mistyped", "--faults", "1", "--out", f"{self.folder.name}/out"]
        refused = subprocess.run(command, capture_output=True, text=True, timeout=100)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("said 0 errors", refused.stdout)
        self.program.write_text("#!/bin/sh\n")
        held = subprocess.run([*command, "--fresh"], capture_output=True, text=True, timeout=100)
        self.assertEqual(held.returncode, 0, held.stdout + held.stderr)

    def test_what_is_done_is_not_done_again(self):
        self.use(self.draw_and_note)
        self.run_all(self.settings("done"))
        self.run_all(self.settings("done"))
        self.assertEqual(len(self.played), 12)

    def test_outcomes_of_another_build_are_refused(self):
        self.use(self.draw_and_note)
        self.run_all(self.settings("done"))
        self.program.write_text("#!/bin/sh\n# another\n")
        with self.assertRaisesRegex(SystemExit, "another campaign, seed or build"):
            self.run_all(self.settings("done"))

    def test_a_failure_is_told_with_the_command_that_repeats_it_and_ends_with_1(self):
        self.use(lambda fault: fault.complain("blame", "rank 1 was named") if fault.index == 3 else None)
        code, text = self.run_all(self.settings("failed"))
        self.assertEqual(code, 1)
        self.assertIn(f"again: python3 tools/campaign --bin {self.folder.name} --only 1:3", text)
        self.assertRegex(text, r"all +12 +11 +1 ")

    def test_the_command_that_repeats_it_is_understood_also_without_a_directory_of_programs(self):
        settings = campaign.read_options(["--seed", "4"])
        words = shlex.split(campaign.repeat_command(settings, 17))
        again = campaign.read_options(words[words.index("tools/campaign") + 1 :])
        self.assertEqual((again.seed, again.only_index, again.bin), (4, 17, ""))

    def test_faults_that_came_too_late_are_counted(self):
        self.use(lambda fault: fault.miss("rank 1 had ended") if fault.index < 12 else None)
        code, text = self.run_all(self.settings("missed"))
        self.assertEqual(code, 0)
        self.assertRegex(text, r"one +4 +4 +0 +0  4 came too late to harm")

    def test_lateness_alone_is_tried_again_and_said_openly(self):
        def late_at_first(fault):
            self.played.append(fault.index)
            if fault.index == 2 and self.played.count(2) == 1:
                fault.complain("late", "it took 9 s")

        self.use(late_at_first)
        code, text = self.run_all(self.settings("late"))
        self.assertEqual((code, self.played.count(2)), (0, 2))
        self.assertRegex(text, r"1 of those that held were late at first .*2 \(it took 9 s\)")

    def test_what_only_the_load_excuses_is_listed(self):
        def slow(fault):
            if fault.index == 5:
                program = room.Program(fault.room, ["sleep", "1"])
                fault.expect_end([program], 0.1)

        self.use(slow)
        self.addCleanup(setattr, fault, "crowding", fault.crowding)
        fault.crowding = lambda load: 4.0
        code, text = self.run_all(self.settings("excused", "--allowance", "0.5"))
        self.assertEqual(code, 0)
        self.assertRegex(text, r"1 of those that held were in time only because of the load.* 5 \(\w+: the run ended after")

    def test_what_is_late_every_time_did_not_hold(self):
        self.use(lambda fault: fault.complain("late", "it took 9 s"))
        self.assertEqual(self.run_all(self.settings("late"))[0], 1)

    def test_a_kind_that_is_not_possible_here_is_listed_with_the_reason(self):
        def impossible(played):
            raise fault.NotPossible("no moon tonight")

        self.use(impossible)
        code, text = self.run_all(self.settings("none"))
        self.assertEqual(code, 0)
        self.assertRegex(text, r"one +0 +0 +0 +0  4 not tried: no moon tonight")


class Verdicts(WithKinds):
    def setUp(self):
        super().setUp()
        self.use(self.draw_and_note)
        self.fault = fault.Fault(self.settings("x"), 0, "one")
        self.addCleanup(self.fault.close)

    def rules(self):
        return [complaint["rule"] for complaint in self.fault.complaints]

    def start(self, script):
        return room.Program(self.fault.room, ["sh", "-c", script])

    def test_a_hang_is_a_hang_and_lateness_is_lateness(self):
        self.assertEqual(fault.verdict_of_time(None, 2, 1), "hang")
        self.assertEqual(fault.verdict_of_time(2 + fault.HARD_SECONDS + 0.1, 2, 1), "hang")
        self.assertEqual(fault.verdict_of_time(3.1, 2, 1), "late")
        self.assertIsNone(fault.verdict_of_time(2.9, 2, 1))
        self.assertEqual([fault.crowding(load * len(os.sched_getaffinity(0))) for load in (0, 1, 2.5, 50)], [1, 1, 2.5, 4])

    def test_a_program_that_does_not_end_hangs_and_is_ended(self):
        self.addCleanup(setattr, fault, "HARD_SECONDS", fault.HARD_SECONDS)
        fault.HARD_SECONDS = 0.2
        sleeper = self.start("sleep 60")
        with self.assertRaises(fault.Over):
            self.fault.expect_end([sleeper], 0.1)
        self.assertEqual(self.rules(), ["hang"])
        self.assertFalse(sleeper.alive())

    def test_a_raw_exception_and_a_signal_are_crashes(self):
        for script in ("echo 'terminate called after throwing' >&2; exit 1", "kill -SEGV $$"):
            program = self.start(script)
            program.wait(10)
            self.fault.expect_sane(program, {1}, errors=None)
        self.assertEqual([rule for rule in self.rules() if rule == "crash"], ["crash", "crash"])

    def test_codes_outside_the_table_and_two_errors_are_found(self):
        for script in ("exit 77", "echo 'error: a' >&2; echo 'error: b' >&2; exit 3"):
            program = self.start(script)
            program.wait(10)
            self.fault.expect_sane(program)
        self.assertEqual(self.rules(), ["code", "words"])

    def test_the_wrong_rank_is_blame_and_the_right_one_is_not(self):
        self.fault.expect_blame("error: rank 2 was killed by signal 9", 2)
        self.fault.expect_blame("error: ranks 1 and 2 of 3 did not arrive", 2)
        self.fault.expect_blame("error: rank 1 lost the run's server: rank 0 has ended", 0)
        self.assertEqual(self.rules(), [])
        self.fault.expect_blame("error: rank 1 was killed by signal 9", 2)
        self.fault.expect_blame("nothing at all", 2)
        self.assertEqual(self.rules(), ["blame", "blame"])

    def test_signals_that_the_campaign_was_told_to_ignore_reach_its_programs(self):
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN))
        program = self.start("exec sleep 60")
        program.wait(0.3)
        program.send(signal.SIGINT)
        self.assertTrue(program.wait(10))
        self.assertEqual(program.died_of(), signal.SIGINT)

    def test_processes_and_files_that_stay_are_left(self):
        self.start("touch $TMPDIR/forgotten; mkdir -p $LOCKSTEP_STORE/runs/.new-1; sleep 60").wait(0.5)
        self.fault.expect_nothing_left(patience=0.1)
        text = self.fault.complaints[0]["text"]
        for word in ("process s", "tmp/forgotten", ".new-1"):
            self.assertIn(word, text)

    def test_ports_at_which_a_program_listens_are_seen(self):
        script = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); time.sleep(60)"
        program = room.Program(self.fault.room, [sys.executable, "-c", script])
        self.assertTrue(room.poll(lambda: program.out.strip(), 20))
        self.assertEqual(room.listening(self.fault.room.processes()), {("127.0.0.1", int(program.out))})

    def test_the_room_ends_with_everything_in_it(self):
        program = self.start("sleep 60 & wait")
        program.wait(0.3)
        place = self.fault.room.path
        self.fault.close()
        self.assertEqual((program.died_of(), place.exists()), (signal.SIGKILL, False))


if __name__ == "__main__":
    unittest.main()
