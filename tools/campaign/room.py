"""Where one fault happens: directories of its own, the programs that are started in them, and what these leave behind."""

import ctypes
import fcntl
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

ROOM_PREFIX = "lockstep-campaign-"  # then the number of the campaign's process
MARK = "LOCKSTEP_CAMPAIGN_ROOM"
# What a launcher around the campaign, or the user's own settings, would change about a run.
FOREIGN = re.compile(r"^(LOCKSTEP_|SLURM_|OMPI_|PMIX?_|(LOCAL_)?(RANK|WORLD_SIZE)$|MASTER_|XDG_)")
CLONE_NEWNS = 0x20000
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def poll(true, seconds, every=0.004):
    """Whether `true()` holds within so many seconds."""
    end = time.monotonic() + seconds
    while True:
        if true():
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(every)


def read_bytes(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def is_held(path):
    """Whether somebody has a lock on this file. A process that ends has no memory any more, and so is not found in a room, some milliseconds before its files are closed."""
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def children_peak_bytes():
    """The most memory that any process held which we, or what we started, have waited for."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def make_private_mounts():
    """A mount namespace for this process and its children, with a /dev/shm of its own. Why not, where that fails."""
    if os.geteuid() != 0:
        return "only root can mount file systems"
    if LIBC.unshare(CLONE_NEWNS) != 0:
        return f"no mount namespace: {os.strerror(ctypes.get_errno())}"
    for command in (["mount", "--make-rprivate", "/"], ["mount", "-t", "tmpfs", "-o", "mode=1777", "none", "/dev/shm"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        if done.returncode != 0:
            return f"{' '.join(command)}: {done.stderr.strip()}"
    return None


def remove_rooms_of_the_dead():
    """What campaigns left that were killed; their mounts and processes ended with them."""
    for folder in Path(tempfile.gettempdir()).glob(ROOM_PREFIX + "*"):
        number = folder.name[len(ROOM_PREFIX) :].split("-")[0]
        if number.isdigit() and not Path("/proc", number).exists():
            shutil.rmtree(folder, ignore_errors=True)


def children_die_with_us():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A process of a room as /proc shows it."""

    def __init__(self, pid, environment):
        self.pid = pid
        self.environment = environment
        self.name = read_bytes(f"/proc/{pid}/comm").decode(errors="replace").strip()

    def variable(self, name):
        found = re.search(rb"(?:^|\0)" + name.encode() + rb"=([^\0]*)", self.environment)
        return found.group(1).decode(errors="replace") if found else None

    def rank(self):
        text = self.variable("RANK") or self.variable("OMPI_COMM_WORLD_RANK") or self.variable("SLURM_PROCID")
        return int(text) if text else None

    def children(self):
        return [int(pid) for pid in read_bytes(f"/proc/{self.pid}/task/{self.pid}/children").split()]

    def maps(self, library):
        return library.encode() in read_bytes(f"/proc/{self.pid}/maps")

    def sockets(self):
        """Inodes of its sockets."""
        found = set()
        try:
            for entry in os.scandir(f"/proc/{self.pid}/fd"):
                target = os.readlink(entry.path)
                if target.startswith("socket:["):
                    found.add(target[8:-1])
        except OSError:
            pass
        return found


def listening(processes):
    """(address, port) of every TCP socket at which these processes listen."""
    inodes = set()
    for process in processes:
        inodes |= process.sockets()
    found = set()
    for file, family in (("/proc/net/tcp", socket.AF_INET), ("/proc/net/tcp6", socket.AF_INET6)):
        for line in read_bytes(file).decode().splitlines()[1:]:
            words = line.split()
            if words[3] != "0A" or words[9] not in inodes:
                continue
            address, port = words[1].split(":")
            packed = b"".join(struct.pack("=I", int(address[i : i + 8], 16)) for i in range(0, len(address), 8))
            found.add((socket.inet_ntop(family, packed), int(port, 16)))
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Room:
    """Directories for one fault, and the environment that keeps programs inside."""

    def __init__(self, private_shm):
        self.path = Path(tempfile.mkdtemp(prefix=f"{ROOM_PREFIX}{os.getpid()}-"))
        self.private_shm = private_shm
        self.mounts = []
        self.programs = []
        for part in ("home", "tmp", "run", "store", "work"):
            (self.path / part).mkdir(mode=0o700)
        self.store = self.path / "store"
        self.work = self.path / "work"

    def environment(self, more=None):
        kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
        own = {"HOME": "home", "TMPDIR": "tmp", "XDG_RUNTIME_DIR": "run", "LOCKSTEP_STORE": "store", MARK: "."}
        kept.update({name: str(self.path / part) for name, part in own.items()})
        kept.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        kept.update(more or {})
        return kept

    def processes(self):
        """Everything alive that was started in this room, whoever started it."""
        mark = f"{MARK}={self.path}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            environment = read_bytes(f"/proc/{entry}/environ")
            if mark in environment:
                found.append(Process(int(entry), environment))
        return found

    def workers(self):
        """The process of each rank that trains."""
        return {process.rank(): process for process in self.processes()
                if process.name == "lockstep-worker" and process.rank() is not None}

    def runs(self):
        """The directories of runs in the store, oldest first."""
        try:
            return sorted(entry for entry in (self.store / "runs").iterdir() if not entry.name.startswith("."))
        except OSError:
            return []

    def mount_small(self, name, size):
        """A file system with room for `size` bytes."""
        place = self.path / name
        place.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(place)], check=True, timeout=20)
        self.mounts.append(place)
        return place

    def widen(self, place, size):
        subprocess.run(["mount", "-o", f"remount,size={size}", str(place)], check=True, timeout=20)

    def leftovers(self, patience):
        """What is still there that should not be, in words."""
        poll(lambda: not self.processes(), patience, 0.05)
        found = [f"process {process.name} ({process.pid}) is alive" for process in self.processes()]
        for part in ("tmp", "run", "home"):
            for file in (self.path / part).rglob("*"):
                if not file.is_dir() and file.name != "secret":
                    found.append(f"file {file.relative_to(self.path)}")
        if self.private_shm:
            found += [f"/dev/shm/{name}" for name in os.listdir("/dev/shm")]
        return found

    def half_written(self):
        """Files and directories of the store that were begun and never got their name; a checkpoint is one only with its manifest."""
        return [f"{file.relative_to(self.path)}" for file in self.store.rglob("*")
                if "checkpoints" not in file.parts and (file.name.startswith(".new-") or re.search(r"\.\d+\.part(ial)?$|\.partial$", file.name))]

    def end_all(self):
        for program in self.programs:
            program.kill()
        for process in self.processes():
            try:
                os.kill(process.pid, signal.SIGKILL)
            except OSError:
                pass
        poll(lambda: not self.processes(), 5, 0.05)

    def close(self):
        self.end_all()
        for place in self.mounts:
            subprocess.run(["umount", "-l", str(place)], timeout=20, capture_output=True)
        if self.private_shm:
            for entry in os.scandir("/dev/shm"):
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
        shutil.rmtree(self.path, ignore_errors=True)


class Program:
    """One program that was started in a room; its output goes to files."""

    def __init__(self, room, command, environment=None, cwd=None, limits=None):
        room.programs.append(self)
        self.room = room
        self.command = [os.fspath(word) for word in command]
        self.place = Path(tempfile.mkdtemp(prefix="said-", dir=room.path))
        self.limits = limits or {}
        self.began = time.monotonic()
        self.signals = []
        with open(self.place / "out", "wb") as out, open(self.place / "err", "wb") as err:
            self.process = subprocess.Popen(
                self.command, env=room.environment(environment), cwd=cwd or room.work, stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, preexec_fn=self._prepare)

    def _prepare(self):
        os.setpgid(0, 0)
        children_die_with_us()
        # A shell that puts the campaign into the background has it ignore some, and programs keep to that.
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        for what, value in self.limits.items():
            resource.setrlimit(what, (value, value))

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process.poll() is None

    def wait(self, seconds):
        """Whether it ended within so many seconds; `code` is then what a shell would call its exit code."""
        try:
            self.process.wait(max(seconds, 0.01))
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def code(self):
        code = self.process.returncode
        return code if code is None or code >= 0 else 128 - code

    def died_of(self):
        """The signal that ended it, where one did."""
        return -self.process.returncode if self.process.returncode is not None and self.process.returncode < 0 else None

    @property
    def out(self):
        return read_bytes(self.place / "out").decode(errors="surrogateescape")

    @property
    def err(self):
        return read_bytes(self.place / "err").decode(errors="surrogateescape")

    def send(self, number):
        self.signals.append(number)
        self.process.send_signal(number)

    def kill(self):
        if self.alive():
            self.process.kill()
            self.process.wait()
