"""Logs as JSON lines on stderr; stdout is the journal's."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from typing_extensions import override

__all__ = ["JsonFormatter", "configure_logs"]


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the trace if there is one."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure_logs(level: int = logging.INFO) -> None:
    """Set the root logger up, once, at the start of the process."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # Each request at Info would drown everything else, and names URLs.
    logging.getLogger("httpx").setLevel(logging.WARNING)
