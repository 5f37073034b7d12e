"""JSON logs on standard output, one line per event; the standard library's loggers go the same way."""

from __future__ import annotations

import logging
import sys
from typing import Literal, TextIO

import structlog

__all__ = ["Level", "configure_logs"]

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
_QUIET = ("aiohttp.access", "httpx", "httpcore", "asyncio")
"""Libraries that tell at Info what is no transition."""


def configure_logs(level: Level, stream: TextIO | None = None) -> None:
    """Once per process, before the first line."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.EventRenamer("message", "_event"),
                structlog.processors.JSONRenderer(default=str),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # kopf says for each object what it does with it; we do that ourselves, on transitions only.
    logging.getLogger("kopf").setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)  # that it has no signals is meant
