"""DanglingToolCall: every tool call in a request has its result right behind it, and every call has an id of its own.

Requests are rebuilt for one call of the model and never written back; of an answer only the newest message is mended,
before anything runs.
"""

from __future__ import annotations

from skerry_runner.middleware.danglingtoolcall.mend import mended
from skerry_runner.middleware.danglingtoolcall.pairing import paired
from skerry_runner.middleware.danglingtoolcall.row import DanglingToolCall

__all__ = ["DanglingToolCall", "mended", "paired"]
