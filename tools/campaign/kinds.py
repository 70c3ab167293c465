"""The kinds of fault. To add one, write a function and give it a line here."""

from collections import namedtuple

import on_files
import on_hosts
import on_ranks
import on_store

# share: so many of each round of 100 or so. play(fault): draws, does it, and complains of what does not hold.
Kind = namedtuple("Kind", "share play holds")

KINDS = {
    "killed rank": Kind(8, on_ranks.killed_rank, "kill -9 at any moment: ends in 2 s, code 1, rank named, nothing left, resume bit-equal"),
    "killed rank by hand": Kind(4, on_ranks.killed_rank_by_hand, "the same with RANK and WORLD_SIZE; before it joined: at --join-timeout"),
    "killed rank of mpirun": Kind(3, on_ranks.killed_rank_of_mpirun, "the same under a foreign mpirun, as far as mpirun lets us"),
    "stopped rank": Kind(4, on_ranks.stopped_rank, "SIGSTOP: ends at --timeout and the second of asking, code 124, rank named"),
    "stopped rank by hand": Kind(3, on_ranks.stopped_rank_by_hand, "the same; woken afterwards, the rank ends too"),
    "stopped rank of mpirun": Kind(2, on_ranks.stopped_rank_of_mpirun, "the same under a foreign mpirun"),
    "last rank stopped": Kind(3, on_ranks.last_rank_stopped, "a lone rank, or one whose peers have finished, is ended at --timeout and 3 s"),
    "signalled launcher": Kind(5, on_ranks.signalled_launcher, "SIGTERM, SIGINT, SIGHUP: code 128+N, interrupted, a checkpoint, nothing done twice"),
    "killed launcher": Kind(5, on_ranks.killed_launcher, "nothing left; `runs conclude` makes the record; resume bit-equal"),
    "signalled rank": Kind(4, on_ranks.signalled_rank, "SIGTERM, SIGINT to one rank: code 128+N, interrupted, no other rank blamed"),
    "pause": Kind(3, on_ranks.pause_longer_than_checkpoint_time, "stopped for longer than --checkpoint-time and woken: training goes on at its pace"),
    "stopped in MPI_Init": Kind(2, on_ranks.stopped_inside_mpi_init, "ends at --join-timeout and 2 s, code 124, rank named"),
    "stranger at Open MPI": Kind(2, on_ranks.stranger_at_open_mpis_port, "a connection held at mpirun's port: trains, or ends at --join-timeout"),
    "early death under mpi": Kind(3, on_ranks.early_death_under_mpi, "a rank killed before anybody saw it: noticed within 5 s, rank named"),
    "damaged weights": Kind(4, on_files.damaged_weights, "read or refused with one error; no more memory than the file can hold"),
    "damaged data": Kind(4, on_files.damaged_data, "the same for data sets"),
    "damaged checkpoint": Kind(4, on_files.damaged_checkpoint, "the newest whole one is used, bit-equal, or the resume refused"),
    "damaged spec": Kind(4, on_files.damaged_spec, "specs and studies: understood, or refused with one error"),
    "mistyped command": Kind(3, on_files.mistyped_command, "understood, or refused with one error"),
    "no UTF-8": Kind(6, on_files.bytes_that_are_no_utf8, "in names, headers, variables, arguments: done, or refused with one error"),
    "decoys": Kind(2, on_files.decoys_in_the_current_directory, "libraries and modules of the current directory are not used"),
    "hostile record": Kind(6, on_store.hostile_record, "imported or not, every listing of the others goes on, without escapes and formulas"),
    "full disk": Kind(6, on_store.full_disk, "named; with room again, concluded and resumed bit-equal"),
    "record on a full disk": Kind(3, on_store.record_on_a_full_disk, "room for the record alone: finished, code 0 and a word; with room again, the events too"),
    "limits": Kind(5, on_store.limits, "small ulimits: done, or one error that names the cause"),
    "killed study": Kind(3, on_store.killed_study, "resumed, it has the cells of an undisturbed one, each once"),
    "damaged place.json": Kind(3, on_store.damaged_place, "a finished cell does not run again, and none is lost"),
    "study on a full disk": Kind(2, on_store.study_on_a_full_disk, "resumed with room again, it has every cell once"),
    "strangers": Kind(6, on_hosts.strangers_at_the_ports, "silent, garbage, HTTP, half a handshake at every port: trains as ever"),
    "false server": Kind(2, on_hosts.false_server, "no secret on the wire, nothing that can be replayed; ends at --join-timeout"),
    "open ports": Kind(2, on_hosts.listening_addresses, "on one host everything listens on loopback"),
    "two hosts": Kind(4, on_hosts.two_hosts, "ranks by hand with default flags train over gloo, whatever names and variables say of hosts"),
    "Slurm": Kind(3, on_hosts.under_slurm, "srun's tasks train over gloo between nodes, over shm in one; a study runs once"),
}
