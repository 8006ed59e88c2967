#!/usr/bin/env bash
# Runs every libFuzzer program of a build tree for some seconds each, starting from the seeds in
# tests/corpus/. New inputs go to BUILD/corpus/TARGET, crashes to BUILD/crashes/.
# Usage: scripts/fuzz.sh BUILD SECONDS
set -euo pipefail
build="$(realpath "$1")"
seconds="$2"
cd "$(dirname "$0")/.."
mkdir -p "$build/crashes"
count=0
for program in "$build"/*_fuzz; do
  [ -x "$program" ] || continue
  target="$(basename "$program")"
  mkdir -p "$build/corpus/$target"
  echo "fuzz: $target for $seconds s"
  if ! "$program" -max_total_time="$seconds" -print_final_stats=1 -verbosity=0 -rss_limit_mb=4096 \
      -timeout=25 -artifact_prefix="$build/crashes/$target-" \
      "$build/corpus/$target" "tests/corpus/$target" >"$build/$target.log" 2>&1; then
    tail -60 "$build/$target.log"
    echo "fuzz: $target failed; the input is in $build/crashes"
    exit 1
  fi
  grep -E 'number_of_executed_units|new_units_added' "$build/$target.log" | sed 's/^/  /'
  count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "fuzz: no fuzz programs in $build" >&2; exit 1; }
echo "fuzz: $count targets ran without a finding"
