#!/usr/bin/env bash
# Resolves requirements/*.txt from pyproject.toml: exact versions with hashes, no index line, no host names.
set -euo pipefail
cd "$(dirname "$0")/.."
tool="${XDG_CACHE_HOME:-$HOME/.cache}/skerry/uv-0.13.9"
[ -x "$tool/bin/uv" ] || { python3 -m venv "$tool" && "$tool/bin/pip" install -q uv==0.13.9; }
compile() { # name of the lock, extra, further arguments
  local lock=$1 extra=$2; shift 2
  "$tool/bin/uv" pip compile pyproject.toml --extra "$extra" --generate-hashes --no-emit-index-url --no-header \
    --no-annotate --no-emit-package skerry --python-version 3.11 -q -o "requirements/$lock.txt" "$@"
}
compile dev dev
pins=$(mktemp); trap 'rm -f "$pins"' EXIT
grep -E '^[a-z0-9].*==' requirements/dev.txt | tr -d '\\' >"$pins"
for extra in operator runner sandboxd; do compile "$extra" "$extra" -c "$pins"; done
# The runner with every provider of models.
compile runner-providers runner --extra anthropic --extra google -c "$pins"
