"""Helpers of the tests: real second implementations and the way to a real API server."""
