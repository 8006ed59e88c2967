#!/usr/bin/env bash
# Makes the Debian package, installs it in a clean Debian 12 and uses it there: the server as its own user, documents,
# a function, a procedure, a backup, an upgrade, removal. Needs root and debootstrap; exits with 77 (skipped) without.
# Usage: run_deb.sh BUILD_DIRECTORY
set -euo pipefail
build="$(cd "$1" && pwd)"
source_directory="$(cd "$(dirname "$0")/../.." && pwd)"
skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can make a chroot"
command -v debootstrap > /dev/null || skip "there is no debootstrap"
# The mirror that this machine itself installs from.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
  awk '$2 == "bookworm" {print $1; exit}')
[ -n "$mirror" ] || skip "this machine installs nothing from Debian 12"

work=$(mktemp -d "$build/deb_test.XXXXXX")
root="$work/root"
server_pid=
finish() {
  [ -z "$server_pid" ] || kill -9 "$server_pid" 2> /dev/null || true
  umount "$root/proc" 2> /dev/null || true
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $1"; exit 1; }
inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }

echo "-- the package"
(cd "$build" && cpack -B "$work/package" > "$work/cpack.log") || { cat "$work/cpack.log"; fail "cpack"; }
deb=$(ls "$work"/package/*.deb)
dpkg -x "$deb" "$work/contents"
binary="$work/contents/usr/bin/sluice"
file "$binary" | grep -q ', stripped' || fail "the binary is not stripped"
! grep -qF "$source_directory" "$binary" || fail "the binary names the directory that it was built in"
[ -f "$work/contents/etc/sluice.yaml" ] || fail "there is no /etc/sluice.yaml"

echo "-- a clean Debian 12"
debootstrap --variant=minbase bookworm "$root" "$mirror" > "$work/debootstrap.log" 2>&1 || {
  tail -20 "$work/debootstrap.log"; fail "debootstrap"; }
cp /etc/resolv.conf "$root/etc/resolv.conf" 2> /dev/null || true
mkdir -p "$root/etc/apt/apt.conf.d" && cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
# Programs that look at /proc (jemalloc, V8) get one, as on any machine.
mount -t proc proc "$root/proc" || skip "this container can't mount /proc in a chroot"
inside apt-get update -qq

install() { cp "$deb" "$root/sluice.deb" && inside apt-get install -y -qq "$@" /sluice.deb > "$work/apt.log" 2>&1 ||
  { cat "$work/apt.log"; fail "apt-get install"; }; }
# Starts the server as its own user, on free ports, and finds its address and the admin's password.
start() {
  inside runuser -u sluice -- /usr/bin/sluice serve --config /etc/sluice.yaml --http 127.0.0.1:0 \
    --eventing 127.0.0.1:0 --flows 127.0.0.1:0 --print-ports > "$work/ports" 2> "$work/log" &
  for _ in $(seq 600); do grep -q '^{' "$work/ports" && break; sleep 0.05; done
  grep '^{' "$work/ports" > "$work/line" || { cat "$work/log"; fail "the server did not start"; }
  server_pid=$(sed 's/.*"pid":\([0-9]*\).*/\1/' "$work/line")
  url=http://127.0.0.1:$(sed 's/.*"http":\([0-9]*\).*/\1/' "$work/line")
}
stop() { kill "$server_pid"; while kill -0 "$server_pid" 2> /dev/null; do sleep 0.05; done; server_pid=; }
sluice() { inside SLUICE_SERVER="$url" SLUICE_USER=admin SLUICE_PASSWORD="$password" sluice "$@"; }
expect() { [ "$2" = "$1" ] || fail "expected '$1', got '$2'"; }

echo "-- install and use"
install
expect sluice:700 "$(inside stat -c %U:%a /var/lib/sluice)"
start
password=$(cat "$root/var/lib/sluice/first-admin-password")
sluice -q bucket create shop && sluice -q bucket create meta
sluice kv put shop a '{"n":1}' > /dev/null
expect '{"n":1}' "$(sluice kv get shop a)"
mkdir -p "$root/app/functions"
echo 'buckets: {shop: {}, meta: {}, out: {}}' > "$root/app/sluice.yaml"
echo 'function OnUpdate(doc, meta) { out[meta.id] = {twice: doc.n * 2}; }' > "$root/app/functions/twice.js"
printf 'source: shop\nmetadata: meta\nbindings:\n  out: {keyspace: out, access: rw}\n' > "$root/app/functions/twice.yaml"
sluice -q apply /app --yes
for _ in $(seq 600); do [ "$(sluice -q kv get out a 2> /dev/null)" = '{"twice":2}' ] && break; sleep 0.05; done
expect '{"twice":2}' "$(sluice kv get out a)"
expect '[{"n":1}]' "$(sluice sql -q --format json 'SELECT n FROM shop' 2> /dev/null | tr -d ' \n')"
inside install -d -o sluice /var/backups/sluice
sluice -q backup /var/backups/sluice/one > /dev/null
inside sluice -q verify /var/backups/sluice/one
stop

echo "-- upgrade, remove, purge"
echo 'log: {format: text}' >> "$root/etc/sluice.yaml.local"
install --reinstall
start
expect '{"n":1}' "$(sluice kv get shop a)"
stop
inside apt-get remove -y -qq sluice > /dev/null
[ -d "$root/var/lib/sluice/store" ] || fail "remove deleted the data"
[ ! -e "$root/usr/bin/sluice" ] || fail "remove left the binary"
inside apt-get purge -y -qq sluice > /dev/null
[ ! -e "$root/var/lib/sluice" ] && [ ! -e "$root/etc/sluice.yaml" ] || fail "purge left data or settings"
! inside getent passwd sluice > /dev/null || fail "purge left the user"

echo "-- make install below a prefix"
DESTDIR="$root" cmake --install "$build" --prefix /opt/sluice --strip > /dev/null
inside /opt/sluice/bin/sluice version
grep -q 'ExecStart=/opt/sluice/bin/sluice ' "$root/opt/sluice/lib/systemd/system/sluice.service" || fail "the unit names another binary"
echo "1 passed, 0 failed"
