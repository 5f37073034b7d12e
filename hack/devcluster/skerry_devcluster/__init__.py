"""A real single-node Kubernetes for demo and tests, in namespaces of its own."""
