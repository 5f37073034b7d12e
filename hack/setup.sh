#!/usr/bin/env bash
# Makes .venv from the lock file, or brings it up to date; as root on Debian it installs what Python itself lacks.
set -euo pipefail
cd "$(dirname "$0")/.."
# Two at once (make check beside make test) take turns.
exec 9>.venv.lock
flock 9
want=$(cat requirements/dev.txt hack/setup.sh <(sed -n '/^\[project.scripts\]/,/^\[tool.pytest/p' pyproject.toml) | sha256sum | cut -c1-32)
[ "$(cat .venv/.stamp 2>/dev/null || true)" = "$want" ] && { touch .venv/.stamp; exit 0; }

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null || continue
    "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (4, 0))' 2>/dev/null && { echo "$candidate"; return; }
  done
}
# Installed packages are kept outside the checkout, by what they are: to copy them takes seconds, to install them a minute.
store="${XDG_CACHE_HOME:-$HOME/.cache}/skerry/venvs"
cached() { # python: where its packages of this lock file are kept
  echo "$store/$({ cat requirements/dev.txt hack/setup.sh; "$1" -c 'import sys; print(sys.executable, sys.version)'; } | sha256sum | cut -c1-32)"
}
# from, to, place: a copy of a .venv, whose programs name its place. Chained: `if` and `&&` turn `set -e` off.
move() {
  rm -rf "$2" && cp -a --reflink=auto "$1" "$2" \
    && { grep -rlIZF "$(cat "$1/.place")" "$2/bin" "$2/pyvenv.cfg" | xargs -0r sed -i "s|$(cat "$1/.place")|$3|g"; } \
    && echo "$3" >"$2/.place"
}
take() { touch "$1" && move "$1" .venv.new "$PWD/.venv" && mv -T .venv.new .venv; }
put() { # whole or not at all; whoever comes second leaves it to the first
  local new="$1.$$"
  echo "$PWD/.venv" >.venv/.place
  if mkdir -p "$store" && move .venv "$new" "$1" && mv -T "$new" "$1" 2>/dev/null; then
    find "$store" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
  else
    rm -rf "$new"
  fi
}
keep=""
if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
  python=$(find_python)
  if [ -z "$python" ] || ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      echo "setup: installing python3 and python3-venv from Debian"
      apt-get update -qq
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null
      python=$(find_python)
    fi
  fi
  [ -n "$python" ] || { echo "setup: needs Python 3.11 or newer with venv (Debian: python3 python3-venv)" >&2; exit 1; }
  rm -rf .venv
  made=$(cached "$python")
  if [ -d "$made" ]; then
    echo "setup: making .venv from another checkout's packages"
    take "$made"
  else
    echo "setup: making .venv (about a minute the first time)"
    "$python" -m venv .venv
    keep=$made
  fi
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m pip install -q --require-hashes -r requirements/dev.txt
[ -z "$keep" ] || put "$keep"
.venv/bin/python -m pip install -q --no-deps --no-build-isolation --no-index -e .
echo "$want" >.venv/.stamp
echo "setup: done; .venv/bin/skerry is there"
