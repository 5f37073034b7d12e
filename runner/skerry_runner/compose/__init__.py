"""One middleware out of many rows: LangChain sees a single `Pipeline`, rows keep LangChain's hook names.

Separate middlewares cost a graph step and a checkpoint for each node hook; fused rows cost a function call.
"""

from __future__ import annotations

from skerry_runner.compose.pipeline import Pipeline, compose
from skerry_runner.compose.rows import PipelineError, RowFault

__all__ = ["Pipeline", "PipelineError", "RowFault", "compose"]
