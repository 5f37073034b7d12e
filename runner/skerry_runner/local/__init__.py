"""A run on this machine: the same core as in a cluster, with files for objects and a directory for a sandbox."""
