"""What a server answers, as the model reads it: texts as they are, everything else as a line of text. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import mimetypes
from collections.abc import Callable
from dataclasses import dataclass

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from skerry_runner.paths import OUTPUTS

__all__ = ["Binary", "parts_of", "render"]


@dataclass(frozen=True)
class Binary:
    """Bytes that are no text: a model can't read them here. `mime` is the server's word."""

    mime: str
    data: bytes

    @property
    def path(self) -> str:
        """Where they are kept for the agent: the same bytes, the same place."""
        suffix = mimetypes.guess_extension(self.mime) or ".bin"
        return f"{OUTPUTS}/mcp/{hashlib.sha256(self.data).hexdigest()[:16]}{suffix}"


def parts_of(result: CallToolResult) -> list[str | Binary]:
    """The parts in order. Structured content counts only where nothing else is said: servers give both."""
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return parts


def _part(block: ContentBlock) -> str | Binary:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return _binary(block.mime_type, block.data)
        case ResourceLink():
            about = f": {block.description}" if block.description else ""
            return f"[resource {block.name} at {block.uri} ({block.mime_type or 'type unknown'}){about}]"
        case EmbeddedResource():
            inner = block.resource
            if isinstance(inner, BlobResourceContents):
                return _binary(inner.mime_type or "application/octet-stream", inner.blob)
            return inner.text


def _binary(mime: str, encoded: str) -> str | Binary:
    try:
        return Binary(mime, base64.b64decode(encoded, validate=True))
    except binascii.Error:
        return f"[{mime}: the server sent data that is no base64]"


def render(parts: list[str | Binary], where: Callable[[Binary], str]) -> str:
    """One text; `where` says what became of bytes."""
    shown = [
        part if isinstance(part, str) else f"[{part.mime}, {len(part.data)} bytes, {where(part)}]"
        for part in parts
    ]
    return "\n".join(shown) or "(no output)"
