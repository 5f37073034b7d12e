"""Builds the operator, runner and sandbox images with buildah: no Docker, no registry, no network inside the build."""
