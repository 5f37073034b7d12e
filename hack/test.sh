#!/usr/bin/env bash
# Everything that `make test` runs after `make check`. The embedded cluster's own tests have the machine to themselves; then
# two lanes side by side, since whole clusters mostly wait for Pods.
# Each stage's output is shown when it ends; every stage runs, then the verdict.
set -uo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

lane() { # stages...: one after the other
  local stage began
  for stage in "$@"; do
    began=$SECONDS
    # A temporary root of its own: pytest's common one is swept by whoever comes next.
    if .venv/bin/python -m pytest "tests/$stage" -q ${workers[$stage]:-} --basetemp "$work/$stage" >"$work/$stage.log" 2>&1
    then echo ok >"$work/$stage.rc"; else echo failed >"$work/$stage.rc"; fi
    { flock 8; echo "=== $stage $(cat "$work/$stage.rc") after $((SECONDS - began)) s"; cat "$work/$stage.log"; } 8>"$work/lock"
  done
}
declare -A workers=([unit]="-n 2")
lane devcluster
lane e2e &
lane unit integration &
wait
failed=$(grep -l failed "$work"/*.rc | xargs -rn1 basename | sed 's/\.rc$//' | tr '\n' ' ')
[ -z "$failed" ] || { echo "test: failed: $failed" >&2; exit 1; }
echo "test: all passed after $SECONDS s"
