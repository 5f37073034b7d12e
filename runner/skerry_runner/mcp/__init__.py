"""Tools of MCP servers: over HTTP from the runner, or over a process in the sandbox. Imported only where there are any."""
