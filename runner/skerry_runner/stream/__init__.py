"""The live stream of a run's events."""
