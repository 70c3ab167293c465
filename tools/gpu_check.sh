#!/usr/bin/env bash
# gpu_check.sh [--only PHASE,...] [--limit SECONDS] [--bundle DIR]: everything that needs a GPU, in one go: builds with
# preset cuda, runs the nccl and p2p tests, and benches both on one GPU (without and with MPS) and the CPU backends beside it.
# Prints each phase with its time, and a short table last. Logs and figures go to $OUT, or out/gpu.
#
# Phases, in their order: facts build test step p2p runs sharing engine graph accuracy torchvision bench-nccl bench-mps bench-p2p bench-cpu sixteen full records. `p2p` tests that
# backend and benches it in turns with nccl, on equal shares of one GPU under MPS; `bench-p2p` (only when named) is the second half. `engine` and
# `torchvision` compare the engine with PyTorch on the GPU, `sixteen` on 16 cores. `full`, the whole matrix of collectives
# under MPS, takes what is left of the limit (default 480 s); alone, give it more: --only full --limit 590.
# `step` tests what a step is made of on a GPU, what replicas exchange on it and the service of slices, `runs` whole runs on slices of it,
# `sharing` real models with up to eight workers on it (tools/gpu_sharing.py, 20 of its list), `graph` benches whole steps beside PyTorch's, `accuracy`
# trains CIFAR-10 with both. `records` (only when named) runs the built-in studies on slices (tools/gpu_records.sh; RECORDS: which).
# SIXTEEN_MODELS, GRAPH_CASES (GRAPH_REPEATS), ENGINE_CHECKS (ENGINE_REPEATS) and RUNS_FILTER choose among what `sixteen`, `graph`, `engine` and `runs` do.
# Needs no network. What the machine lacks is taken from the bundle (tools/gpu_bundle.sh; default carry/bundle).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

readonly START=$SECONDS
readonly BUILD=build/cuda
only=facts,build,test,step,p2p,runs,sharing,engine,graph,accuracy,torchvision,bench-nccl,bench-mps,bench-cpu,sixteen,full
limit=480
bundle=$PWD/carry/bundle
out=${OUT:-out/gpu}
cmake_arguments=()
mps_directory=""
failures=0

usage() { sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

read_arguments() {
  while (($# > 0)); do
    case $1 in
      --only) only=$2; shift 2 ;;
      --limit) limit=$2; shift 2 ;;
      --bundle) bundle=$(realpath "$2"); shift 2 ;;
      --help) usage; exit 0 ;;
      *) printf 'unknown argument %s\n' "$1" >&2; usage >&2; exit 2 ;;
    esac
  done
}

left() { echo $((limit - (SECONDS - START))); }

# Runs a phase if it was asked for and time is left; says how it ended and how long it took.
phase() {
  local name=$1 begin=$SECONDS verdict=ok
  shift
  [[ ,$only, == *,$name,* ]] || return 0
  if (($(left) < 20)); then
    printf '== %-11s skipped: no time left of %d s\n' "$name" "$limit" | tee -a "$out/summary.txt"
    return 0
  fi
  "$@" || { verdict="FAILED ($?)"; failures=$((failures + 1)); }
  printf '== %-11s %s, %d s\n' "$name" "$verdict" $((SECONDS - begin)) | tee -a "$out/summary.txt"
  [[ $verdict == ok ]]
}

# --- what the machine has, and what the bundle adds ---

add_path() { [[ -d $2 ]] && export "$1=$2${!1:+:${!1}}"; }
# As system headers: warnings in them are not ours.
add_include() { add_path C_INCLUDE_PATH "$1" && add_path CPLUS_INCLUDE_PATH "$1"; }
add_prefix() {
  local prefix=$bundle/fallback/$1 library_directory
  [[ -d $prefix ]] || return 0
  printf 'from the bundle: %s\n' "$1"
  add_path CMAKE_PREFIX_PATH "$prefix"
  add_include "$prefix/include"
  for library_directory in "$prefix/lib" "$prefix/lib/x86_64-linux-gnu"; do
    add_path LIBRARY_PATH "$library_directory"
    add_path LD_LIBRARY_PATH "$library_directory"
    add_path PKG_CONFIG_PATH "$library_directory/pkgconfig"
  done
}

has_header() { printf '#include <%s>\n' "$1" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1; }

use_bundle() {
  export CMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH:-} LIBRARY_PATH=${LIBRARY_PATH:-}
  export C_INCLUDE_PATH=${C_INCLUDE_PATH:-} CPLUS_INCLUDE_PATH=${CPLUS_INCLUDE_PATH:-}
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-} PKG_CONFIG_PATH=${PKG_CONFIG_PATH:-}
  if ! command -v pkg-config >/dev/null; then
    add_prefix pkg-config
    export PATH=$bundle/fallback/pkg-config/bin:$PATH
  fi
  pkg-config --exists hwloc || add_prefix hwloc
  ldconfig -p | grep -q 'libudev\.so\.1' || add_prefix udev
  { has_header gtest/gtest.h && has_header gmock/gmock.h; } || add_prefix gtest
  has_header fmt/format.h || add_prefix fmt
  has_header CLI/CLI.hpp || add_prefix cli11
  has_header nlohmann/json.hpp || add_prefix json
  add_path CMAKE_PREFIX_PATH "$bundle"
  add_include "$bundle/include"
  add_path LIBRARY_PATH "$bundle/lib"
  # Last, so that a library of the machine's own is preferred.
  [[ -d $bundle/lib ]] && export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$bundle/lib
  return 0
}

# Python is asked in /: it also looks for modules in the current directory.
# Directories of Python's packages that match a pattern, such as nvidia/*/lib/libnccl.so.2.
in_python() {
  (cd / && python3 - "$1") 2>/dev/null <<'PYTHON'
import glob, os, site, sys
roots = site.getsitepackages() + [p for p in sys.path if p.endswith("-packages")]
for root in dict.fromkeys(roots):
    for found in sorted(glob.glob(os.path.join(root, sys.argv[1]))):
        print(os.path.dirname(found))
PYTHON
}

use_cuda() {
  local cuda=${CUDA_HOME:-/usr/local/cuda} directory header
  [[ -d $cuda/bin ]] && export PATH=$PATH:$cuda/bin
  for directory in /usr/local/nvidia/bin /usr/bin; do
    command -v nvidia-cuda-mps-control >/dev/null && break
    [[ -x $directory/nvidia-cuda-mps-control ]] && export PATH=$PATH:$directory
  done
  if ! ldconfig -p | grep -q 'libnccl\.so\.2'; then
    directory=$(in_python 'nvidia/*/lib/libnccl.so.2' | head -1)
    add_path LD_LIBRARY_PATH "${directory:-none}"
  fi
  if [[ ! -f $cuda/include/nccl.h && ! -f /usr/include/nccl.h ]]; then
    header=$(in_python 'nvidia/*/include/nccl.h' | head -1)
    export NCCL_HOME=${header:+$(dirname "$header")}
    [[ -n $NCCL_HOME ]] || { export NCCL_HOME=$bundle/fallback/nccl; printf 'from the bundle: nccl.h\n'; }
  fi
  if ! compgen -G "$cuda/lib64/libcudart.so" >/dev/null && ! compgen -G "$cuda/targets/*/lib/libcudart.so" >/dev/null; then
    printf 'from the bundle: libcudart\n'
    cmake_arguments+=("-DCUDA_CUDART=$bundle/fallback/cudart/lib/libcudart.so")
    add_path LD_LIBRARY_PATH "$bundle/fallback/cudart/lib"
  fi
  return 0
}

facts() {
  nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader || return 1
  printf '%s cores, %s; %s; %s; nccl %s\n' "$(nproc)" "$(free -g | awk '/^Mem/ { print $2 " GiB" }')" \
    "$(c++ --version | head -1)" "$(cmake --version | head -1)" \
    "$(ldconfig -p | awk '/libnccl\.so\.2/ { print $NF; exit }')"
  printf 'library path: %s\n' "$LD_LIBRARY_PATH"
}

# --- building and testing ---

build() {
  cmake --preset cuda "${cmake_arguments[@]}" >"$out/configure.log" 2>&1 || { tail -25 "$out/configure.log"; return 1; }
  grep -E '^--   (found|absent)' "$out/configure.log"
  local targets=(lockstep lockstep_backend_gloo lockstep_backend_mpi lockstep_backend_nccl lockstep_backend_p2p)
  [[ ,$only, == *,test,* || ,$only, == *,full,* ]] && targets+=(nccl_test nccl_parts_test)
  [[ ,$only, == *,p2p,* ]] && targets+=(p2p_test p2p_parts_test)
  [[ ,$only, == *,step,* ]] && targets+=(local_gpu_test slice_service_gpu_test test_optimizer_gpu test_device_step_gpu)
  if grep -q 'found   torch' "$out/configure.log"; then
    [[ $only =~ runs|sharing|engine|graph|accuracy|torchvision|sixteen|records ]] && targets+=(lockstep-worker)
    [[ ,$only, == *,runs,* ]] && targets+=(train_gpu_test)
  fi
  timeout "$(left)" cmake --build "$BUILD" -j "$(nproc)" --target "${targets[@]}" >"$out/build.log" 2>&1 || {
    grep -E -A8 'error:|FAILED' "$out/build.log" | cut -c1-300 | head -60
    tail -3 "$out/build.log"
    return 1
  }
}

# Runs a test program; prints what failed, what was skipped and the count, and the links that were used.
run_test() {
  local log=$1 status
  shift
  timeout --kill-after=5 "$@" >>"$log" 2>&1
  status=$?
  grep -E '^world [0-9]+: link' "$log" | sort -u
  grep -E 'SKIPPED|cannot be used here' "$log" | sort -u | head -3
  grep -E '^\[  (PASSED|FAILED) ' "$log"
  ((status == 0)) || grep -B1 -A6 -E 'Failure$' "$log" | cut -c1-400 | head -60
  return "$status"
}

test_nccl() {
  : >"$out/nccl_test.log"
  run_test "$out/nccl_test.log" 30 "$BUILD/tests/nccl_parts_test" || return 1
  run_test "$out/nccl_test.log" "$(left)" "$BUILD/tests/nccl_test"
}

test_step() {
  local program status=0
  : >"$out/step_test.log"
  for program in test_optimizer_gpu test_device_step_gpu local_gpu_test slice_service_gpu_test; do
    run_test "$out/step_test.log" 120 "$BUILD/tests/$program" || status=1
  done
  return "$status"
}

# Names the tests that were skipped, and why.
test_runs() {
  : >"$out/runs_test.log"
  run_test "$out/runs_test.log" "$(left)" "$BUILD/tests/train_gpu_test" ${RUNS_FILTER:+--gtest_filter="$RUNS_FILTER"}
  local status=$?
  grep -E 'is refused here|does not let a test|no GPU to train on' "$out/runs_test.log" | cut -c1-300 | sort -u
  return "$status"
}

# The first of the list whose whole length is run by hand.
sharing() {
  timeout --kill-after=5 "$(left)" python3 tools/gpu_sharing.py --bin "$BUILD/bin" --runs 20 --fresh --limit "$(($(left) - 110))" \
    --out "$out/sharing.jsonl"
}

# --- p2p: what needs ranks at the same time under MPS, what kills ranks without it ---

test_p2p() {
  : >"$out/p2p_test.log"
  run_test "$out/p2p_test.log" 30 "$BUILD/tests/p2p_parts_test" || return 1
  with_mps run_test "$out/p2p_test.log" "$(left)" "$BUILD/tests/p2p_test" --gtest_filter='-*Failures*' || return 1
  run_test "$out/p2p_test.log" "$(left)" "$BUILD/tests/p2p_test" --gtest_filter='*Failures*:*RunInOrder*'
}

bench_p2p() {
  local workers status=0
  for workers in 2 4; do
    CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=$((100 / workers)) factor=4 \
      bench "one GPU, MPS, equal shares" p2p,nccl "$workers" 4K 256M --buffer owned || status=1
  done
  return "$status"
}

check_p2p() { test_p2p && with_mps bench_p2p; }

# --- the engine ---

# Data that travels with the tree; else where the program looks by itself.
use_data() { [[ ! -d carry/data ]] || export LOCKSTEP_DATA=$PWD/carry/data; }

engine() { timeout --kill-after=5 "$(left)" python3 tools/gpu_engine.py --lockstep "$BUILD/bin/lockstep" ${ENGINE_CHECKS:+--only "$ENGINE_CHECKS"} \
  ${ENGINE_REPEATS:+--repeats "$ENGINE_REPEATS"}; }

graph() {
  timeout --kill-after=5 "$(left)" python3 tools/bench_gpu.py --lockstep "$BUILD/bin/lockstep" ${GRAPH_CASES:+--cases "$GRAPH_CASES"} \
    ${GRAPH_REPEATS:+--repeats "$GRAPH_REPEATS"}
}

accuracy() { timeout --kill-after=5 "$(left)" python3 tools/gpu_accuracy.py --lockstep "$BUILD/bin/lockstep"; }

# In the build's directory, so that the next call goes on; what comes back is one file.
records() {
  local kept=$PWD/$BUILD/records status
  # shellcheck disable=SC2086  # names
  LOCKSTEP=$BUILD/bin/lockstep tools/gpu_records.sh --limit "$(($(left) - 20))" --store "$kept/store" --out "$kept/h200" ${RECORDS:-}
  status=$?
  tar -C "$kept" -czf "$out/records.tgz" h200 store
  return "$status"
}

torchvision() { timeout --kill-after=5 "$(left)" python3 tools/check_torchvision.py --bin "$BUILD/bin"; }

sixteen() {
  timeout --kill-after=5 "$(left)" python3 tools/bench_train.py --mode sixteen --lockstep "$BUILD/bin/lockstep" --repeats 2 --steps 15 --brief \
    ${SIXTEEN_MODELS:+--models "$SIXTEEN_MODELS"} --out "$out/bench_train.json"
}

test_full() {
  : >"$out/nccl_full.log"
  with_mps run_test "$out/nccl_full.log" "$(left)" env LOCKSTEP_TEST_FULL=1 \
    "$BUILD/tests/nccl_test" --gtest_filter='*GiveExactResults*'
}

# --- MPS: several processes on one GPU at the same time instead of by turns ---

stop_mps() {
  [[ -n $mps_directory ]] || return 0
  echo quit | timeout 10 nvidia-cuda-mps-control >/dev/null 2>&1
  rm -rf "$mps_directory"
  mps_directory=""
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

with_mps() {
  local status
  command -v nvidia-cuda-mps-control >/dev/null || { echo 'there is no nvidia-cuda-mps-control here'; return 1; }
  mps_directory=$(mktemp -d)
  mkdir "$mps_directory/pipe" "$mps_directory/log"
  export CUDA_MPS_PIPE_DIRECTORY=$mps_directory/pipe CUDA_MPS_LOG_DIRECTORY=$mps_directory/log
  nvidia-cuda-mps-control -d || { stop_mps; return 1; }
  "$@"
  status=$?
  stop_mps
  return "$status"
}

# --- benches: one JSON document a line, with the name of the table it belongs to ---

bench() {
  local table=$1 backends=$2 workers=$3 first=$4 last=$5 document
  shift 5
  document=$(timeout --kill-after=5 $(($(left) < 90 ? $(left) : 90)) "$BUILD/bin/lockstep" bench allreduce \
    --backend "$backends" --workers "$workers" -b "$first" -e "$last" -f "${factor:-256}" --json "$@" 2>>"$out/bench.log") || {
    printf '%s, %s workers, %s: failed (%d): %s\n' "$backends" "$workers" "$first" $? "$(tail -1 "$out/bench.log" | cut -c1-300)"
    return 1
  }
  printf '{"table": "%s", "bench": %s}\n' "$table" "$(tr -d '\n' <<<"$document")" >>"$out/bench.jsonl"
}

bench_sizes() {
  local status=0
  bench "$1" "$2" "$3" 4K 1M "${@:4}" || status=1
  bench "$1" "$2" "$3" 44.7M 44.7M "${@:4}" || status=1
  bench "$1" "$2" "$3" 244M 244M "${@:4}" || status=1
  return "$status"
}

bench_nccl() {
  local workers status=0
  for workers in 1 2 4; do bench_sizes "$1" nccl "$workers" --buffer owned || status=1; done
  return "$status"
}

bench_cpu() {
  local workers status=0
  for workers in 2 4 8 16; do bench_sizes "CPU" shm,gloo,mpi "$workers" || status=1; done
  return "$status"
}

main() {
  read_arguments "$@"
  mkdir -p "$out"
  out=$(realpath "$out")
  truncate --size 0 "$out/summary.txt" "$out/bench.jsonl" "$out/bench.log"
  trap stop_mps EXIT
  use_bundle
  use_cuda
  use_data
  (cd / && python3 -c 'import torch') 2>/dev/null && cmake_arguments+=(-DLOCKSTEP_TORCH=pip)
  phase facts facts
  phase build build || [[ ,$only, != *,build,* ]] || exit 1
  phase test test_nccl
  phase step test_step
  phase p2p check_p2p
  phase runs test_runs
  phase sharing sharing
  phase engine engine
  phase graph graph
  phase accuracy accuracy
  phase torchvision torchvision
  phase bench-nccl bench_nccl "one GPU, by turns"
  phase bench-mps with_mps bench_nccl "one GPU, MPS"
  phase bench-p2p with_mps bench_p2p
  phase bench-cpu bench_cpu
  phase sixteen sixteen
  phase full test_full
  phase records records
  tar -C "$out" -czf "$out/logs.tgz" --exclude='*.tgz' . 2>/dev/null
  python3 tools/gpu_table.py "$out/bench.jsonl" | tee -a "$out/summary.txt"
  printf '\n'
  grep '^==' "$out/summary.txt"
  printf '%d s in all, %d phases failed\n' $((SECONDS - START)) "$failures"
  ((failures == 0))
}

main "$@"
