"""The runner in its Pod: assignment, reports, cancel and sandbox access through the API server. Light to import."""
