"""The only part that talks to the API server: a port (Protocol) and what stands behind and around it."""
