#!/usr/bin/env bash
# Makes every generated file; with --check only says which would change.
set -euo pipefail
cd "$(dirname "$0")/.."
for generator in hack/gen_*.py; do
  [ -e "$generator" ] && .venv/bin/python "$generator" "$@"
done
