"""Settings of TodoList (plan mode)."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["TodoListSettings"]


class TodoListSettings(KubeModel):
    enabled: bool = Field(
        default=False, description="Plan mode: the agent keeps a list of todos with the tool `write_todos`."
    )
