#!/usr/bin/env bash
# check_slurm.sh [BUILD]: `lockstep train` and `lockstep study` as tasks of a real Slurm on two hosts.
#
# The hosts are two network namespaces on this machine, joined by a virtual cable, with one slurmd each, and a slurmctld in
# the first; configuration, spool and store lie in a temporary directory. Needs root, iproute2 and slurm-wlm (without one of
# them it says so and exits 77). Everything it started is ended and removed. Takes about a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BUILD=$(realpath "${1:-build/dev}")
readonly LOCKSTEP=$BUILD/bin/lockstep
readonly ADDRESSES=(10.213.8.1 10.213.8.2)
readonly NAMESPACES=("lockstep-slurm-$$-0" "lockstep-slurm-$$-1")
readonly STEP_LIMIT_SECONDS=120
directory=""
pids=()

say() { printf 'check_slurm: %s\n' "$*"; }
skip() { say "skipped: $*"; exit 77; }
fail() { say "FAILED: $*"; tail -n 20 "$directory"/*.log >&2 || true; exit 1; }

tear_down() {
  local pid name
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do timeout 10 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2>/dev/null || true; done
  for name in "${NAMESPACES[@]}"; do ip netns del "$name" 2>/dev/null || true; done
  [[ -z $directory ]] || rm -rf "$directory"
}

make_hosts() {
  local side name
  for name in "${NAMESPACES[@]}"; do ip netns add "$name"; done
  ip link add cable netns "${NAMESPACES[0]}" type veth peer name cable netns "${NAMESPACES[1]}"
  for side in 0 1; do
    name=${NAMESPACES[side]}
    ip -n "$name" address add "${ADDRESSES[side]}/24" dev cable
    ip -n "$name" link set cable up
    ip -n "$name" link set lo up
  done
}

# Not `ip netns exec`, which hides /sys/fs/cgroup, where slurmd looks.
on_host() { local side=$1; shift; nsenter --net="/run/netns/${NAMESPACES[side]}" env SLURM_CONF="$directory/slurm.conf" "$@"; }

# In the background, as a process that is ended by its number: a function there would be a shell around it.
start_on_host() {
  local side=$1 log=$directory/$2.log
  shift 2
  nsenter --net="/run/netns/${NAMESPACES[side]}" env SLURM_CONF="$directory/slurm.conf" "$@" >"$log" 2>&1 &
  pids+=($!)
}

write_configuration() {
  local host
  host=$(hostname)
  cat >"$directory/slurm.conf" <<CONFIGURATION
ClusterName=lockstep
SlurmctldHost=$host(${ADDRESSES[0]})
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/none
CredType=cred/none
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
ReturnToService=2
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool.%n
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd.%n.pid
NodeName=n1 NodeHostName=$host NodeAddr=${ADDRESSES[0]} Port=17001 CPUs=$(nproc) State=UNKNOWN
NodeName=n2 NodeHostName=$host NodeAddr=${ADDRESSES[1]} Port=17002 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=10 State=UP OverSubscribe=FORCE
CONFIGURATION
  mkdir "$directory/state" "$directory/spool.n1" "$directory/spool.n2"
}

start_slurm() {
  start_on_host 0 slurmctld slurmctld -D
  start_on_host 0 slurmd.n1 slurmd -D -N n1
  start_on_host 1 slurmd.n2 slurmd -D -N n2
  local i
  for ((i = 0; i < 150; ++i)); do
    [[ $(on_host 0 sinfo -h -t idle -o %D 2>/dev/null) == 2 ]] && return
    sleep 0.2
  done
  fail "two nodes did not come up"
}

srun_of() { # of both nodes, one task each
  on_host 0 timeout "$STEP_LIMIT_SECONDS" srun -N2 -n2 "$@"
}

# What one expression finds in the record of the store's only run.
of_record() { python3 -c "
import glob, json, sys
[path] = glob.glob(sys.argv[1] + '/runs/*/record.json')
record = json.load(open(path))
print($2)" "$1"; }

check_train() {
  say "srun -N2 -n2 lockstep train, default flags"
  srun_of "$LOCKSTEP" train --data digits --steps 20 --store "$directory/train" || fail "train exited with $?"
  local said
  said=$(of_record "$directory/train" "record['status'], record['spec']['backend'], record['workers'], record['local_world']")
  [[ $said == 'finished gloo 2 1' ]] || fail "train's record says $said"
  ! compgen -G "$directory/train/meeting-*" || fail "the meeting file was left behind"
}

check_train_with_key() {
  say "the same with LOCKSTEP_KEY"
  LOCKSTEP_KEY=$(openssl rand -hex 32 2>/dev/null || head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
  export LOCKSTEP_KEY
  # The nodes' names stand for nothing on this machine, so the place is given too.
  MASTER_ADDR=${ADDRESSES[0]} MASTER_PORT=29531 srun_of "$LOCKSTEP" train --data digits --steps 20 --store "$directory/key" ||
    fail "train with a key exited with $?"
  unset LOCKSTEP_KEY
}

check_study() {
  say "srun -N2 -n2 lockstep study: one study"
  cat >"$directory/study.yaml" <<STUDY
name: tiny
title: One worker or two?
question: Is a second worker faster?
base: {model: lenet5, data: digits, steps: 4, threads: 1}
axes:
  workers: [1, 2]
repeats: 1
STUDY
  srun_of "$LOCKSTEP" study "$directory/study.yaml" --progress none --store "$directory/study" >"$directory/study.out" 2>"$directory/study.err" ||
    fail "study exited with $?: $(cat "$directory/study.err")"
  cat "$directory/study.out"
  [[ $(find "$directory/study/runs" -mindepth 1 -maxdepth 1 -type d | wc -l) == 2 ]] || fail "the study's two cells were not run once each"
  grep -q 'rank 0 alone runs the study' "$directory/study.err" || fail "the other task said nothing"
}

[[ $(id -u) == 0 ]] || skip "network namespaces need root"
for tool in slurmctld slurmd srun ip; do command -v $tool >/dev/null || skip "$tool is not here (apt install slurm-wlm iproute2)"; done
[[ -x $LOCKSTEP ]] || skip "$LOCKSTEP is not built"
trap tear_down EXIT
directory=$(mktemp -d)
make_hosts
write_configuration
start_slurm
check_train
check_train_with_key
check_study
say "all is well"
