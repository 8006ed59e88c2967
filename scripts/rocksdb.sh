#!/usr/bin/env bash
# Builds RocksDB, optimised and static, from Debian's source package into PREFIX (build/deps/rocksdb
# by default); cmake/dependencies.cmake uses it from the next configure on. Debian's own library has
# assertions on and a software CRC32C, which costs a factor of 1.3 to 2.3.
#
#   scripts/rocksdb.sh [PREFIX]     (JOBS=n: compilers at once; NATIVE=1: for this processor only)
#
# By default the code needs SSE4.2 and PCLMUL (any x86-64 of the last ten years). The machine's apt
# settings stay as they are: the source package comes through a private list of sources, made from
# the machine's own by asking for sources instead of packages. Takes 15 to 45 minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix="$(realpath -m "${1:-build/deps/rocksdb}")"
work="$prefix.build"
jobs="${JOBS:-$(nproc)}"

if [ -e "$prefix/lib/librocksdb.a" ]; then
  echo "rocksdb: $prefix is there already (remove it to build again)"
  exit 0
fi
scripts/deps.sh rocksdb
mkdir -p "$work"

# Every "deb" entry of the machine as "deb-src": one-line files and deb822 files.
private_sources() {
  local to="$1" file
  rm -rf "$to" && mkdir -p "$to"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    sed -nE 's/^[[:space:]]*deb(-src)?[[:space:]]/deb-src /p' "$file" |
      sort -u >"$to/$(basename "$file" .list).list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$to/$(basename "$file")"
  done
}

fetch_source() {
  private_sources "$work/sources"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  local options=(-qq -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$work/sources"
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User="
    -o "Acquire::Languages=none")
  # A third party's repository without sources makes this fail; what counts is whether the package
  # is found.
  apt-get "${options[@]}" update || echo "rocksdb: going on with the sources that answered"
  rm -rf "$work/source" && mkdir "$work/source"
  (cd "$work/source" && apt-get "${options[@]}" source rocksdb)
}

if ! ls "$work"/source/rocksdb-*/CMakeLists.txt >/dev/null 2>&1; then
  echo "rocksdb: fetching Debian's source package"
  fetch_source
fi
source_dir="$(echo "$work"/source/rocksdb-*/)"

if [ "${NATIVE:-0}" = 1 ]; then
  processor=(-DPORTABLE=0)
else
  processor=(-DPORTABLE=1 -DFORCE_SSE42=1)
fi
echo "rocksdb: building $(basename "$source_dir") with $jobs compilers at once"
cmake -S "$source_dir" -B "$work/out" -G Ninja -DCMAKE_BUILD_TYPE=Release "${processor[@]}" \
  -DCMAKE_CXX_FLAGS="-w -include cstdint" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
  -DUSE_RTTI=1 -DFAIL_ON_WARNINGS=0 -DROCKSDB_BUILD_SHARED=0 \
  -DWITH_TESTS=0 -DWITH_ALL_TESTS=0 -DWITH_BENCHMARK_TOOLS=0 -DWITH_TOOLS=0 -DWITH_CORE_TOOLS=0 \
  -DWITH_GFLAGS=0 -DWITH_LIBURING=1 \
  -DWITH_SNAPPY=1 -DWITH_ZLIB=1 -DWITH_BZ2=1 -DWITH_LZ4=1 -DWITH_ZSTD=1 >"$work/configure.log"
nice -n 10 cmake --build "$work/out" --target rocksdb -j "$jobs"

rm -rf "$work/prefix" && mkdir -p "$work/prefix/lib"
cp -r "$source_dir/include" "$work/prefix/include"
cp "$work/out/librocksdb.a" "$work/prefix/lib/"
mkdir -p "$(dirname "$prefix")"
mv -T "$work/prefix" "$prefix"
rm -rf "$work"
echo "rocksdb: $prefix is ready; the next build uses it"
