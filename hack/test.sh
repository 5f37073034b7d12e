#!/usr/bin/env bash
# test.sh STAGE: one stage of the tests. test.sh: all of them, which is what `make test` runs after `make check`.
# Two lanes side by side, since clusters mostly wait; within a lane one stage after the other. Every stage runs, its output
# is shown when it ends, then comes the verdict.
set -uo pipefail
cd "$(dirname "$0")/.."

# How pytest is called for each stage.
declare -A options=(
  [unit]="-n 2"
  [integration]=""
  [devcluster]="-n 2 --dist loadfile"  # the tests of a file may share a cluster
  # Side by side on one cluster; small chunks, so that those marked `alone` really come last.
  [e2e]="-n 4 --maxschedchunk 1"
  # On demand only: it compiles a model's server first.
  [llm]=""
)
# A stage that both lanes share: its parts.
declare -A parts=(
  [integration-op]="tests/integration/op"
  [integration-rest]="tests/integration --ignore=tests/integration/op"
)
run() { # STAGE or part of one, more options of pytest...
  # shellcheck disable=SC2086 # options are words
  .venv/bin/python -m pytest ${parts[$1]:-tests/$1} -q ${options[${1%%-*}]} "${@:2}"
}
if [ $# -gt 0 ]; then
  [[ -v "options[$1]" ]] || { echo "test.sh: no stage $1; there are: ${!options[*]}" >&2; exit 2; }
  run "$@"
  exit
fi

# On a fresh machine: compiling beside the tests would starve them of both cores.
hack/skerry-dev build >/dev/null || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lane() { # stages...: one after the other
  local stage began
  for stage in "$@"; do
    began=$SECONDS
    # A temporary root of its own: pytest's common one is swept by whoever comes next.
    if run "$stage" --basetemp "$work/$stage" >"$work/$stage.log" 2>&1
    then echo ok >"$work/$stage.rc"; else echo failed >"$work/$stage.rc"; fi
    { flock 8; echo "=== $stage $(cat "$work/$stage.rc") after $((SECONDS - began)) s"; cat "$work/$stage.log"; } 8>"$work/lock"
  done
}
lane devcluster e2e integration-op &
lane unit integration-rest &
wait
failed=$(grep -l failed "$work"/*.rc | xargs -rn1 basename | sed 's/\.rc$//' | tr '\n' ' ')
[ -z "$failed" ] || { echo "test: failed: $failed" >&2; exit 1; }
echo "test: all passed after $SECONDS s"
