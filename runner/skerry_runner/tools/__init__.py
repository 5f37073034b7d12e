"""The agent's tools. They reach files and commands through the Sandbox interface only."""
