"""Logs as JSON lines on stderr; stdout is the journal's."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable
from datetime import UTC, datetime

from typing_extensions import override

from skerry_runner.outcome import Redactor

__all__ = ["JsonFormatter", "configure_logs"]


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the trace if there is one; without secrets."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: set[str] = set()
        self._redact = Redactor()

    def hide(self, secrets: Iterable[str | None]) -> None:
        """From now on these appear in no line, nor do those that were given before."""
        self._secrets |= {secret for secret in secrets if secret}
        self._redact = Redactor(self._secrets)

    def redact(self, text: str) -> str:
        """The text without what is to be hidden."""
        return self._redact(text)

    @override
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redact(record.getMessage()),
        }
        if record.exc_info:
            line["trace"] = self._redact(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def configure_logs(level: int = logging.INFO) -> JsonFormatter:
    """Set the root logger up, once, at the start of the process; what is to be hidden is told to the formatter later."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = JsonFormatter()
    handler.setFormatter(formatter)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # Each request at Info would drown everything else, and names URLs.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    return formatter
