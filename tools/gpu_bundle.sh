#!/usr/bin/env bash
# gpu_bundle.sh [DIR]: packs into DIR (default carry/bundle) the headers and libraries that a GPU machine without
# package registries may lack, so that they can travel with the working tree; tools/gpu_check.sh uses them there.
#   DIR/lib, DIR/include      what such a machine is known to lack: gloo and what it needs, sqlite3, SQLiteCpp
#   DIR/fallback/NAME         one prefix per package, used only where the machine has none of its own
# Links are followed: what travels may lose them. DIR stays out of git. 64 MiB is the most that travels.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly DIR=${1:-carry/bundle}
readonly LIMIT_KIB=40000
ARCH=$(gcc -print-multiarch)
readonly ARCH

# What a program loads, by its plain name, with links followed.
pack_library() {
  local so
  for so in "$@"; do cp -L "$(ldconfig -p | awk -v so="$so" '$1 == so { print $NF; exit }')" "$DIR/lib/$so"; done
}

# All development files of Debian packages, as one prefix.
pack_prefix() {
  local prefix=$DIR/fallback/$1 file target
  shift
  dpkg -L "$@" | grep -E "^/usr/(include|lib|share/(cmake|pkgconfig))/" | while read -r file; do
    [[ -f $file || -L $file ]] || continue
    target=$prefix/${file#/usr/}
    mkdir -p "$(dirname "$target")"
    cp -L "$file" "$target"
  done
  # Package files name /usr: let them find themselves wherever they are put.
  # shellcheck disable=SC2016  # pkg-config expands it
  find "$prefix" -name '*.pc' -exec sed -i 's|^prefix=/usr$|prefix=${pcfiledir}/../../..|' {} +
}

pack_known_missing() {
  mkdir -p "$DIR/include" "$DIR/lib"
  cp -r /usr/include/gloo "$DIR/include/"
  cp -L /usr/lib/libgloo.so /usr/lib/libgloo.so.0 "$DIR/lib/"
  pack_library libhiredis.so.0.14 libibverbs.so.1 libnl-route-3.so.200 libnl-3.so.200
  [[ -f /usr/include/sqlite3.h ]] || return 0
  cp /usr/include/sqlite3.h /usr/include/sqlite3ext.h "$DIR/include/"
  cp -L "/usr/lib/$ARCH/libsqlite3.so" "/usr/lib/$ARCH/libsqlite3.so.0" "$DIR/lib/"
  [[ -d /usr/include/SQLiteCpp ]] || return 0
  cp -r /usr/include/SQLiteCpp "$DIR/include/"
  cp -L "/usr/lib/$ARCH"/libSQLiteCpp.* "$DIR/lib/"
}

pack_pkg_config() {
  mkdir -p "$DIR/fallback/pkg-config/bin" "$DIR/fallback/pkg-config/lib"
  cp -L "$(command -v pkg-config)" "$DIR/fallback/pkg-config/bin/pkg-config"
  local library
  ldd "$(command -v pkg-config)" | awk '/libpkgconf/ { print $3 }' | while read -r library; do
    cp -L "$library" "$DIR/fallback/pkg-config/lib/"
  done
}

pack_hwloc() {
  pack_prefix hwloc libhwloc-dev
  cp -L "/usr/lib/$ARCH/libhwloc.so.15" "$DIR/fallback/hwloc/lib/$ARCH/libhwloc.so.15"
  mkdir -p "$DIR/fallback/udev/lib"
  cp -L "/usr/lib/$ARCH/libudev.so.1" "$DIR/fallback/udev/lib/"
}

pack_cuda_parts() {
  local cuda=${CUDA_HOME:-/usr/local/cuda}
  [[ -f $cuda/include/nccl.h ]] || return 0
  mkdir -p "$DIR/fallback/nccl/include" "$DIR/fallback/cudart/lib"
  cp -L "$cuda/include/nccl.h" "$DIR/fallback/nccl/include/"
  cp -L "$cuda"/lib64/libcudart.so* "$DIR/fallback/cudart/lib/"
}

main() {
  rm -rf "$DIR"
  pack_known_missing
  pack_pkg_config
  pack_hwloc
  pack_prefix gtest libgtest-dev libgmock-dev
  pack_prefix fmt libfmt-dev libfmt9
  pack_prefix cli11 libcli11-dev
  pack_prefix json nlohmann-json3-dev
  pack_cuda_parts
  local kib
  kib=$(du -sk "$DIR" | cut -f1)
  printf '%s: %d KiB\n' "$DIR" "$kib"
  ((kib <= LIMIT_KIB)) || { printf 'that is more than the %d KiB allowed\n' "$LIMIT_KIB" >&2; exit 1; }
}

main
