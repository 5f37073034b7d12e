"""Generator of everything that is derived from the API models."""
