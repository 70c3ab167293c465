"""Faults between hosts and at ports: strangers, a false server, open ports, two hosts made of network namespaces, a Slurm of one machine."""

import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from fault import NotPossible
from room import ROOM_PREFIX, Program, children_die_with_us, free_port, listening, poll, read_bytes
from training import SLOWLY, Training, draw_flags, expect_equal, facts_of, reference_of

MOST_CONNECTIONS = 60
GREETINGS = {
    "nothing": b"", "garbage": bytes(range(256)) * 4, "half a handshake": b"LKS\x02" + bytes(7), "an older version": b"LKS\x01" + bytes(16),
    "a wrong handshake": b"LKS\x02" + bytes(32) + bytes(32) + struct.pack("<HIII", 16, 1, 2, 4) + b"host",
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "a long frame": b"LKS\x01" + b"\xff" * 4096, "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
}


class Strangers(threading.Thread):
    """Connect to whatever a room listens at on loopback, say something, and stay or hang up. Bounded in number and time."""

    def __init__(self, room, greeting, stay, again, seconds):
        super().__init__(daemon=True)
        self.room, self.greeting, self.stay, self.again, self.end = room, GREETINGS[greeting], stay, again, time.monotonic() + seconds
        self.over = threading.Event()
        self.held, self.met = [], {}

    def run(self):
        while not self.over.is_set() and time.monotonic() < self.end and sum(self.met.values()) < MOST_CONNECTIONS:
            for address in listening(self.room.processes()):
                if self.met.get(address, 0) < self.again and sum(self.met.values()) < MOST_CONNECTIONS:
                    self.met[address] = self.met.get(address, 0) + 1
                    self.connect(address)
            time.sleep(0.002)

    def connect(self, address):
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address[0], address[0])
        try:
            connection = socket.create_connection((host, address[1]), 0.3)
            connection.settimeout(0.3)
            connection.sendall(self.greeting)
        except OSError:
            return
        if self.stay:
            self.held.append(connection)
        else:
            connection.close()

    def leave(self):
        self.over.set()
        self.join(5)
        for connection in self.held:
            connection.close()


def strangers_at_the_ports(fault):
    """The run opens and trains as if they were not there."""
    flags = draw_flags(fault, workers=(2, 2, 3), backends=("gloo", "gloo", "shm"), strategies=("ddp", "zero1", "horovod"))
    way = fault.draw("way", ("launcher", "hand"))
    greeting, stay = fault.draw("greeting", list(GREETINGS)), fault.draw("stay", (True, True, False))
    again = fault.number("again", 1, 4)
    fault.begin()
    # Nobody stops a rank here: time-outs are for a machine that is busy.
    run = Training(fault, [*flags, "--timeout", "60s"], way, more=["--join-timeout", "30s"])
    strangers = Strangers(fault.room, greeting, stay, again, 6)
    strangers.start()
    try:
        fault.expect_end(run.programs, 25, what="a run that strangers came to")
    finally:
        strangers.leave()
    fault.note(f"{sum(strangers.met.values())} connections to {len(strangers.met)} ports")
    run.expect_sane({0})
    run.expect_status(("finished",))
    run.expect_nothing_left()
    if run.record():
        expect_equal(fault, facts_of(run.record(), run.weights), reference_of(fault, flags), "the run")


def false_server(fault):
    """A stranger listens where rank 0 should be: what ranks send there must not be of use to it."""
    flags = draw_flags(fault, workers=(2, 3), backends=("shm", "gloo"), strategies=("ddp",))
    key = "%032x" % fault.random.getrandbits(128)
    fault.drawn["key"] = key
    fault.begin()
    said = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(6)
        run = fault.start(["train", *flags, "--progress", "none", "--join-timeout", "3s"],
                          environment={"RANK": "1", "WORLD_SIZE": str(fault.drawn["workers"]), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(server.getsockname()[1]),
                                       "LOCKSTEP_KEY": key, "LOCKSTEP_TOKEN": key})
        while len(said) < 3 and run.alive():
            try:
                connection, _ = server.accept()
                connection.settimeout(1)
                connection.sendall(b"LKS\x02" + bytes(32))  # as the server does; a rank says nothing to anybody else
                said.append(connection.recv(4096))
                connection.close()
            except OSError:
                if said:
                    break
    fault.expect_end([run], 3 + 1 + 3, what="a rank that met a false server")
    fault.expect_sane(run, {1, 3, 124})
    fault.expect(said, "lost", "the rank never came")
    for words in said:
        fault.expect(bytes.fromhex(key) not in words and key.encode() not in words, "exposed", f"the key was sent in clear: {words[:48].hex()}")
    words = [text for text in said if len(text) > 12]
    fault.expect(words, "campaign", f"the rank proved nothing, so that there is nothing to judge: {[text.hex() for text in said]}")
    fault.expect(len(words) < 2 or words[0] != words[1], "exposed", "the same words are sent every time, and can be replayed")
    fault.expect_nothing_left()


def listening_addresses(fault):
    """On one host nothing is open to other hosts."""
    flags = draw_flags(fault, workers=(2, 3), backends=("mpi", "mpi", "gloo", "shm"), strategies=("ddp",))
    fault.begin()
    run = Training(fault, [*flags, "--timeout", "60s"])
    seen = set()
    while run.alive() and time.monotonic() - run.programs[0].began < 20:
        seen |= listening(fault.room.processes())
        time.sleep(0.01)
    fault.expect_end(run.programs, 20)
    run.expect_sane({0})
    fault.expect(seen, "campaign", "nobody was seen to listen, and every run has a server")
    open_to_others = sorted({address for address, _ in seen if not address.startswith("127.") and address != "::1"})
    fault.expect(not open_to_others, "exposed", f"it listens at {open_to_others}")
    fault.note(f"{len(seen)} ports")
    run.expect_nothing_left()


class Hosts:
    """Two hosts: network namespaces with a cable between them, each with a name and a /dev/shm of its own, on one file system."""

    ADDRESSES = ("10.213.9.1", "10.213.9.2")

    def __init__(self, room, name_is_loopback=False, titles=("host0", "host1")):
        if os.geteuid() != 0 or not shutil.which("ip"):
            raise NotPossible("two hosts need root and iproute2")
        self.room, self.titles = room, titles
        self.names = [f"{ROOM_PREFIX}{os.getpid()}-{side}" for side in (0, 1)]
        self.remove_those_of_the_dead()
        self.cable = "camp0"
        for name in self.names:
            self.do("ip", "netns", "add", name)
            self.do("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        self.do("ip", "link", "add", self.cable, "netns", self.names[0], "type", "veth", "peer", "name", self.cable, "netns", self.names[1])
        for name, address in zip(self.names, self.ADDRESSES):
            self.do("ip", "-n", name, "address", "add", f"{address}/24", "dev", self.cable)
            self.do("ip", "-n", name, "link", "set", self.cable, "up")
            self.do("ip", "-n", name, "link", "set", "lo", "up")
        for side in (0, 1):  # as Debian writes it: a host's own name is 127.0.1.1
            lines = ["127.0.0.1 localhost"]
            lines += [f"{'127.0.1.1' if name_is_loopback and other == side else self.ADDRESSES[other]} {titles[other]}" for other in (0, 1)]
            (room.path / f"hosts{side}").write_text("\n".join(lines) + "\n")

    def remove_those_of_the_dead(self):
        for file in Path("/run/netns").glob(ROOM_PREFIX + "*"):
            if not Path("/proc", file.name[len(ROOM_PREFIX) :].split("-")[0]).exists():
                subprocess.run(["ip", "netns", "del", file.name], capture_output=True, timeout=20)

    def do(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        if done.returncode != 0:
            self.close()
            raise NotPossible(f"{' '.join(command)}: {done.stderr.strip()}")

    def command(self, side, words):
        inside = (f"hostname {self.titles[side]} && mount --bind {self.room.path}/hosts{side} /etc/hosts && mount -t tmpfs none /dev/shm && "
                  'exec "$@"')
        # Not `ip netns exec`: its fresh /sys has no control groups, and slurmd wants them.
        return ["nsenter", f"--net=/run/netns/{self.names[side]}", "unshare", "--uts", "--mount", "sh", "-c", inside, "sh", *words]

    def close(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=20)


def two_hosts(fault):
    """Ranks started by hand on two hosts, with default flags, meet, train and end well."""
    per_host = fault.draw("ranks of a host", (1, 1, 2))
    address = fault.draw("address", ("number", "name", "name that is 127.0.1.1 at home"))
    kill = fault.draw("then", ("nothing", "nothing", "a killed rank"))
    # What names and variables say of who shares a host is not to be believed.
    lie = fault.draw("lie", ("none", "LOCAL_WORLD_SIZE is that of the world", "both hosts have one name" if address == "number" else "none"))
    fault.begin()
    hosts = Hosts(fault.room, "127.0.1.1" in address, titles=("host0", "host0" if "one name" in lie else "host1"))
    try:
        world, port = 2 * per_host, free_port()
        place = hosts.ADDRESSES[0] if address == "number" else "host0"
        words = [fault.settings.program, "train", "--model", "lenet5", "--data", "digits", "--train-samples", "230", "--val-samples", "50", "--epochs", "3" if kill == "nothing" else "60",
                 "--progress", "none", "--join-timeout", "30s"]
        variables = {**SLOWLY, "WORLD_SIZE": str(world), "MASTER_ADDR": place, "MASTER_PORT": str(port)}
        told = lambda rank: {"LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(world)} if "LOCAL_WORLD_SIZE" in lie else {}
        programs = [Program(fault.room, hosts.command(rank // per_host, words), {**variables, "RANK": str(rank), **told(rank)}) for rank in range(world)]
        victim = world - 1
        if kill != "nothing":
            steps = lambda: fault.room.runs() and read_bytes(fault.room.runs()[-1] / "rank0.jsonl").count(b'"event":"step"') > 2
            if fault.await_that(steps, 30, programs) and victim in fault.room.workers():
                os.kill(fault.room.workers()[victim].pid, 9)
            since = time.monotonic()
            fault.expect_end(programs, 2, since)
        else:
            fault.expect_end(programs, 30, what="a run between two hosts")
        for rank, program in enumerate(programs):
            if kill == "nothing" or rank != victim:
                fault.expect_sane(program, {0} if kill == "nothing" else {1}, errors=None)
        records = [run / "record.json" for run in fault.room.runs()]
        text = read_bytes(records[-1]).decode() if records else ""
        fault.expect(text, "lost", f"there is no record: {programs[0].err[-300:]}")
        if text and kill == "nothing":
            backend = re.search(r'"backend": "(\w+)"', text)
            fault.expect(backend and backend.group(1) == "gloo", "words", f"the run was over {backend and backend.group(1)}")
        if text and kill != "nothing":
            fault.expect_blame(programs[0].err, victim)
        fault.expect_nothing_left()
    finally:
        fault.room.end_all()
        hosts.close()


SLURM = """ClusterName=campaign
SlurmctldHost=n1(10.213.9.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool.%n
SlurmctldPidFile={place}/controller.pid
SlurmdPidFile={place}/node.%n.pid
SlurmctldLogFile={place}/controller.log
SlurmdLogFile={place}/node.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
ReturnToService=2
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n1 NodeAddr=10.213.9.1 CPUs=2 State=UNKNOWN
NodeName=n2 NodeAddr=10.213.9.2 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


class Slurm:
    """A controller and two nodes, each of these on a host of its own."""

    def __init__(self, hosts):
        for program in ("slurmctld", "slurmd", "srun", "sinfo"):
            if not shutil.which(program):
                raise NotPossible(f"no {program} here")
        self.hosts, self.place = hosts, hosts.room.path / "slurm"
        for part in ("state", "spool.n1", "spool.n2"):
            (self.place / part).mkdir(parents=True)
        configuration = self.place / "slurm.conf"
        configuration.write_text(SLURM.format(place=self.place))
        self.environment = {**os.environ, "SLURM_CONF": str(configuration)}
        commands = ((0, ["slurmctld", "-D"]), (0, ["slurmd", "-D", "-N", "n1"]), (1, ["slurmd", "-D", "-N", "n2"]))
        # Outside the room: what a run leaves behind is to be told from Slurm's own.
        self.daemons = [subprocess.Popen(hosts.command(side, [*command, "-f", str(configuration)]), env=self.environment, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=children_die_with_us) for side, command in commands]
        if not poll(self.is_idle, 30, 0.3):
            log = read_bytes(self.place / "controller.log")[-300:].decode(errors="replace")
            self.close()
            raise NotPossible(f"Slurm's nodes do not come up here: {log}")

    def is_idle(self):
        done = subprocess.run(self.hosts.command(0, ["sinfo", "-h", "-o", "%t %D"]), env=self.environment, capture_output=True, text=True, timeout=30)
        return done.stdout.split() == ["idle", "2"]

    def close(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def under_slurm(fault):
    """srun's tasks train together over gloo between nodes, over shm within one; a study runs once."""
    what = fault.draw("what", ("-N2 -n2", "-N2 -n2", "-N1 -n2", "-N2 -n4", "study"))
    fault.begin()
    hosts = Hosts(fault.room, titles=("n1", "n2"))
    slurm = None
    try:
        slurm = Slurm(hosts)
        words = ["train", "--model", "lenet5", "--data", "digits", "--train-samples", "230", "--val-samples", "50", "--epochs", "2", "--progress", "none", "--join-timeout", "30s"]
        flags = ["-N2", "-n2"] if what == "study" else what.split()
        if what == "study":
            (fault.room.work / "one.yaml").write_text("name: one\ntitle: One\nquestion: Once?\nbase: {model: lenet5, data: digits, train_samples: 96, val_samples: 32, epochs: 1}\naxes: {learning_rate: [0.01]}\n")
            words = ["study", str(fault.room.work / "one.yaml"), "--progress", "none"]
        program = Program(fault.room, hosts.command(0, ["srun", *flags, "--kill-on-bad-exit=0", fault.settings.program, *words]), {"SLURM_CONF": slurm.environment["SLURM_CONF"]})
        fault.expect_end([program], 60, what="a run of srun")
        fault.expect_sane(program, {0}, errors=None)
        runs = fault.room.runs()
        fault.expect(len(runs) == 1, "lost", f"{len(runs)} runs were made: {program.err[-400:]}")
        if runs and what != "study":
            text = read_bytes(runs[-1] / "record.json").decode()
            fault.expect(text, "lost", "there is no record")
            backend = re.search(r'"backend": "(\w+)"', text)
            wanted = "shm" if what.startswith("-N1") else "gloo"
            fault.expect(backend and backend.group(1) == wanted, "words", f"the run was over {backend and backend.group(1)}, not {wanted}")
        fault.expect_nothing_left()
    finally:
        fault.room.end_all()
        if slurm:
            slurm.close()
        hosts.close()
