"""How long a provider asks to wait."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from skerry_runner.llm.retryafter import asked_wait

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": " 20 "}, 20.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Fri, 08 May 2026 12:01:00 GMT"}, 60.0),
        ({"retry-after": "Fri, 08 May 2026 14:00:05 +0200"}, 5.0),
        ({"retry-after": "Fri, 08 May 2026 12:00:05 -0000"}, 5.0),
        ({"retry-after": "Thu, 07 May 2026 12:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Fri, 99 May 2026 12:00:00 GMT"}, None),
    ],
)
def test_what_the_headers_say(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers, NOW) == seconds
