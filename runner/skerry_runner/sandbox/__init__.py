"""Sandboxes as the runner uses them: the Protocol (`types`), its errors, and the implementations."""
