"""TodoList: plan mode. The agent keeps a list, is reminded of it when it has left the history, and when it ends too early."""

from __future__ import annotations

from skerry_runner.middleware.todolist.row import TodoList

__all__ = ["TodoList"]
