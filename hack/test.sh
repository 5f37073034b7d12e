#!/usr/bin/env bash
# test.sh STAGE: one stage of the tests. test.sh: `make check` and all of them, which is `make test`.
# Two lanes side by side, since clusters mostly wait; each takes the next stage when it has ended one. A stage's output is
# shown when it ends, then comes the verdict. Every stage runs, except after a check that failed.
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
# A stage that both lanes may share: its parts.
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
# Long ones first, the two with clusters of their own in different places.
printf '%s\n' devcluster check unit e2e integration-rest integration-op >"$work/queue"
next() { # takes the first stage off the queue
  { flock 9; head -n 1 "$work/queue"; sed -i 1d "$work/queue"; } 9>"$work/queue.lock"
}
stage() { # its name
  # A temporary root of its own: pytest's common one is swept by whoever comes next.
  if [ "$1" = check ]; then hack/check.sh; else run "$1" --basetemp "$work/$1"; fi
}
lane() {
  local name began
  while name=$(next) && [ -n "$name" ]; do
    began=$SECONDS
    if stage "$name" >"$work/$name.log" 2>&1; then echo ok >"$work/$name.rc"; else echo failed >"$work/$name.rc"; fi
    [ "$name $(cat "$work/$name.rc")" != "check failed" ] || : >"$work/queue"
    { flock 8; echo "=== $name $(cat "$work/$name.rc") after $((SECONDS - began)) s"; cat "$work/$name.log"; } 8>"$work/lock"
  done
}
lane &
lane &
wait
failed=$(grep -l failed "$work"/*.rc | xargs -rn1 basename | sed 's/\.rc$//' | tr '\n' ' ')
[ -z "$failed" ] || { echo "test: failed: $failed" >&2; exit 1; }
echo "test: all passed after $SECONDS s"
