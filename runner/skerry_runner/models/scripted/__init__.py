"""The scripted model: plays a script of messages and tool calls (docs/reference/scripted-model.md)."""
