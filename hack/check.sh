#!/usr/bin/env bash
# Lint, types, import contracts, generated files. All run, then the verdict: one look shows everything.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=()
step() { # name, command...
  local name=$1 log; shift
  log=$("$@" 2>&1) && echo "check: $name ok" || { echo "check: $name FAILED"; printf '%s\n' "$log"; failed+=("$name"); }
}
step format .venv/bin/ruff format --check -q .
step lint .venv/bin/ruff check -q .
step types .venv/bin/mypy
step contracts .venv/bin/lint-imports
step generated hack/gen.sh --check
step layout .venv/bin/python -m pytest -q -p no:cacheprovider tests/unit/test_layout.py
[ ${#failed[@]} = 0 ] || { echo "check: failed: ${failed[*]}" >&2; exit 1; }
