"""view_image: only what is an image, by its name and by its bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from skerry_runner.images import sniffed, type_by_name
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.view_image import checked_image, view_image
from skerry_testing.fakesandbox import FakeSandbox

CallTool = Callable[..., Awaitable[tuple[str, str]]]
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
FILE = "/mnt/user-data/outputs/a.png"


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PNG, "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a", "image/gif"), (b"GIF87a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8", "image/webp"), (b"RIFF\0\0\0\0WAVE", None), (b"<svg/>", None), (b"", None),
        (b"\x89PNG", None),
    ],
)  # fmt: skip
def test_what_bytes_show(data: bytes, mime: str | None) -> None:
    assert sniffed(data) == mime


@pytest.mark.parametrize(
    ("path", "mime"),
    [
        ("/a.JPG", "image/jpeg"),
        ("/a.jpeg", "image/jpeg"),
        ("/a.webp", "image/webp"),
        ("/a.svg", None),
        ("/png", None),
    ],
)
def test_what_names_promise(path: str, mime: str | None) -> None:
    assert type_by_name(path) == mime


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (PNG + b"x" * 100, "more than 50 bytes"),
        (b"GIF89a", "holds image/gif"),
        (b"<svg/>", "holds no image"),
    ],
)
def test_what_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ToolFailure, match=message):
        checked_image("a.png", "image/png", data, 50)


@pytest.mark.parametrize("folder", ["workspace", "uploads", "outputs"])
async def test_an_image_is_looked_at(fake: FakeSandbox, call_fake: CallTool, folder: str) -> None:
    path = f"/mnt/user-data/{folder}/a.png"
    fake.files[path] = PNG
    assert await call_fake("view_image", image_path=path) == ("success", f"OK: {path} (image/png, 14 bytes)")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/mnt/user-data/a.png", "is in none of"),
        ("/mnt/user-data/outputs/../a.png", "is in none of"),
        ("/etc/a.png", "outside"),
        ("/mnt/skills/pdf/a.png", "is in none of"),
        ("a.svg", "is no image by its name; known: .jpg, .jpeg, .png, .webp, .gif"),
        ("none.png", "/mnt/user-data/workspace/none.png"),
        ("text.png", "holds no image"),
        (5, "valid string"),
    ],
)
async def test_what_can_not_be_looked_at(call_tool: CallTool, path: object, message: str) -> None:
    await call_tool("write_file", path="text.png", content="hello")
    status, text = await call_tool("view_image", image_path=path)
    assert (status, message in text) == ("error", True), text


async def test_the_size_is_bounded(fake: FakeSandbox, call_fake: CallTool) -> None:
    fake.files[FILE] = PNG + b"x" * (20 * 1024 * 1024)
    status, text = await call_fake("view_image", image_path=FILE)
    assert (status, "more than 20971520 bytes" in text) == ("error", True)


def test_the_model_is_told_the_folders_where_it_may_look() -> None:
    said = view_image.args["image_path"]["description"]
    assert (
        said
        == "Its path, below one of /mnt/user-data/workspace, /mnt/user-data/uploads, /mnt/user-data/outputs."
    )
