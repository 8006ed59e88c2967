#!/usr/bin/env bash
# Installs what a build, a test run or a benchmark needs: Debian packages by name, only those
# missing. V8 is unpacked into build/deps/node, because Debian's libnode cannot be installed beside
# another Node.js. Usage: scripts/deps.sh [build|test|bench|fuzz|package|rocksdb]   (each includes build)
set -euo pipefail
cd "$(dirname "$0")/.."
level="${1:-test}"

packages=(g++ cmake ninja-build ccache mold pkg-config
  librocksdb-dev libboost1.81-dev libsimdjson-dev libyaml-cpp-dev libcli11-dev
  libfmt-dev libssl-dev libargon2-dev libcurl4-openssl-dev libre2-dev libicu-dev libhowardhinnant-date-dev tzdata libhttp-parser-dev liburing-dev libedit-dev liblua5.4-dev libjemalloc-dev
  libsnappy-dev zlib1g-dev libbz2-dev liblz4-dev libzstd-dev libgtest-dev libgmock-dev
  libicu72 libuv1 libnghttp2-14 libc-ares2 libbrotli1)
case "$level" in
  build) ;;
  test) packages+=(clang-19 libclang-rt-19-dev llvm-19 clang-format python3 curl openssl dpkg-dev file debootstrap) ;;
  bench) packages+=(python3 curl wrk nginx-light libsqlite3-dev) ;;
  fuzz) packages+=(clang-19 libclang-rt-19-dev llvm-19) ;;
  package) packages+=(dpkg-dev file) ;;
  rocksdb) packages+=(dpkg-dev) ;;
  *) echo "deps.sh: expected build, test, bench, fuzz, package or rocksdb, got '$level'" >&2; exit 2 ;;
esac

run_as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "deps: '$*' needs root, and there is no sudo" >&2
    exit 1
  fi
}

apt_updated=no
apt_update_once() {
  [ "$apt_updated" = yes ] && return
  echo "deps: refreshing the package lists"
  run_as_root apt-get update -qq
  apt_updated=yes
}

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  echo "deps: installing ${missing[*]}"
  apt_update_once
  run_as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

node_prefix=build/deps/node
if [ ! -e "$node_prefix/unpacked" ]; then
  echo "deps: unpacking V8 (Debian's libnode) into $node_prefix"
  rm -rf "$node_prefix"
  mkdir -p "$node_prefix/debs"
  download_v8() { (cd "$node_prefix/debs" && apt-get download -qq libnode-dev libnode108); }
  # Lists that are too old, or none, make the first try fail.
  download_v8 2>/dev/null || { apt_update_once; download_v8; }
  for deb in "$node_prefix"/debs/*.deb; do dpkg -x "$deb" "$node_prefix"; done
  rm -rf "$node_prefix/debs"
  touch "$node_prefix/unpacked"
fi

# Tests with packages of npm: what checks the OpenAPI document, and Couchbase's own client. Without
# npm, or out of its reach, these tests are skipped.
npm_packages() {
  local prefix="build/deps/$1" packages=("${@:2}")
  [ -e "$prefix/installed" ] && return
  mkdir -p "$prefix"
  echo '{"private": true}' > "$prefix/package.json"
  if command -v npm >/dev/null &&
    npm install --prefix "$prefix" --no-audit --no-fund --ignore-scripts --silent "${packages[@]}"; then
    touch "$prefix/installed"
  else
    echo "deps: npm could not install ${packages[*]}: the test that needs them will be skipped" >&2
  fi
}
if [ "$level" = test ]; then
  npm_packages openapi @seriousme/openapi-schema-validator@2.11.0 openapi-typescript@7.13.0 \
    typescript@5.9.3
  npm_packages couchbase couchbase@4.7.1
fi
