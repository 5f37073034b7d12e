"""The work queue: keys to reconcile, when, and by how many workers."""
