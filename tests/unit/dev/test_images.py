"""Archives made from our own binaries."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

from skerry_devcluster.images import imported_references, write_archive


def test_an_archive_holds_what_its_manifest_says(tmp_path: Path) -> None:
    program = tmp_path / "pause"
    program.write_bytes(b"\x7fELF")
    out = tmp_path / "pause.tar"
    write_archive(out, "localhost:5000/x/pause:1", program, "65535:65535")
    with tarfile.open(out) as tar:
        contents = {name: stream.read() for name in tar.getnames() if (stream := tar.extractfile(name))}
    (entry,) = json.loads(contents["manifest.json"])
    assert entry["RepoTags"] == ["localhost:5000/x/pause:1"]
    config = json.loads(contents[entry["Config"]])
    assert config["config"] == {"Entrypoint": ["/pause"], "User": "65535:65535"}
    (layer,) = entry["Layers"]
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(contents[layer]).hexdigest()}"]
    with tarfile.open(fileobj=io.BytesIO(contents[layer])) as tar:
        (member,) = tar.getmembers()
    assert (member.name, member.mode, member.size) == ("pause", 0o755, 4)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    program = tmp_path / "pause"
    program.write_bytes(b"\x7fELF")
    for name in ("a.tar", "b.tar"):
        write_archive(tmp_path / name, "x:1", program, "1:1")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_references_that_an_import_printed() -> None:
    output = (
        "unpacking localhost:5000/a:1 (sha256:12)...done\n"
        "unpacking localhost/b:1 (sha256:34)...done\nsomething else\n"
    )
    assert imported_references(output) == ["localhost:5000/a:1", "localhost/b:1"]
    assert imported_references("") == []
