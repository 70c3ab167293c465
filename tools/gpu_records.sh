#!/usr/bin/env bash
# gpu_records.sh [--limit SECONDS] [--store DIR] [--out DIR] [STUDY ...]: the quick variants of the built-in studies on slices of
# one GPU, each exported with its records as one file (OUT/STUDY.json), for examples/h200. Goes on where an earlier sitting with
# the same store ended. Needs a build with CUDA (tools/gpu_check.sh --only build,runs) and, beside it, what that script takes from its bundle.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

readonly START=$SECONDS
readonly LOCKSTEP=${LOCKSTEP:-build/cuda/bin/lockstep}
readonly SLICES=(--set device=cuda --set slice_share=12.5%)
limit=500
store=out/gpu/store
out=out/gpu/h200
studies=()

usage() { sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

read_arguments() {
  while (($# > 0)); do
    case $1 in
      --limit) limit=$2; shift 2 ;;
      --store) store=$2; shift 2 ;;
      --out) out=$2; shift 2 ;;
      --help) usage; exit 0 ;;
      -*) printf 'unknown argument %s\n' "$1" >&2; usage >&2; exit 2 ;;
      *) studies+=("$1"); shift ;;
    esac
  done
  ((${#studies[@]} > 0)) || studies=(side-by-side batch-scaling tcp-vs-nccl memory-error vit-scaling five-models driving
    vanilla-vs-library epochs-to-target trainable-share large-batch psnr transported-bytes)
}

left() { echo $((limit - (SECONDS - START))); }

# What a study needs besides slices, as words for `lockstep study`.
settings_of() {
  case $1 in
    batch-scaling) echo "--set workers=1,2,4,8 --set strategy=ddp --set device_memory=4GiB" ;;
    # ddp repeats its step from a CUDA graph, other strategies and backends do not: then that is what they would show.
    vit-scaling) echo "--set workers=1,2,4,8 --set graph=off" ;;
    psnr) echo "--set graph=off" ;;
    five-models | driving | side-by-side) echo "--set workers=1,2,4,8" ;;
    trainable-share) echo "--set strategy=ddp" ;;
    tcp-vs-nccl) echo "--set backend=gloo,shm,mpi,nccl,p2p" ;;
    # Some 4 GiB of tensors on one worker, 2.2 on each of two; CUDA's context comes on top.
    memory-error) echo "--set device_memory=4GiB --set model_options.width=512 --set global_batch=256 --set train_samples=512" ;;
    epochs-to-target) echo "--set workers=4" ;;
  esac
}

# Replicas of dp are one process and have no slices: studies of them run on the whole GPU, and of others their rows of dp are left out.
place_of() {
  case $1 in
    five-models | vanilla-vs-library) echo "--set device=cuda" ;;
    *) echo "${SLICES[*]}" ;;
  esac
}

run_study() {
  local name=$1 words
  read -r -a words <<<"$(place_of "$name") $(settings_of "$name")"
  [[ -d $store/studies/$name-quick ]] && words+=(--resume)
  timeout --kill-after=10 "$(($(left) + 20))" "$LOCKSTEP" study "$name" --quick "${words[@]}" --budget "$(left)s" --store "$store" \
    --progress lines >"$out/$name.log" 2>&1
  local status=$?
  "$LOCKSTEP" runs export "$name-quick" --format study --store "$store" -o "$out/$name.json" >>"$out/$name.log" 2>&1
  printf '== %-20s exit %d, %s left; %s\n' "$name" "$status" "$(left) s" "$(tail -1 "$out/$name.log" | cut -c1-160)"
  return "$status"
}

main() {
  local name failures=0
  read_arguments "$@"
  mkdir -p "$out" "$store"
  for name in "${studies[@]}"; do
    (($(left) > 20)) || { printf '== %-20s not begun: no time left\n' "$name"; continue; }
    run_study "$name" || failures=$((failures + 1))
  done
  return "$((failures > 0))"
}

main "$@"
