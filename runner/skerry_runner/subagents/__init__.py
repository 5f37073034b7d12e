"""Subagents: agents that the lead hands a piece of work to with `task`; each a bounded run of its own in the same process."""
